import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { circles, environmentReaders, importsOf, mayImport, violations } from './arrows.js';

const root = join(import.meta.dirname, '..');
const files = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.{ts,tsx}'], { cwd: root }).map((file) => ({
  path: file.replaceAll('\\', '/'),
  text: readFileSync(join(root, file), 'utf8'),
}));

describe('the import arrows', () => {
  it('go one way in every source file (A-01, T-02b, T-02c, T-10g, T-27b)', () => {
    expect(files.length).toBeGreaterThan(80);
    expect(violations(files)).toEqual([]);
  });

  it.each([
    ['core importing a library', 'libs/core/src/x.ts', "import { z } from 'zod';"],
    ['core importing the language’s runtime', 'libs/core/src/x.ts', "import { createHash } from 'node:crypto';"],
    ['a service reading package.json', 'apps/mcp/src/x.ts', "import m from '../../../package.json';"],
    ['core importing contracts', 'libs/core/src/x.ts', "import type { Run } from '@sluice/contracts';"],
    ['a tool importing the bus', 'libs/tools/src/x.ts', "export * from '@sluice/bus';"],
    ['a library importing an app', 'libs/host/src/x.ts', "import { a } from '../../../apps/filter/src/a.js';"],
    [
      'a service importing another',
      'apps/filter/src/x.ts',
      "const a = await import('../../agent/src/agent.module.js');",
    ],
    ['a reach inside a library', 'apps/filter/src/x.ts', "import { typeOf } from '@sluice/contracts/src/codec.js';"],
    ['the console importing a library', 'apps/console/src/x.tsx', "import { a } from '@sluice/core';"],
    ['an authorizer importing the ledger', 'libs/authorization/src/x.ts', "import { a } from '@sluice/ledger';"],
    ['host importing an authorizer', 'libs/host/src/x.ts', "import { a } from '@sluice/authorization';"],
    ['host importing tools', 'libs/host/src/x.ts', "import {\n  a,\n  b,\n} from '@sluice/tools';"],
  ])('are seen to be broken by %s', (_, path, text) => {
    expect(violations([{ path, text }])).toHaveLength(1);
  });

  it('are those of the table in docs/design.md', () => {
    const rows = [
      ...readFileSync(join(root, 'docs/design.md'), 'utf8').matchAll(
        /^\| `(?:libs\/|apps\/)?([a-z]+)` \|.*\| ([^|]+) \|$/gm,
      ),
    ];
    const table = rows.map(([, part = '', parts = '']) => [part, parts === 'nothing' ? [] : parts.split(', ')]);
    expect(Object.fromEntries(table)).toEqual(mayImport);
  });

  it('keep apart who verifies callers, who chooses among tools and who reaches MCP servers (XB-23)', () => {
    const importing = (pattern: RegExp): readonly string[] => [
      ...new Set(
        files
          .filter(({ text }) => importsOf(text).some((specifier) => pattern.test(specifier)))
          .map(({ path }) => path.split('/').slice(0, 2).join('/'))
          .sort(),
      ),
    ];
    // The hub’s client is in one library, whose hub only the executor and the command line have.
    expect(importing(/^@modelcontextprotocol\/client/)).toEqual(['libs/hub']);
    expect(importing(/^@sluice\/hub$/)).toEqual(['apps/executor', 'apps/sluice', 'libs/sources']);
    expect(importing(/^@sluice\/sources$/)).toEqual(['apps/executor', 'apps/sluice']);
    // Who chooses knows no credentials; who verifies them is host, for the gateways.
    expect(importing(/^@sluice\/identity$/)).not.toContain('libs/discovery');
    expect(importing(/^@sluice\/discovery$/)).not.toContain('libs/host');
    // The executor only answers a search of the model, from texts that the filter offered; what reaches servers does
    // not choose.
    const searching = files.filter(({ path, text }) => path.startsWith('apps/executor/') && importsOf(text).includes('@sluice/discovery')); // prettier-ignore
    expect(searching.map(({ path }) => path)).toEqual(['apps/executor/src/search-offered.ts']);
    for (const { text } of searching) expect(text).not.toMatch(/createMcpHub|mcp-servers|@modelcontextprotocol/);
  });

  it('finds every form of import', () => {
    expect(
      importsOf(
        "import a from 'a';\nimport 'b';\nexport { c } from 'c';\nvoid import('d');\nimport type { e } from 'e';",
      ),
    ).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('the index of a library', () => {
  const indexes = files.filter(({ path }) => /^libs\/[a-z]+\/src\/index\.ts$/.test(path));
  const everywhere = globSync(['{apps,libs,bench,test,ops,packages}/**/*.ts'], {
    cwd: root,
    exclude: (name) => /node_modules|dist$/.test(name),
  }).map((file) => ({ path: file, names: new Set(readFileSync(join(root, file), 'utf8').match(/\w+/g)) }));

  it('names what it gives, but for the records, which are generated', () => {
    const whole = indexes.flatMap(({ path, text }) =>
      [...text.matchAll(/^export .*\*.*$/gm)].map(([line]) => `${path}: ${line}`),
    );
    expect(whole.sort()).toEqual([
      "libs/contracts/src/index.ts: export * as make from './generated/make.js';",
      "libs/contracts/src/index.ts: export type * from '@sluice/records';",
      "libs/records/src/index.ts: export type * from './generated/records.js';",
    ]);
  });

  it.each(indexes.map(({ path }) => path))('%s exports only what is used', (path) => {
    const { text = '' } = indexes.find((index) => index.path === path) ?? {};
    const given = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','));
    const names = given
      .map(
        (name) =>
          name
            .replace(/^\s*type /, '')
            .split(' as ')
            .at(-1)
            ?.trim() ?? '',
      )
      .filter((name) => name !== '');
    const home = path.replace('index.ts', '');
    const others = everywhere.filter((file) => !file.path.startsWith(home));
    expect(names.filter((name) => !others.some((file) => file.names.has(name)))).toEqual([]);
  });
});

describe('Nest', () => {
  const withNest = files
    .filter(({ text }) => importsOf(text).some((specifier) => specifier.startsWith('@nestjs/')))
    .map(({ path }) => path);

  it('is met in libs/host and the apps alone', () => {
    expect(withNest.filter((path) => !/^(libs\/host|apps\/[a-z]+)\//.test(path))).toEqual([]);
    expect(withNest.length).toBeGreaterThan(0);
  });
});

describe('circles of imports', () => {
  it('do not exist', () => expect(circles(files)).toEqual([]));

  it('are found, also where only types go round', () => {
    const source = (path: string, ...imports: readonly string[]) => ({
      path: `libs/core/src/${path}.ts`,
      text: imports.map((from) => `import type { A } from '${from}.js';`).join('\n'),
    });
    expect(
      circles([
        source('a', './b'),
        source('b', './in/c'),
        source('in/c', '../a'),
        source('d', './a', './e'),
        source('e'),
        source('f', './f'),
      ]),
    ).toEqual([['libs/core/src/a.ts', 'libs/core/src/b.ts', 'libs/core/src/in/c.ts'], ['libs/core/src/f.ts']]);
  });
});

describe('the environment (T-03b, T-32a, T-F3a)', () => {
  it('is read by libs/host alone', () => expect(environmentReaders(files)).toEqual([]));

  it('is seen to be read elsewhere', () => {
    expect(environmentReaders([{ path: 'libs/tools/src/x.ts', text: 'const key = process.env.KEY;' }])).toHaveLength(1);
  });
});
