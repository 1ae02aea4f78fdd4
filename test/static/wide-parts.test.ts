import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const read = async (path: string): Promise<unknown> => import(join(root, path));
const { parts } = (await read('test/wide/parts.mjs')) as { readonly parts: Readonly<Record<string, string>> };
const { times } = (await read('test/infra/times.mjs')) as { readonly times: Readonly<Record<string, number>> };
const names = Object.keys(parts);

it('has a folder and a row of docs/testing.md for each part of test:wide, and no others', () => {
  const folders = readdirSync(join(root, 'test/wide'), { withFileTypes: true }).filter((one) => one.isDirectory());
  const page =
    readFileSync(join(root, 'docs/testing.md'), 'utf8').split('## The wide tests')[1]?.split('\n## ')[0] ?? '';
  const rows = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name = '']) => name);
  expect(folders.map(({ name }) => name).sort()).toEqual(names.toSorted());
  expect(rows).toEqual(names.toSorted());
});

it('knows how long test files took, by paths in the project', () => {
  const paths = Object.keys(times);
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !/^(?:libs|apps|test)\/.*\.test\.ts$/.test(path))).toEqual([]);
});
