import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  compileEvaluator,
  documentedTools,
  exampleIn,
  sampleOf,
  toolDocs,
  toolIndex,
  toolPage,
  ToolUserError,
} from '@sluice/core';
import { builtInTools, openFolderWorkspaces, withPages } from '@sluice/packs';
import { TokenCounter } from '@sluice/tokens';
import { builtInConfiguration } from '../apps/sluice/src/system/built-in-tools.js';
import { run } from '../apps/sluice/src/commands/tools.js';
import { inProcess } from './harness/in-process.js';
import type { Environment } from '@sluice/host';

const configuration = builtInConfiguration();
const evaluator = compileEvaluator(configuration);
const everything = { groups: ['*'], toolIds: null, depth: 0 };
const tools = documentedTools(evaluator, everything);
const folders: string[] = [];
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'sluice-pages-')));
  return folders.at(-1) as string;
};
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true });
});

const pageOf = (key: string): string => {
  const tool = tools.find((one) => one.key === key);
  if (tool === undefined) throw new Error(`no ${key}`);
  return toolPage(tool);
};

describe('the pages of tools', () => {
  it('have the document’s structure (D-09, D-10, D-11, D-12, D-13, D-14, XD-2)', () => {
    expect(pageOf('write_file')).toBe(`# write_file

**Category:** workspace

Write a text file of the workspace: makes it, with the directories above it, or replaces all that was in it.

A call takes about 8,000 bytes; write the beginning of a longer text and add the rest with append_file.

**Arguments:**
- \`path\` (str): Path of the file inside the workspace, such as notes/plan.md.
- \`text\` (str): The whole new content of the file.

**Returns:** \`size\`, \`created\`

**Example:**
\`\`\`
write_file(
    path="notes/plan.md",
    text="# Plan\\n"
)
\`\`\`

- Effect: it changes what is kept here. Repeating a call is safe.
- Available in: every state
- Time limit of a call: 30 s
`);
    expect(pageOf('read_file')).toContain(
      '- `limit` (int, optional): How many bytes to read at most, up to 15000. (at least 4; at most 15000; default 15000)',
    );
    expect(pageOf('add_todo')).toContain('(one of "high", "medium", "low"; default "medium")');
  });

  it('have an index by category (D-05, D-07, D-08, D-17, XD-2, D-66)', () => {
    const index = toolIndex(tools);
    expect(index).toMatch(
      /^# Available Tools\n\n## Quick Reference\n\n### Workspace Tools\n- \*\*\[read_file\]\(read_file\.md\)\*\* - Read the content/,
    );
    const headings = [...index.matchAll(/^### (.*) Tools$/gm)].map(([, name]) => name);
    expect(headings.slice(0, 2)).toEqual(['Workspace', 'Todo']);
    expect(headings.at(-1)).toBe('Other');
    expect(index.match(/^- \*\*\[/gm)).toHaveLength(tools.length);
  });

  it('are an index and one a tool (D-06, D-15, D-16)', () => {
    const docs = toolDocs(tools);
    expect(docs.size).toBe(tools.length + 1);
    expect([...toolDocs(tools)]).toEqual([...docs]);
    for (const { key } of tools) expect(docs.get(`${key}.md`)).toMatch(new RegExp(`^# ${key}\n`));
  });

  it.each(builtInTools.map(({ type }) => type))('show a call of %s that its schema takes (D-14)', (type) => {
    const contract = builtInTools.find((one) => one.type === type);
    const { example } = exampleIn(contract?.description ?? '');
    const args = example ?? sampleOf(contract?.inputSchema ?? {});
    expect(contract?.parseInput(args)).toBeDefined();
  });

  it('cover what policy and groups permit, in any state (XB-34, D-18)', () => {
    const some = {
      ...configuration,
      policy: { ...configuration.policy, allowedTools: ['core__read_file', 'core__add_todo'] },
    };
    const named = some.tools.map((tool) => ({
      ...tool,
      states: ['never'],
      groups: tool.category === 'todo' ? ['plan'] : ['files'],
    }));
    const judge = compileEvaluator({ ...some, tools: named });
    const keys = (groups: readonly string[], toolIds: readonly string[] | null = null): readonly string[] =>
      documentedTools(judge, { groups, toolIds, depth: 0 }).map(({ key }) => key);
    expect(keys(['*'])).toEqual(['read_file', 'add_todo']);
    expect(keys(['plan'])).toEqual(['add_todo']);
    expect(keys(['*'], ['core__read_file'])).toEqual(['read_file']);
  });

  it('are in docs/tools as they are written now: run `npm run generate`', () => {
    const docs = toolDocs(tools);
    expect(readdirSync('docs/tools').sort()).toEqual([...docs.keys()].sort());
    for (const [name, text] of docs)
      expect([name, readFileSync(join('docs/tools', name), 'utf8')]).toEqual([name, text]);
  });
});

describe('a short description', () => {
  it.each(builtInTools.map(({ type, shortDescription }) => [type, shortDescription]))(
    'of %s has 20 to 30 tokens or a few less (D-60, D-68): %s',
    async (_type, text) => {
      const { tokens } = await new TokenCounter().count([text], 'gpt-5');
      expect(tokens).toBeGreaterThanOrEqual(12);
      expect(tokens).toBeLessThanOrEqual(32);
    },
  );
});

describe('a workspace with pages', () => {
  const pages = {
    folder: 'tools',
    files: new Map([
      ['README.md', '# Available Tools\n'],
      ['a.md', '# a\n\nDoes ä.\n'],
    ]),
    aliases: new Map([['core__a.md', 'a.md']]),
  };
  const open = () => {
    const workspace = openFolderWorkspaces(folder(), { now: () => Date.now() }, () => undefined).of('s');
    return { workspace, paged: withPages(workspace, pages) };
  };

  it('has them before anything was written, under both names of a tool (D-03, D-04, D-20)', async () => {
    const { paged } = open();
    expect(await paged.list('', 0, 10)).toEqual({
      entries: [{ name: 'tools', kind: 'directory', bytes: 0 }],
      total: 1,
    });
    expect((await paged.list('tools', 0, 10)).entries.map(({ name }) => name)).toEqual(['README.md', 'a.md']);
    for (const path of ['tools/a.md', './tools//a.md', 'tools/core__a.md'])
      expect((await paged.read(path, 0, 100)).text).toBe('# a\n\nDoes ä.\n');
    expect(await paged.kindOf('tools')).toBe('directory');
    expect(await paged.kindOf('tools/a.md')).toBe('file');
    expect(await paged.kindOf('tools/b.md')).toBeNull();
    expect(await paged.usage()).toMatchObject({ files: 2, directories: 1 });
  });

  it('reads them in parts of whole characters (XB-33)', async () => {
    const { paged } = open();
    const first = await paged.read('tools/a.md', 0, 11);
    expect(first).toMatchObject({ text: '# a\n\nDoes ', nextOffset: 10, size: 14 });
    expect((await paged.read('tools/a.md', first.nextOffset ?? 0, 100)).text).toBe('ä.\n');
    await expect(paged.read('tools/a.md', 99, 10)).rejects.toThrow('Give an offset from 0 to 14');
  });

  it('keeps them from being changed, and the rest as it is', async () => {
    const { paged, workspace } = open();
    for (const change of [paged.write('tools/a.md', ''), paged.append('tools/new.md', ''), paged.remove('./tools')])
      await expect(change).rejects.toThrow(ToolUserError);
    await paged.write('notes/tools.md', 'about tools');
    expect((await workspace.read('notes/tools.md', 0, 100)).text).toBe('about tools');
    expect((await paged.list('', 0, 1)).entries.map(({ name }) => name)).toEqual(['notes']);
    expect((await paged.list('', 1, 1)).entries.map(({ name }) => name)).toEqual(['tools']);
  });

  it('says where the pages are listed, for one that is not there', async () => {
    const { paged } = open();
    await expect(paged.read('tools/b.md', 0, 10)).rejects.toThrow(
      'The pages of the tools are listed in tools/README.md',
    );
    await expect(paged.read('tools', 0, 10)).rejects.toThrow('list_files');
    await expect(paged.list('tools/a.md', 0, 10)).rejects.toThrow('read_file');
  });

  it('does not show a folder of its own beside them, which nothing can be stale in', async () => {
    const { paged, workspace } = open();
    await workspace.write('tools/old.md', 'old Does');
    expect((await paged.list('', 0, 10)).entries).toHaveLength(1);
    await expect(paged.read('tools/old.md', 0, 10)).rejects.toThrow('There is no');
    const found = await paged.search('does', '', 10, new AbortController().signal);
    expect(found.matches.map(({ path }) => path)).toEqual(['tools/a.md']);
  });
});

describe('sluice tools docs', () => {
  const command = (...args: string[]) => inProcess(run, {} as Environment, 'docs', ...args);

  it('writes the pages, and removes those of former tools alone', async () => {
    const target = folder();
    expect((await command(target)).output).toMatch(`${tools.length + 1} pages in`);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(target, 'gone.md'), '# gone\n\n**Category:** other\n');
    writeFileSync(join(target, 'mine.md'), '# My notes\n');
    expect((await command(target)).output).toContain('1 removed');
    expect(readdirSync(target)).toContain('mine.md');
    expect(readFileSync(join(target, 'read_file.md'), 'utf8')).toBe(pageOf('read_file'));
  });

  it('says how it is called', async () => {
    await expect(command()).rejects.toThrow('Say where the pages go');
  });
});
