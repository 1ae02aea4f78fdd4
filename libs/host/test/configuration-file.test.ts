import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { formatProblems } from '@sluice/configuration';
import { compileFile } from '@sluice/host';
import type { Compiled } from '@sluice/host';
import { sampleTypes } from '../../configuration/test/sample-inputs.js';
import { pathKeys } from '../src/configuration-paths.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'sluice.yaml');

function compile(text: string): Promise<Compiled> {
  writeFileSync(file, text);
  return compileFile(file, {
    types: () => Promise.resolve({ types: sampleTypes, problems: [] }),
    cedarProblems: () => [],
    discover: () => Promise.resolve([]),
  });
}

/** The mistakes of a file, with its name left out. */
const mistakes = async (text: string): Promise<readonly string[]> =>
  formatProblems((await compile(text)).problems)
    .split('\n')
    .map((line) => line.replace(`${file}:`, '').replace(/; write .*/, ''));

describe('a mistake in a file', () => {
  it('has the line and column of its key or item, also where the key is quoted, missing, misspelt or behind an alias', async () => {
    const text = `# a comment
tool:
  one: { type: nope, group: [a, 1] }
  "a key": { type: 5 }
  two:
    name: Two
polcy:
  allowed_tools: [one, three]
limits: &l
  max_iterations: 0
`;
    expect(await mistakes(text)).toEqual([
      '7:1 polcy: found the unknown key "polcy"',
      '10:3 limits.max_iterations: found the number 0',
      '3:10 tool.one.type: found the unknown type "nope"',
      '3:33 tool.one.group[1]: found the number 1',
      '4:14 tool["a key"].type: found the number 5',
      '5:3 tool.two.type: found nothing',
      '8:24 policy.allowed_tools[1]: found the unknown tool "three"',
    ]);
  });

  it('is found in a list of tools, too', async () => {
    expect(await mistakes('tool:\n  - name: a\n    type: nope\n')).toEqual([
      '3:5 tool[0].type: found the unknown type "nope" (tool "a")',
    ]);
  });
});

describe('a tab in an indentation', () => {
  it.each(['tool:\n\tone: { type: knowledge-query }\n', 'tool:\n  one:\n  \ttype: knowledge-query\n  two: {}\n'])(
    'is one mistake: %j',
    async (text) => {
      const found = await mistakes(text);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(/^[23]:[13]: found a tab in the indentation of the line$/);
    },
  );

  it('is none within a text', async () => {
    const { configuration } = await compile('tool: { one: { type: knowledge-query, description: "a\tb" } }\n');
    expect(configuration?.tools[0]?.description).toBe('a\tb');
  });
});

describe('a relative path', () => {
  it('goes by the folder of the file, and by the working directory where nothing is there', async () => {
    mkdirSync(join(folder, 'papers'), { recursive: true });
    const paths = async (documents: string): Promise<string | undefined> =>
      (await compile(`tool: { one: { type: knowledge-query } }\ndocuments: { folder: ${documents} }\n`)).configuration
        ?.documents?.folder;
    expect(await paths('papers')).toBe(join(folder, 'papers'));
    expect(await paths('elsewhere')).toBe('elsewhere');
  });

  it('is what the page says of each key', () => {
    const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.includes('a [path beside the configuration](#the-file)'));
    const keys = rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1]);
    // The agent’s own embeddings are as those of the pipe, and have no row.
    const named = pathKeys.filter((key) => !key.startsWith('agents.')).map((key) => key.split('.').at(-1));
    expect([...keys].sort()).toEqual([...named].sort());
  });
});
