import { describe, expect, it } from '@jest/globals';
import { readTools } from '@sluice/discovery';
import { run } from '../apps/sluice/src/commands/discovery.js';
import { inProcess } from './harness/in-process.js';
import type { Environment } from '@sluice/host';

const file = 'examples/discovery/tools.json';
const command = (...args: string[]) => inProcess(run, {} as Environment, ...args);

describe('sluice discovery try', () => {
  it('names the tools that are kept, best first, with what their scores come from', async () => {
    const { code, output } = await command('try', '--tools', file, '--max', '5', 'Why did the last build fail?');
    expect(code).toBe(0);
    expect(output).toMatch(/^5 of 60 tools are shown\.\n✓ get_build_log +[\d.]+ {2}why, build, fail\n/);
    expect(output.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(5);
    expect(output.split('\n').filter((line) => line.startsWith('·'))).toHaveLength(55);
  });

  it('says each part of a relevance', async () => {
    const args = [
      '--tools',
      file,
      '--max',
      '6',
      '--keep',
      'add_todo',
      '--used',
      'web_search',
      '--strategy',
      'relevance',
    ];
    const { output } = await command('try', ...args, 'get_weather for my city');
    expect(output).toMatch(/✓ get_weather +\d+ {2}named in the question \+50, .*weather \+10/);
    expect(output).toMatch(/✓ add_todo +100 {2}always kept \+100/);
    expect(output).toMatch(/✓ web_search +\d+ {2}recently used \+100/);
  });

  it('answers a search as the search tool would, and gives JSON', async () => {
    const args = ['--tools', file, '--strategy', 'tool-search', '--max', '2', '--json'];
    const { output } = await command('try', ...args, 'ISSUE');
    const { note, tools } = JSON.parse(output) as { note: string; tools: { name: string; kept: boolean }[] };
    expect(note).toBe('The query was taken as a regular expression.');
    expect(tools.filter(({ kept }) => kept).map(({ name }) => name)).toEqual(['create_issue', 'comment_on_issue']);
  });

  it('says why all are kept', async () => {
    const { output } = await command('try', '--tools', file, '--min', '60', 'x');
    expect(output).toMatch(/^60 of 60 tools are shown\. All are kept: there are no more than --min\.\n/);
  });

  it.each([
    [['try', 'x'], /Name the tools and ask one question in quotes/],
    [['try', '--tools', file, 'two', 'questions'], /one question in quotes/],
    [['try', '--tools', 'none.json', 'x'], /none\.json cannot be read/],
    [['try', '--tools', 'README.md', 'x'], /The tools in README\.md cannot be read: .*JSON/s],
    [
      ['try', '--tools', file, '--strategy', 'best', 'x'],
      /There is no strategy best\. There are: relevance, tool-search, ranked/,
    ],
    [['try', '--tools', file, '--max', '0', 'x'], /--max is "0"; it must be a whole number from 1 on/],
    [['try', '--tools', file, '--ratio', '1.5', 'x'], /--ratio is "1\.5"; it must be a number from 0 to 1/],
  ])('refuses %j', async (args, sentence) => {
    await expect(command(...args)).rejects.toThrow(sentence);
  });
});

describe('tools in a file', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };
  const tool = { name: 'look', description: 'Looks', parameters };

  it.each([
    ['Chat Completions', [{ type: 'function', function: tool }]],
    ['Responses', { tools: [{ type: 'function', ...tool }] }],
    ['Messages', [{ name: 'look', description: 'Looks', input_schema: parameters }]],
    ['generateContent', { tools: [{ functionDeclarations: [tool] }] }],
    ['Converse', [{ toolSpec: { name: 'look', description: 'Looks', inputSchema: { json: parameters } } }]],
    ['an MCP server', { tools: [{ name: 'look', description: 'Looks', inputSchema: parameters }] }],
  ])('are read as %s writes them', (_, value) => {
    expect(readTools(value)).toEqual([tool]);
  });

  it.each([
    [7, /neither a list of tools nor an object/],
    [[7], /tools\[0\] is no object/],
    [[{ description: 'x' }], /tools\[0\] has no name/],
    [{ tools: [{ functionDeclarations: [{}] }] }, /tools\[0\]\.functionDeclarations\[0\] has no name/],
  ])('are refused where they are none: %j', (value, sentence) => {
    expect(() => readTools(value)).toThrow(sentence);
  });
});
