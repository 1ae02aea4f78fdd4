import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../harness/configurations.js';

export const page = readFileSync(join(projectRoot, 'docs/traces.md'), 'utf8');

/** The names in back-ticks in the cells of each row of the page's table whose first column has this heading. */
export function rows(heading: string): readonly (readonly (readonly string[])[])[] {
  const [, table = ''] = page.split(`| ${heading} |`);
  return (table.split('\n\n', 1)[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')),
    );
}
