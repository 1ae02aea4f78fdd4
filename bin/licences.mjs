/**
 * Whose code the package `sluice` holds or installs: the licences with their texts, a report of them, and a bill of
 * materials (CycloneDX). The same build gives the same bytes.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that ask for no more than their text and a notice. */
const permissive = [
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['Unlicense', 'Zlib'],
];

/** The data of the sample is no package’s code. */
const data = {
  name: 'mledoze/countries',
  licence: 'ODbL-1.0',
  what: 'examples/countries/countries.nt, which is made of it and under the same licence',
  url: 'https://github.com/mledoze/countries',
};

/** What is known of packages, by their folders under the project: `node_modules/zod`. */
export function describePackages(root, folders, isBundled) {
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return folders.map((folder) => {
    const { name, version, license, licenses } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const given = license ?? licenses?.map((one) => one.type ?? one).join(' OR ');
    return {
      ...{ name, version, isBundled },
      licence: (typeof given === 'object' ? given.type : given) ?? null,
      text: licenceText(join(root, folder)),
      integrity: locked[folder]?.integrity,
    };
  });
}

function licenceText(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const found = names.filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort();
  const texts = found.map((name) => readText(join(folder, name))).filter((text) => text !== '');
  return texts.length === 0 ? null : texts.join('\n\n');
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    // A folder of that name.
    return '';
  }
}

const isPermissive = (licence) =>
  licence !== null &&
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((one) => one.split(' AND ').every((each) => permissive.includes(each)));

const byName = (packages) =>
  [...new Map(packages.map((one) => [`${one.name}@${one.version}`, one])).values()].sort((a, b) =>
    `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1,
  );

/** The text that goes along with the code. */
export function thirdPartyText(packages) {
  const parts = byName(packages.filter(({ isBundled }) => isBundled)).map(
    ({ name, version, licence, text }) =>
      `${name} ${version}\nLicence: ${licence ?? 'not named'}\n\n${text ?? 'The package holds no text of its licence.'}`,
  );
  const head = `Code of these packages is in the files of Sluice. The data of the sample, ${data.what},\nis of ${data.name} (${data.url}), licence ${data.licence}.`;
  return `${[head, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** For a person who decides whether all of this may be given on. */
export function licenceReport(packages, version) {
  const all = byName(packages);
  const counts = Map.groupBy(all, ({ licence }) => licence ?? 'none named');
  const list = (some) =>
    some.length === 0
      ? ['None.']
      : some.map(({ name, version, licence, text }) => {
          const first = text === null ? 'and no text' : `its text begins “${text.split('\n')[0]}”`;
          return `- ${name} ${version}: ${licence ?? `none named, ${first}`}`;
        });
  return [
    `# Licences of sluice ${version}`,
    '',
    `${String(all.length)} packages: ${String(all.filter(({ isBundled }) => isBundled).length)} whose code is in its files (their texts are in THIRD-PARTY.txt), the others installed beside it.`,
    '',
    '| licence | packages |',
    '| --- | --- |',
    ...[...counts]
      .sort(([, a], [, b]) => b.length - a.length)
      .map(([name, of]) => `| ${name} | ${String(of.length)} |`),
    '',
    '## To be looked at: no licence, or one that asks for more than its text',
    '',
    ...list(all.filter(({ licence }) => !isPermissive(licence))),
    `- ${data.name}, data: ${data.licence}; ${data.what}`,
    '',
    '## A licence is named, and its text is not in the package',
    '',
    ...list(all.filter(({ licence, text }) => text === null && isPermissive(licence))),
    '',
  ].join('\n');
}

/** The bill of materials, CycloneDX 1.6. */
export function billOfMaterials(packages, version) {
  const purl = (name, of) => `pkg:npm/${name.replace('@', '%40')}@${of}`;
  const components = byName(packages).map(({ name, version: of, licence, integrity, isBundled }) => {
    const [, group, plain] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name);
    return {
      type: 'library',
      'bom-ref': purl(name, of),
      ...(group === undefined ? {} : { group }),
      name: plain,
      version: of,
      ...(licence === null ? {} : { licenses: [licenceOf(licence)] }),
      purl: purl(name, of),
      ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
      ...(isBundled ? { properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }] } : {}),
    };
  });
  const main = purl('sluice', version);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        ...{ type: 'application', 'bom-ref': main, name: 'sluice', version },
        ...{ licenses: [{ license: { id: 'Apache-2.0' } }], purl: main },
      },
    },
    components: [
      ...components,
      {
        type: 'data',
        'bom-ref': data.url,
        name: data.name,
        licenses: [{ license: { id: data.licence } }],
        externalReferences: [{ type: 'vcs', url: data.url }],
      },
    ],
    dependencies: [
      { ref: main, dependsOn: [...components.map((one) => one['bom-ref']), data.url] },
      ...components.map((one) => ({ ref: one['bom-ref'] })),
      { ref: data.url },
    ],
  };
}

function licenceOf(licence) {
  if (/ (?:OR|AND) /.test(licence)) return { expression: licence };
  return { license: permissive.includes(licence) ? { id: licence } : { name: licence } };
}

/** npm writes a hash as base64, CycloneDX as hexadecimal digits. */
function hashOf(integrity) {
  const [algorithm, content] = integrity.split('-');
  return {
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content: Buffer.from(content, 'base64').toString('hex'),
  };
}
