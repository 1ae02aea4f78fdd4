import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cedarPackage } from '../../libs/authorization/src/cedar/engine.js';

const root = join(import.meta.dirname, '../..');
const json = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
interface Dependencies {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}
const { dependenciesOf, importedBy } = (await import(join(root, 'bin/pack.mjs'))) as {
  importedBy(folder: string, files: readonly string[]): readonly string[];
  dependenciesOf(imported: readonly string[]): Dependencies;
};
const { billOfMaterials, licenceReport } = (await import(join(root, 'bin/licences.mjs'))) as {
  licenceReport(packages: readonly object[], version: string): string;
  billOfMaterials(packages: readonly object[], version: string): { readonly components: readonly object[] };
};

describe('the package `sluice`', () => {
  it('depends on all that its files import, in the versions that are tested', () => {
    const { files } = json('dist/.contents.json') as { readonly files: readonly string[] };
    expect(files).toEqual(expect.arrayContaining(['main.js', 'worker.js', 'child.js', 'guard.js', 'query-worker.js', 'count-thread.js', 'parse-child.js'])); // prettier-ignore
    const { dependencies, peerDependencies, peerDependenciesMeta } = dependenciesOf(
      importedBy(join(root, 'dist'), files),
    );
    expect(Object.keys(dependencies).sort()).toEqual(['lz4-napi', 'mappersmith', 'oxigraph', 'parseurl', 'snappy', 'zod']); // prettier-ignore
    const { dependencies: pinned } = json('package.json') as Dependencies;
    for (const [name, version] of Object.entries({ ...dependencies, ...peerDependencies }))
      expect([name, version]).toEqual([name, pinned[name] ?? version]);
    expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies));
    expect(Object.entries(peerDependencies).map(([name, version]) => `${name}@${version}`)).toEqual([cedarPackage]);
  });

  it('has no file that imports a package of which nothing is said', () => {
    expect(() => dependenciesOf(['zod', 'leftpad'])).toThrow('import leftpad. Name them in bin/externals.mjs');
  });
});

describe('licences', () => {
  const packages = [
    { name: '@a/b', version: '1.0.0', licence: null, text: 'MIT License\n\nCopyright', isBundled: true },
    { name: 'c', version: '2.0.0', licence: '(MIT OR GPL-3.0-or-later)', text: null, isBundled: true },
    { name: 'd', version: '3.0.0', licence: 'AGPL-3.0', text: 'AGPL', isBundled: false, integrity: 'sha512-AAE=' },
  ];

  it('are reported: those to be looked at by their names, with the data of the sample', () => {
    const report = licenceReport(packages, '0.1.0');
    const [, unclear = '', noText = ''] = report.split('\n## ');
    expect(unclear).toContain('- @a/b 1.0.0: none named, its text begins “MIT License”\n- d 3.0.0: AGPL-3.0\n');
    expect(unclear).toContain('- mledoze/countries, data: ODbL-1.0');
    expect(noText).toContain('- c 2.0.0: (MIT OR GPL-3.0-or-later)');
  });

  it('stand in the bill of materials, by purl and hash', () => {
    const { components } = billOfMaterials(packages, '0.1.0');
    expect(components).toEqual([
      expect.objectContaining({ group: '@a', name: 'b', purl: 'pkg:npm/%40a/b@1.0.0' }),
      expect.objectContaining({ name: 'c', licenses: [{ expression: '(MIT OR GPL-3.0-or-later)' }] }),
      expect.objectContaining({ name: 'd', hashes: [{ alg: 'SHA-512', content: '0001' }] }),
      expect.objectContaining({ type: 'data', name: 'mledoze/countries' }),
    ]);
  });
});
