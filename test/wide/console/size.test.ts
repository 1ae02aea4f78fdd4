import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../../harness/configurations.js';

const built = join(projectRoot, 'dist/console');
const assets = readdirSync(join(built, 'assets')).filter((name) => /\.(js|css)$/.test(name));
const textOf = (name: string): string => readFileSync(join(built, 'assets', name), 'utf8');
const kilobytes = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + gzipSync(textOf(name)).length, 0) / 1_000;

/** With what it imports at once, which a browser loads with it. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, imported = ''] of textOf(name).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
    withImports(imported, found);
  return found;
}

const page = readFileSync(join(built, 'index.html'), 'utf8');
const first = new Set<string>();
for (const [, name = ''] of page.matchAll(/\/assets\/([\w.-]+\.js)/g)) withImports(name, first);
for (const [, name = ''] of page.matchAll(/\/assets\/([\w.-]+\.css)/g)) first.add(name);

it('loads the first page in at most 250 KB, gzipped', () => {
  console.log(`first page: ${kilobytes(first).toFixed(0)} KB gzipped`);
  expect(kilobytes(first)).toBeLessThanOrEqual(250);
});

it('loads no other part that is larger than 200 KB, gzipped, with all that it imports', () => {
  const parts = assets
    .filter((name) => name.endsWith('.js') && !first.has(name))
    .map((name) => [name, kilobytes([...withImports(name)].filter((one) => !first.has(one)))] as const)
    .toSorted(([, a], [, b]) => b - a);
  console.log(
    parts
      .slice(0, 5)
      .map(([name, size]) => `${name}: ${size.toFixed(0)} KB`)
      .join('\n'),
  );
  expect(parts.filter(([, size]) => size > 200)).toEqual([]);
});

it('names no other origin to load from', () => {
  expect(page).not.toMatch(/(?:src|href)="https?:/);
});
