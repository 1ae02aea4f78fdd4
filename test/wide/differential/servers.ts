import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that are installed in a folder of the cache, and what starts their servers. */
export const npmPackages = [
  '@modelcontextprotocol/server-everything@2026.8.31',
  '@modelcontextprotocol/server-filesystem@2026.8.31',
  '@modelcontextprotocol/server-memory@2026.8.31',
  '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
  '@playwright/mcp@0.0.83',
];
export const pythonPackages = ['mcp-server-git==2026.10.19', 'mcp==2.3.0'];

/** Where the programs are, and a page to look at. */
export interface Places {
  /** The folder of the programs that npm installed. */
  readonly bin: string;
  /** What starts a Python that has the packages. */
  readonly python: readonly string[];
  readonly chromium: string;
  /** The address of the page. */
  readonly page: string;
}

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

export interface Compared {
  /** The command for a folder of its own: a server that writes is to find the same on both ways. */
  command(places: Places, folder: string): readonly string[];
  /** What stands in the folder before. */
  prepare?(folder: string): void;
  /** Calls in their order; each tool at least once. */
  calls(folder: string, page: string): readonly Call[];
  readonly prompts?: readonly (readonly [name: string, args: Readonly<Record<string, string>>])[];
  /** Addresses that are read beside those that are listed. */
  readonly resources?: readonly string[];
}

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function files(folder: string): void {
  mkdirSync(join(folder, 'more'), { recursive: true });
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(folder, 'b.txt'), 'zwölf Boxkämpfer 🥊\n');
  writeFileSync(join(folder, 'long.txt'), 'A line of a long text.\n'.repeat(5_000));
  writeFileSync(join(folder, 'more', 'dot.png'), Buffer.from(picture, 'base64'));
}

function repository(folder: string): void {
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], { cwd: folder, stdio: 'ignore' });
  };
  git('init');
  git('config', 'user.name', 'A colleague');
  git('config', 'user.email', 'colleague@example.com');
  writeFileSync(join(folder, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-m', 'Begin');
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
}

const entities = [
  { name: 'Ada', entityType: 'person', observations: ['writes programs'] },
  { name: 'Engine', entityType: 'machine', observations: ['computes'] },
];
const relation = { from: 'Ada', to: 'Engine', relationType: 'programs' };

export const servers: Readonly<Record<string, Compared>> = {
  everything: {
    command: ({ bin }) => [join(bin, 'mcp-server-everything')],
    calls: () => [
      ['echo', { message: 'Grüße 🥊' }],
      ...['error', 'success', 'debug'].map((messageType): Call => [
        'get-annotated-message',
        { messageType, includeImage: true },
      ]),
      ['get-env', {}],
      ['get-resource-links', { count: 3 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-sum', { a: 'two', b: 3 }],
      ['get-tiny-image', {}],
      ['gzip-file-as-resource', { name: 'a.txt.gz', data: 'data:text/plain,one', outputType: 'resource' }],
      ['gzip-file-as-resource', { name: 'b.txt.gz', data: 'data:text/plain,one', outputType: 'resourceLink' }],
      ['toggle-simulated-logging', {}],
      ['toggle-simulated-logging', {}],
      ['toggle-subscriber-updates', {}],
      ['toggle-subscriber-updates', {}],
      ['trigger-long-running-operation', { duration: 1, steps: 2 }],
      ['simulate-research-query', { topic: 'tea' }],
    ],
    prompts: [
      ['simple-prompt', {}],
      ['args-prompt', { city: 'Oslo', state: 'rainy' }],
      ['completable-prompt', { department: 'Sales', name: 'David' }],
      ['resource-prompt', { resourceType: 'Text', resourceId: '1' }],
    ],
    resources: ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/blob/1'],
  },
  files: {
    command: ({ bin }, folder) => [join(bin, 'mcp-server-filesystem'), folder],
    prepare: files,
    calls: (folder) => {
      const at = (name: string): string => join(folder, name);
      return [
        ['list_allowed_directories', {}],
        ['read_file', { path: at('a.txt') }],
        ['read_text_file', { path: at('b.txt') }],
        ['read_text_file', { path: at('long.txt') }],
        ['read_text_file', { path: at('a.txt'), head: 1 }],
        ['read_text_file', { path: at('none.txt') }],
        ['read_text_file', { path: '/etc/hostname' }],
        ['read_media_file', { path: at('more/dot.png') }],
        ['read_multiple_files', { paths: [at('a.txt'), at('none.txt')] }],
        ['write_file', { path: at('c.txt'), content: 'new\n' }],
        ['edit_file', { path: at('a.txt'), edits: [{ oldText: 'two', newText: '2' }] }],
        ['create_directory', { path: at('made') }],
        ['list_directory', { path: folder }],
        ['list_directory_with_sizes', { path: folder }],
        ['directory_tree', { path: folder }],
        ['move_file', { source: at('c.txt'), destination: at('made/c.txt') }],
        ['search_files', { path: folder, pattern: '**/*.txt' }],
        ['get_file_info', { path: at('b.txt') }],
      ];
    },
  },
  memory: {
    command: ({ bin }, folder) => [
      'env',
      `MEMORY_FILE_PATH=${join(folder, 'memory.jsonl')}`,
      join(bin, 'mcp-server-memory'),
    ],
    calls: () => [
      ['create_entities', { entities }],
      ['create_relations', { relations: [relation] }],
      ['add_observations', { observations: [{ entityName: 'Ada', contents: ['lives in London'] }] }],
      ['add_observations', { observations: [{ entityName: 'Nemo', contents: ['is unknown'] }] }],
      ['read_graph', {}],
      ['search_nodes', { query: 'programs' }],
      ['open_nodes', { names: ['Ada'] }],
      ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['lives in London'] }] }],
      ['delete_relations', { relations: [relation] }],
      ['delete_entities', { entityNames: ['Engine'] }],
      ['read_graph', {}],
    ],
  },
  thinking: {
    command: ({ bin }) => [join(bin, 'mcp-server-sequential-thinking')],
    calls: () => [
      ['sequentialthinking', { thought: 'First', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'Then', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 }],
    ],
  },
  git: {
    command: ({ python }) => [...python, '-m', 'mcp_server_git'],
    prepare: repository,
    calls: (folder) => {
      const of = { repo_path: folder };
      return [
        ['git_status', of],
        ['git_diff_unstaged', of],
        ['git_add', { ...of, files: ['a.txt'] }],
        ['git_diff_staged', of],
        ['git_commit', { ...of, message: 'Add two' }],
        ['git_log', of],
        ['git_show', { ...of, revision: 'HEAD' }],
        ['git_show', { ...of, revision: 'no-such' }],
        ['git_create_branch', { ...of, branch_name: 'side' }],
        ['git_checkout', { ...of, branch_name: 'side' }],
        ['git_branch', { ...of, branch_type: 'local' }],
        ['git_diff', { ...of, target: 'HEAD~1' }],
        ['git_reset', of],
      ];
    },
  },
  browser: {
    command: ({ bin, chromium }, folder) => [
      join(bin, 'playwright-mcp'),
      ...['--headless', '--isolated', '--no-sandbox', '--executable-path', chromium, '--output-dir', folder],
    ],
    prepare: files,
    calls: (folder, page) => [
      ['browser_navigate', { url: page }],
      ['browser_snapshot', {}],
      ['browser_resize', { width: 800, height: 600 }],
      ['browser_find', { text: 'Order' }],
      ['browser_type', { target: '#name', text: 'Ada', element: 'the name' }],
      ['browser_fill_form', { fields: [{ name: 'name', element: 'the name', target: '#name', type: 'textbox', value: 'Eve' }] }], // prettier-ignore
      ['browser_select_option', { target: '#size', values: ['large'], element: 'the size' }],
      ['browser_hover', { target: '#order', element: 'Order' }],
      ['browser_click', { target: '#order', element: 'Order' }],
      ['browser_press_key', { key: 'Tab' }],
      ['browser_drag', { startElement: 'name', startTarget: '#name', endElement: 'size', endTarget: '#size' }],
      ['browser_drop', { target: '#name', element: 'the name', data: { 'text/plain': 'dropped' } }],
      ['browser_evaluate', { function: '() => document.title' }],
      ['browser_run_code_unsafe', { code: 'async (page) => page.title()' }],
      ['browser_console_messages', { level: 'info' }],
      ['browser_emulate_media', { colorScheme: 'dark' }],
      ['browser_network_requests', { static: true }],
      ['browser_network_request', { index: 1 }],
      ['browser_take_screenshot', { type: 'png', scale: 'css' }],
      ['browser_file_upload', { paths: [join(folder, 'a.txt')] }],
      ['browser_handle_dialog', { accept: true }],
      ['browser_wait_for', { text: 'Order' }],
      ['browser_tabs', { action: 'list' }],
      ['browser_navigate', { url: `${page}second` }],
      ['browser_navigate_back', {}],
      ['browser_close', {}],
    ],
  },
};
