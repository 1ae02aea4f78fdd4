/**
 * Builds what runs: the sources and their packages, 3,400 modules, as 170 files in dist/. A process starts for a
 * third to a half of the processor time (docs/benchmarks.md). The console’s pages go to dist/console. `npm run lint`
 * checks the types.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { build as buildPages } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Packages that stay as they are: native ones, and large ones that few processes need. */
const packages = [
  ...['@cedar-policy/cedar-wasm', 'gpt-tokenizer', 'lz4-napi', 'mammoth', 'oxigraph', 'snappy', 'unpdf'],
  ...['world-countries', 'zod'],
  // Node warns of their url.parse wherever it stands outside of node_modules.
  ...['mappersmith', 'parseurl'],
  // Optional parts of packages, which are not installed.
  ...['@fastify/static', '@fastify/view', '@grpc/grpc-js', '@grpc/proto-loader', '@nats-io/transport-node'],
  ...['@nestjs/websockets', 'amqp-connection-manager', 'amqplib', 'class-transformer', 'class-validator', 'ioredis'],
  ...['kerberos', 'mqtt', 'nats', 'pg-native'],
];
const isExternal = (id) =>
  id.startsWith('node:') ||
  builtinModules.includes(id) ||
  packages.some((one) => id === one || id.startsWith(`${one}/`));

/** Programs that share their code, by the name of their file in dist/. */
const services = {
  main: 'apps/sluice/src/main.ts',
  generate: 'apps/sluice/src/generate.ts',
  worker: 'apps/sluice/src/replay/worker.ts',
};
/** Programs that are a file each: processes and threads that a service starts. */
const processes = {
  child: 'libs/isolation/src/child.ts',
  guard: 'libs/isolation/src/guard.ts',
  'parse-child': 'libs/packs/src/document/parse-child.ts',
  'query-worker': 'libs/packs/src/knowledge/query-worker.ts',
};
const bench = {
  bench: 'bench/main.ts',
  'history-lists': 'bench/history/lists-thread.ts',
  served: 'bench/discovery/served.ts',
  'echo-server': 'bench/tools/echo-server.ts',
};

const folder = join(root, 'dist');

/** Resolves with the names of the files that were written. */
async function bundle(programs) {
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
    chunkFileNames: '[name]-[hash].js',
    // An error that comes from the bus is known by its file.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'bus', test: /[\\/]libs[\\/]bus[\\/]src[\\/]/ }],
    },
  });
  await build.close();
  return output.map(({ fileName }) => fileName);
}

const written = new Set(await bundle(process.argv.includes('bench') ? { ...services, ...bench } : services));
for (const [name, file] of Object.entries(processes))
  for (const one of await bundle({ [name]: file })) written.add(one);

await buildPages({ configFile: join(root, 'apps/console/vite.config.ts'), logLevel: 'warn' });
written.add('console');

// A program that runs may still load what a build of today wrote.
const yesterday = Date.now() - 24 * 3_600_000;
for (const name of readdirSync(folder))
  if (
    !written.has(name) &&
    name !== 'console' &&
    !name.startsWith('.built') &&
    statSync(join(folder, name)).mtimeMs < yesterday
  )
    rmSync(join(folder, name), { recursive: true });
