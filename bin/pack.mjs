/**
 * `npm run pack`: the npm packages, as files in dist/packages or the folder that is named. `sluice` holds what a build
 * made, and needs no build and no install script; `@sluice/client` is built from its folder; `@sluice/tool` has types
 * alone. `--only sluice` makes the first alone, as the image wants it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { billOfMaterials, describePackages, licenceReport, thirdPartyText } from './licences.mjs';
import { installed, isBuiltIn, isUnused, optional, packageOf, packagesIn } from './externals.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inRoot = (...parts) => join(root, ...parts);
const json = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { version } = json(inRoot('package.json'));

/** What the sample and `sluice load` read, beside dist/ and schemas/. */
const examples = ['countries/sluice.yaml', 'load'];

/** What `sluice init --example` writes. Its folder installs what it imports, so the package does not. */
const example = 'incident-desk';

/** Packages that these files import, without those that Node has and those that nothing uses. */
export function importedBy(folder, files) {
  const found = new Set();
  for (const file of files.filter((name) => /\.m?js$/.test(name)))
    for (const id of importsOf(readFileSync(join(folder, file), 'utf8')))
      if (!/^[./]/.test(id) && !isBuiltIn(id) && !isUnused(id)) found.add(packageOf(id));
  return [...found].sort();
}

/** What a module imports by a literal: statically, by `import()`, or by the `require` that a bundle or Node makes. */
function importsOf(text) {
  const found = [];
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { type, source, callee, arguments: args } = node;
    if (typeof source?.value === 'string') found.push(source.value);
    if (type === 'CallExpression' && ['__require', 'require', 'require$1'].includes(callee.name))
      if (typeof args[0]?.value === 'string') found.push(args[0].value);
    for (const part of Object.values(node)) visit(part);
  };
  visit(parseAst(text, { lang: 'js' }));
  return found;
}

/** What package.json of `sluice` says of the packages that its files import. Throws where one is not expected. */
export function dependenciesOf(imported) {
  const versionOf = (name) => json(inRoot('node_modules', name, 'package.json')).version;
  const versions = (names) => Object.fromEntries(names.map((name) => [name, versionOf(name)]));
  const unknown = imported.filter((name) => ![...installed, ...optional].includes(name));
  if (unknown.length > 0)
    throw new Error(
      `Files of dist/ import ${unknown.join(', ')}. Name them in bin/externals.mjs: as installed, optional or unused.`,
    );
  const needed = optional.filter((name) => imported.includes(name));
  return {
    dependencies: versions(installed.filter((name) => imported.includes(name))),
    peerDependencies: versions(needed),
    peerDependenciesMeta: Object.fromEntries(needed.map((name) => [name, { optional: true }])),
  };
}

/** Writes the folder of the package `sluice`; resolves with the packages that it holds and those that it installs. */
async function writeSluice(folder) {
  const { files: built, packages: bundled } = json(inRoot('dist/.contents.json'));
  const copy = (from, to = from) => cpSync(inRoot(from), join(folder, to), { recursive: true });
  for (const file of built) copy(`dist/${file}`);
  copy('dist/console');
  for (const name of ['schemas', 'types', 'LICENSE']) copy(name);
  for (const name of [...examples, example]) copy(`examples/${name}`);
  // For `sluice mcp operator`, which searches and reads them.
  for (const name of readdirSync(inRoot('docs'), { recursive: true }))
    if (name.endsWith('.md')) copy(`docs/${name.replaceAll('\\', '/')}`);
  copy('packages/sluice/README.md', 'README.md');
  copy('packages/sluice/sluice.mjs', 'bin/sluice.mjs');
  for (const name of ['flags.mjs', 'node-version.mjs']) copy(`bin/${name}`);
  // The image is made of this package alone.
  copy('ops/image');
  rmSync(join(folder, 'examples/load/keys'), { recursive: true, force: true });

  const { buildCountries } = await import(pathToFileURL(inRoot('examples/countries/build.mjs')).href);
  await buildCountries(join(folder, 'examples/countries/countries.nt'));
  const ofExample = await bundleExample('examples/analysis-server/server.mjs', folder);

  const files = readdirSync(folder, { recursive: true }).filter((file) => !file.includes(example));
  const depends = dependenciesOf(importedBy(folder, files));
  writePackage(folder, { ...json(inRoot('packages/sluice/package.json')), ...depends });
  const beside = Object.keys(depends.dependencies).flatMap((name) => withPlatforms(name));
  const packages = [
    ...describePackages(root, [...new Set([...bundled, ...ofExample])], true),
    ...describePackages(root, beside, false),
  ];
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), thirdPartyText(packages));
  return packages;
}

/** The folder of a package, and of what it installs for this platform. */
function withPlatforms(name) {
  const { dependencies = {}, optionalDependencies = {} } = json(inRoot('node_modules', name, 'package.json'));
  return [name, ...Object.keys({ ...dependencies, ...optionalDependencies })]
    .map((one) => `node_modules/${one}`)
    .filter((folder) => existsSync(inRoot(folder)));
}

/** An example with the packages that it imports, as one file; resolves with the folders of these. */
async function bundleExample(file, folder) {
  const build = await rolldown({ cwd: root, input: inRoot(file), platform: 'node' });
  const { output } = await build.write({ file: join(folder, file), format: 'esm', codeSplitting: false });
  await build.close();
  return packagesIn(root, output);
}

function writeTool(folder) {
  for (const name of readdirSync(inRoot('types'))) cpSync(inRoot('types', name), join(folder, name));
  for (const name of ['LICENSE', 'packages/tool/README.md']) cpSync(inRoot(name), join(folder, name.split('/').at(-1)));
  const { zod } = json(inRoot('package.json')).dependencies;
  writePackage(folder, { ...json(inRoot('packages/tool/package.json')), dependencies: { zod } });
}

const writePackage = (folder, text) =>
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...text, version }, null, 2)}\n`);

/** Runs `npm pack` in the folder; resolves with the name of the file. */
function npmPack(folder, to) {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--json', '--pack-destination', to], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm pack failed in ${folder}: ${stderr}`);
  // What scripts print stands before the JSON; npm 12 writes an object by name, npm 11 a list.
  const said = JSON.parse(stdout.slice(stdout.search(/^[[{]$/m)));
  return Object.values(said)[0];
}

/** Makes all packages in the folder, or one of them; resolves with what npm says of each. */
async function pack(to, only) {
  mkdirSync(to, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'sluice-pack-'));
  try {
    const [sluice, tool] = ['sluice', 'tool'].map((name) => join(work, name));
    for (const folder of [sluice, tool]) mkdirSync(folder);
    const packages = await writeSluice(sluice);
    if (only === 'sluice') return [npmPack(sluice, to)];
    writeTool(tool);
    writeFileSync(
      join(to, `sluice-${version}.cdx.json`),
      `${JSON.stringify(billOfMaterials(packages, version), null, 2)}\n`,
    );
    writeFileSync(join(to, 'licences.md'), licenceReport(packages, version));
    return [sluice, inRoot('packages/client'), tool].map((folder) => npmPack(folder, to));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });
  if (values.only !== undefined && values.only !== 'sluice') throw new Error('--only takes one word: sluice.');
  const ours = inRoot('dist/packages');
  const to = resolve(positionals[0] ?? ours);
  if (to === ours) rmSync(to, { recursive: true, force: true });
  for (const { filename, size, unpackedSize, entryCount } of await pack(to, values.only)) {
    const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(
      `${join(relative(process.cwd(), to), filename)}  ${megabytes(size)}, ${megabytes(unpackedSize)} in ${String(entryCount)} files`,
    );
  }
}
