import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { scenarios } from './scenarios.js';
import { invariants } from './table.js';

const root = join(import.meta.dirname, '../..');
const numbers = [
  ...Array.from({ length: 26 }, (_, at) => String(at + 1)),
  '26a',
  ...Array.from({ length: 8 }, (_, at) => String(at + 27)),
  'F1',
  'F2',
  'F3',
];

describe('the invariants of spec/tool-use.md', () => {
  it('are all in the table', () => {
    expect(Object.keys(invariants).sort()).toEqual([...numbers].sort());
  });

  it.each(Object.entries(invariants).map(([number, invariant]) => [number, invariant.name, invariant] as const))(
    '%s %s is shown by the tests it names',
    (_number, _name, { shown, stage, open }) => {
      // Either a test shows it or the table says why there is nothing to show: never neither, never both.
      expect(shown.length > 0).toBe(open === undefined);
      for (const [file, title] of shown) expect(titlesIn(file)).toContain(title);
      if (stage !== undefined) expect(scenarios.map((one) => one.stage)).toContain(stage);
    },
  );
});

/** The file from its first test on; a title that stands nowhere in it is a test that is not there any more. */
function titlesIn(file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  return text.slice(text.search(/\b(?:describe|it)\b[.(]/));
}
