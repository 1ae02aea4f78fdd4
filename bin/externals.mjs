/** What the files of dist/ import and do not hold, for the build (bundle.mjs) and the package (pack.mjs). */
import { builtinModules } from 'node:module';
import { relative } from 'node:path';

/** Native packages, and those that other programs import as well: they are installed beside Sluice. */
export const installed = [
  ...['lz4-napi', 'oxigraph', 'snappy', 'zod'],
  // Node warns of their url.parse wherever it stands outside of node_modules.
  ...['mappersmith', 'parseurl'],
];

/** Large ones that few configurations need. The package does without them until they are installed beside it. */
export const optional = ['@cedar-policy/cedar-wasm'];

/** Parts of packages that nothing here uses, which are not installed. */
const unused = [
  ...['@fastify/static', '@fastify/view', '@grpc/grpc-js', '@grpc/proto-loader', '@nats-io/transport-node'],
  ...['@nestjs/websockets', 'amqp-connection-manager', 'amqplib', 'class-transformer', 'class-validator', 'ioredis'],
  ...['kerberos', 'mqtt', 'nats', 'pg-native'],
];

export const isBuiltIn = (id) => id.startsWith('node:') || builtinModules.includes(id);

/** `@scope/name` of `@scope/name/part`, and `name` of `name/part`. */
export const packageOf = (id) =>
  id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');

export const isUnused = (id) => unused.includes(packageOf(id));

export const isExternal = (id) =>
  isBuiltIn(id) || isUnused(id) || installed.includes(packageOf(id)) || optional.includes(packageOf(id));

/** The packages whose code is in these files, as folders under the root. */
export function packagesIn(root, files) {
  const folders = files
    .flatMap(({ moduleIds = [] }) => moduleIds)
    .map((id) => /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id.replaceAll('\0', ''))?.[0]);
  return [...new Set(folders.filter((folder) => folder?.startsWith(root)))]
    .map((folder) => relative(root, folder).replaceAll('\\', '/'))
    .sort();
}
