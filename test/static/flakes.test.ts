import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { check, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '../..');
interface Suite {
  readonly name: string;
  readonly status: 'failed' | 'passed';
}
interface Again {
  readonly paths: readonly string[];
  readonly why?: string;
}
const setup = join(root, 'bin/setup.mjs');
const { flakesText, toRunAgain } = (await import(setup)) as {
  flakesText(paths: readonly string[]): Promise<string>;
  toRunAgain(suites: readonly Suite[], known: readonly string[]): Again;
};
const suites = (...failed: readonly string[]): Suite[] => [
  ...failed.map((path) => ({ name: join(root, path), status: 'failed' as const })),
  { name: join(root, 'test/well.test.ts'), status: 'passed' },
];

describe('a suite that failed in npm test', () => {
  it.each<[string, readonly string[], readonly string[], Again]>([
    ['one', ['test/a.test.ts'], [], { paths: ['test/a.test.ts'] }],
    ['six', ['a', 'b', 'c', 'e', 'f', 'g'], ['d'], { paths: ['a', 'b', 'c', 'e', 'f', 'g'] }],
    ['seven', ['a', 'b', 'c', 'd', 'e', 'f', 'g'], [], { paths: [] }],
    ['none', [], ['a'], { paths: [] }],
    [
      'one that failed by chance before',
      ['a', 'b'],
      ['b'],
      { paths: [], why: 'not run again, since test/flakes.json has it: b' },
    ],
  ])('is run once more where it may be: %s', (_, failed, known, expected) => {
    expect(toRunAgain(suites(...failed), known)).toEqual(expected);
  });

  it.each([
    [['test/b.test.ts', 'test/a.test.ts']],
    [Array.from({ length: 9 }, (_, n) => `test/a/long/path-${n}.test.ts`)],
  ])('is written down as the linters want it: %s', async (paths) => {
    const filepath = join(root, 'test/flakes.json');
    const text = await flakesText(paths);
    expect(JSON.parse(text)).toEqual([...paths].sort());
    expect(await check(text, { ...(await resolveConfig(filepath)), filepath })).toBe(true);
  });
});
