import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';

/**
 * Every key of a configuration that names what is read; `*` is a name of the author’s choice. Folders that are
 * written to are not beside a configuration.
 */
export const pathKeys = [
  'tool_folders',
  'identity.key_file',
  'identity.permissions.users.file',
  'authorization.cedar.policies',
  'authorization.cedar.schema',
  'connections.*.path',
  'openapi.servers.*.document',
  'knowledge.load',
  'documents.folder',
  'graph.load',
  'graph.neo4j.ca_file',
  'pipes.tool_discovery.embeddings.folder',
  'agents.*.tool_discovery.embeddings.folder',
] as const;

/**
 * The file's value with each relative path that is there beside the file as one from the working directory. Any other
 * stays, and goes by the working directory of the process that reads it: that may be an executor on another machine.
 */
export function withPathsFrom(file: string, value: unknown): unknown {
  const folder = relative(process.cwd(), dirname(resolve(file)));
  if (folder === '') return value;
  const beside = (path: string): string => {
    if (isAbsolute(path) || path === '') return path;
    const there = folder.startsWith('..') || isAbsolute(folder) ? resolve(folder, path) : join(folder, path);
    // The same from either folder is as it is written, so that its configuration keeps its version.
    return resolve(there) !== resolve(path) && existsSync(there) ? there : path;
  };
  return pathKeys.reduce((whole, key) => changed(whole, key.split('.'), beside), value);
}

function changed(value: unknown, [key, ...more]: readonly string[], change: (path: string) => string): unknown {
  if (key === undefined) {
    if (Array.isArray(value)) return value.map((item: unknown) => changed(item, [], change));
    return typeof value === 'string' ? change(value) : value;
  }
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  const map = value as Readonly<Record<string, unknown>>;
  const keys = key === '*' ? Object.keys(map) : Object.hasOwn(map, key) ? [key] : [];
  const entries = keys.map((one) => [one, changed(map[one], more, change)] as const);
  return entries.length === 0 ? value : { ...map, ...Object.fromEntries(entries) };
}
