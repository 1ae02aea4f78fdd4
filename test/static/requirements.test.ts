import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { idsInCases, idsInNames } from './named-ids.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { later: putOff, ...sections } = parse(read('test/static/tool-use.yaml')) as {
  readonly later: Readonly<Record<string, readonly string[]>>;
} & Readonly<Record<string, Readonly<Record<string, string>>>>;
const wanted = Object.values(sections as Record<string, Record<string, string>>).flatMap(Object.entries<string>);
const ids = wanted.map(([id]) => id);
const later = Object.values(putOff).flat();

/** Suites that several tests share stand beside them, in files that are no tests by themselves. */
const tests = globSync(['{libs,apps}/*/test/**/*.ts', 'test/**/*.ts'], { cwd: root }).filter(
  (path) => !path.endsWith('requirements.test.ts'),
);
const cases = globSync(['{libs,apps}/*/test/**/*.yaml', 'test/**/*.yaml'], { cwd: root });
const named = new Set([
  ...tests.flatMap((path) => idsInNames(read(path))),
  ...cases.flatMap((path) => idsInCases(read(path))),
]);

describe('what the tool-use specification asks for', () => {
  it('is shown by a test that names it, or put off for a reason', () => {
    const accounted = new Set([...named, ...later]);
    expect(ids.filter((id) => !accounted.has(id))).toEqual([]);
  });

  it('is not put off where a test shows it', () => {
    expect(later.filter((id) => named.has(id))).toEqual([]);
  });

  it('holds every id that a test names, so that a wrong one is found', () => {
    expect([...named].filter((id) => !ids.includes(id)).sort()).toEqual([]);
  });

  it('is listed once, in words, and put off once', () => {
    expect(wanted.length).toBeGreaterThan(240);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, words] of wanted) expect(words.split(' ').length).toBeLessThan(20);
    expect(new Set(later).size).toBe(later.length);
    expect(later.filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('the names of tests', () => {
  it.each<[string, string, readonly string[]]>([
    ['a title', `it('refuses it (P-01, T-26b1)', () => undefined);`, ['P-01', 'T-26b1']],
    [
      'a title of several',
      'describe.each(rows)(`%s (T-F2b)`, (_, x) => it(`${x} of C-01`, () => 1));',
      ['T-F2b', 'C-01'],
    ],
    ['a row of a table', `it.each([['a (E-05)', 1]] as const)('%s', () => 1);`, ['E-05']],
    ['no comment', `// it('P-01')\nit('that P runs' /* P-02 */, () => 1);`, []],
    ['no value in a test', `it('says it', () => expect(code).toBe('P-01'));`, []],
    ['no id of another document', `it('D-T40, XB-3, G-12, DS-01 and S-1234', () => 1);`, []],
  ])('are read from %s', (_, text, expected) => {
    expect(idsInNames(text)).toEqual(expected);
  });

  it('are read from cases, by what they say they show', () => {
    expect(idsInCases('- name: of P-01\n  requirements: T-19b, C-03\n')).toEqual(['T-19b', 'C-03']);
  });
});
