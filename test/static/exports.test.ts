import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const files = globSync(
  ['{libs,apps}/*/{src,test}/**/*.{ts,tsx}', '{test,bench,ops}/**/*.ts', 'packages/*/{src,test}/**/*.ts'],
  { cwd: root },
)
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !/\/(?:node_modules|dist)\/|\/probe-/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The command line loads a command by its name, and uses what each of them exports. */
const isCommand = (path: string): boolean => /^apps\/sluice\/src\/commands\/[^/]+\.ts$/.test(path);

it('exports only what another file uses: a name that one file needs is its own', () => {
  const users = new Map<string, Set<string>>();
  for (const { path, text } of files)
    for (const [word] of text.matchAll(/\b[A-Za-z_]\w*\b/g)) users.set(word, (users.get(word) ?? new Set()).add(path));
  const shipped = files.filter(({ path }) => /^(?:libs|apps)\/\w+\/src\//.test(path) && !path.includes('/generated/'));
  const declared = /^export (?:async |abstract )*(?:const|function\*?|class|interface|type) (\w+)/gm;
  const exported = shipped.flatMap(({ path, text }) =>
    [...text.matchAll(declared)].map(([, name = '']) => ({ path, name })),
  );
  expect(exported.length).toBeGreaterThan(2_000);
  const alone = exported.filter(({ path, name }) => !isCommand(path) && (users.get(name)?.size ?? 0) < 2);
  expect(alone.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});
