import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from '../harness/command.js';
import { projectRoot } from '../harness/configurations.js';
import { oldClient } from './with-mcp.js';

/** The commands of the section of docs/mcp.md, in order: each one line, without its remark. */
export function commandsOf(heading: string): readonly string[] {
  const page = readFileSync(join(projectRoot, 'docs/mcp.md'), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks
    .join('')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** The words of a command, as a shell takes them; the page uses no quotes but single ones. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

function after(words: readonly string[], option: string): readonly string[] {
  return words.flatMap((word, at) => (words[at - 1] === option ? [word] : []));
}

/** What shows the answer to `--method`, as the inspector takes its arguments; returns what it prints. */
export type Inspector = (url: string, words: readonly string[]) => Promise<string>;

/** The SDK’s client in the place of the inspector: a session for each command, and only what is listed is called. */
export const sdkInspector: Inspector = async (url, words) => {
  const client = await oldClient(url);
  try {
    const listed = await client.listTools();
    const [method] = after(words, '--method');
    if (method === 'tools/list') return JSON.stringify(listed);
    const [name = ''] = after(words, '--tool-name');
    if (!listed.tools.some((tool) => tool.name === name)) return `${name} is not listed.`;
    const args = Object.fromEntries(after(words, '--tool-arg').map((pair) => pair.split('=', 2)));
    return JSON.stringify(await client.callTool({ name, arguments: args as Record<string, unknown> }));
  } finally {
    await client.close();
  }
};

/**
 * The inspector that is installed in a folder. It ends with an error after a result that says isError, and prints
 * that first.
 */
export function installedInspector(folder: string): Inspector {
  const at = join(folder, 'node_modules/@modelcontextprotocol/inspector');
  const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  const program = join(at, bin['mcp-inspector'] ?? '');
  return (url, words) =>
    new Promise((resolve, reject) => {
      const args = words.map((word) => (word.startsWith('http://') ? url : word));
      execFile(process.execPath, [program, ...args], { maxBuffer: 33_554_432 }, (error, stdout, stderr) => {
        if (stdout === '') reject(new Error(stderr, { cause: error }));
        else resolve(stdout);
      });
    });
}

export interface Walker {
  readonly url: string;
  readonly inspector: Inspector;
  readonly variables: Readonly<Record<string, string>>;
  /** What stands on the page for something that only the walk knows, and what it is. */
  readonly placeholders: (output: string) => Readonly<Record<string, string>>;
  /** Called behind each command: a reader of the page is slower than a service that takes up a new configuration. */
  readonly settle: (output: string) => Promise<unknown>;
}

/** Walks the commands and returns what each printed. */
export async function walk(
  lines: readonly string[],
  { url, inspector, variables, placeholders, settle }: Walker,
): Promise<ReadonlyMap<string, string>> {
  const printed = new Map<string, string>();
  const known: Record<string, string> = {};
  let inspect: readonly string[] = [];
  for (const line of lines) {
    const [, prefix] = /^INSPECT="npx @modelcontextprotocol\/inspector (.*)"$/.exec(line) ?? [];
    if (prefix !== undefined) {
      inspect = wordsOf(prefix);
      continue;
    }
    const [first = '', second, ...rest] = wordsOf(line).map((word) => known[word] ?? word);
    const output = await outputOf(line, first, [second ?? '', ...rest]);
    Object.assign(known, placeholders(output));
    printed.set(line, output);
    await settle(output);
  }
  return printed;

  async function outputOf(line: string, first: string, words: readonly string[]): Promise<string> {
    if (first === '$INSPECT') return inspector(url, [...inspect, ...words]);
    if (first === 'curl') {
      const headers = after(words, '-H').map((header) => header.split(': ', 2) as [string, string]);
      const response = await fetch(url, { method: 'POST', headers, body: after(words, '-d').join('') });
      return response.text();
    }
    if (first !== 'npx' || words[0] !== 'sluice') throw new Error(`The page has a command of another kind: ${line}`);
    const { code, output, errors } = await command(words.slice(1), variables);
    if (code !== 0) throw new Error(`${line} ended with code ${code}: ${errors}`);
    return output;
  }
}
