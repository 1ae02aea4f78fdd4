import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { idsInCases, idsInText, titlesOf } from './named-ids.js';
import { readRequirements } from './requirements-page.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { requirements, notShown } = readRequirements(read('docs/requirements.md'));
const ids = new Set(requirements.map(({ id }) => id));

/** Suites that several tests share stand beside them, in files that are no tests by themselves. */
const tests = globSync(['{libs,apps}/*/test/**/*.ts', 'test/**/*.ts'], { cwd: root }).filter(
  (path) => !path.endsWith('static/requirements.test.ts'),
);
const cases = globSync(['{libs,apps}/*/test/**/*.yaml', 'test/**/*.yaml'], { cwd: root });
const titles = new Map(tests.map((path) => [path, titlesOf(read(path))]));
const namedIn = new Map<string, ReadonlySet<string>>([
  ...[...titles].map(([path, texts]) => [path, new Set(texts.flatMap(idsInText))] as const),
  ...cases.map((path) => [path, new Set(idsInCases(read(path)))] as const),
]);
const named = new Set([...namedIn.values()].flatMap((each) => [...each]));
const line = (id: string, text: string): string => `${id}: ${text}`;

describe('docs/requirements.md', () => {
  it('lists each requirement once, in a few words', () => {
    expect(requirements.length).toBeGreaterThan(890);
    expect(ids.size).toBe(requirements.length);
    expect(requirements.filter(({ words }) => words === '' || words.split(' ').length > 30)).toEqual([]);
  });

  it('names a test that exists and names the requirement, or a title that exists', () => {
    const wrong = requirements.flatMap(({ id, shown }) => {
      if (shown.by !== 'test') return [];
      if (!namedIn.has(shown.file)) return [line(id, `${shown.file} is no test`)];
      if (shown.title === null)
        return namedIn.get(shown.file)?.has(id) === true ? [] : [line(id, `no title in ${shown.file} names it`)];
      const found = (titles.get(shown.file) ?? []).some((title) => title.includes(shown.title ?? ''));
      return found ? [] : [line(id, `no title in ${shown.file} holds “${shown.title}”`)];
    });
    expect(wrong).toEqual([]);
  });

  it('refers to requirements that are shown, and to sections that exist', () => {
    const shownHere = new Set(requirements.flatMap(({ id, shown }) => (shown.by === 'test' ? [id] : [])));
    const sections = [...read('docs/benchmarks.md').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    const wrong = requirements.flatMap(({ id, shown }) => {
      if (shown.by === 'requirement' && !shownHere.has(shown.id)) return [line(id, `${shown.id} is not shown`)];
      if (shown.by === 'benchmark' && !sections.includes(shown.section)) return [line(id, `no ${shown.section}`)];
      return [];
    });
    expect(wrong).toEqual([]);
  });

  it('puts off nothing that a test names: its row names that test', () => {
    const open = requirements.filter(({ shown }) => shown.by === 'decision' || shown.by === 'nothing yet');
    expect(open.filter(({ id }) => named.has(id)).map(({ id }) => id)).toEqual([]);
  });

  it('says of everything that is built and not shown why', () => {
    expect(requirements.filter(({ shown }) => shown.by === 'nothing yet').map(({ id }) => id)).toEqual(notShown);
  });

  it('holds every id that a test names, so that a wrong one is found', () => {
    expect([...named].filter((id) => !ids.has(id)).sort()).toEqual([]);
  });

  it.each(['maybe later', '[a.test.ts](../b.test.ts)', ''])('is not read past a last cell like “%s”', (cell) => {
    expect(() => readRequirements(`| G-01 | Words. | ${cell} |`)).toThrow('G-01');
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
    [
      'every family',
      `it('D-T40, XB-3, G-12, DS-01, M-100 and D-43b', () => 1);`,
      ['D-T40', 'XB-3', 'G-12', 'DS-01', 'M-100', 'D-43b'],
    ],
    ['a range', `it('G-98 to G-100', () => 1);`, ['G-98', 'G-100', 'G-99']],
    ['no comment', `// it('P-01')\nit('that P runs' /* P-02 */, () => 1);`, []],
    ['no value in a test', `it('says it', () => expect(code).toBe('P-01'));`, []],
    ['no other name', `it('S-1234, SHA-256 and UTF-8', () => 1);`, []],
  ])('are read from %s', (_, text, expected) => {
    expect(titlesOf(text).flatMap(idsInText)).toEqual(expected);
  });

  it('are read from cases, by what they say they show', () => {
    expect(idsInCases('- name: of P-01\n  requirements: T-19b, C-03\n')).toEqual(['T-19b', 'C-03']);
  });
});
