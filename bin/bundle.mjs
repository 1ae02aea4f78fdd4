/**
 * Builds what runs: the sources and their packages, 3,400 modules, as 170 files in dist/. A process starts for a
 * third to a half of the processor time (docs/benchmarks.md). The console’s pages go to dist/console. `npm run lint`
 * checks the types.
 */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { build as buildPages } from 'vite';
import { isExternal, packagesIn } from './externals.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Programs that share their code, by the name of their file in dist/. */
const services = {
  main: 'apps/sluice/src/entry.ts',
  generate: 'apps/sluice/src/generate.ts',
  worker: 'apps/sluice/src/replay/worker.ts',
};
/** Programs of their own: processes and threads that a service starts. The files of each begin with its name. */
const processes = {
  child: 'libs/isolation/src/child.ts',
  guard: 'libs/isolation/src/guard.ts',
  'parse-child': 'libs/packs/src/document/parse-child.ts',
  'query-worker': 'libs/packs/src/knowledge/query-worker.ts',
  'count-thread': 'libs/tokens/src/count-thread.ts',
};
const bench = {
  bench: 'bench/main.ts',
  'history-lists': 'bench/history/lists-thread.ts',
  served: 'bench/discovery/served.ts',
  'mcp-services': 'bench/mcp/services.ts',
  'echo-server': 'bench/tools/echo-server.ts',
};

const folder = join(root, 'dist');

/** Resolves with the files that were written. */
async function bundle(programs, chunks = '[name]') {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, join(root, file)])),
    platform: 'node',
    preserveEntrySignatures: false,
    external: isExternal,
    tsconfig: join(root, 'tsconfig.json'),
    // The registry's HTTP client evaluates a text of its own; Kafka's part of the bus is loaded as one, where it is
    // wanted.
    checks: { eval: false, ineffectiveDynamicImport: false },
  });
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    // NestJS and errors go by the names of classes.
    keepNames: true,
    entryFileNames: '[name].js',
    chunkFileNames: `${chunks}-[hash].js`,
    // An error that comes from the bus is known by its file.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'bus', test: /[\\/]libs[\\/]bus[\\/]src[\\/]/ }],
    },
  });
  await build.close();
  return output;
}

/** The files that a program loads, and those that these load. */
function loadedBy(programs, output) {
  const byName = new Map(output.map((one) => [one.fileName, one]));
  const found = new Set();
  const follow = (name) => {
    const file = byName.get(name);
    if (file === undefined || found.has(file)) return;
    found.add(file);
    for (const next of [...file.imports, ...file.dynamicImports]) follow(next);
  };
  for (const name of programs) follow(`${name}.js`);
  return [...found];
}

const output = await bundle(process.argv.includes('bench') ? { ...services, ...bench } : services);
const written = new Set(output.map(({ fileName }) => fileName));
const packed = loadedBy(['main', 'worker'], output);
for (const [name, file] of Object.entries(processes))
  for (const one of await bundle({ [name]: file }, `${name}-[name]`)) {
    written.add(one.fileName);
    packed.push(one);
  }

const pages = await buildPages({ configFile: join(root, 'apps/console/vite.config.ts'), logLevel: 'warn' });

// For the package: its files, and whose code is in them.
const contents = {
  files: packed.map(({ fileName }) => fileName).sort(),
  packages: packagesIn(root, [...packed, ...pages.output]),
};
writeFileSync(join(folder, '.contents.json'), `${JSON.stringify(contents, null, 2)}\n`);

// A program that runs may still load what a build of today wrote.
const yesterday = Date.now() - 24 * 3_600_000;
for (const name of readdirSync(folder))
  if (
    !written.has(name) &&
    !['console', 'packages', 'site', 'site-pages'].includes(name) &&
    !name.startsWith('.') &&
    statSync(join(folder, name)).mtimeMs < yesterday
  )
    rmSync(join(folder, name), { recursive: true });
