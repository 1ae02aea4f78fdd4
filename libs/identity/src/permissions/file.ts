import { readFile, stat } from 'node:fs/promises';
import { parse } from 'yaml';
import type { FoundPermissions, PermissionSource } from '@sluice/core';
import { readFound } from './found.js';

type Tenants = ReadonlyMap<string, ReadonlyMap<string, FoundPermissions>>;

/**
 * The users in a YAML or JSON file: tenant, then user, then its groups, or a map with `groups` and `connections`. The
 * file is read again as soon as it has changed. A file with a mistake is a fault, since what it says is unknown.
 */
export function usersInFile(path: string): PermissionSource {
  let read: { readonly stamp: string; readonly tenants: Promise<Tenants> } | undefined;
  return {
    find: async ({ tenantId, actorId }) => {
      const { mtimeMs, size, ino } = await stat(path).catch(unreadable);
      const stamp = `${mtimeMs}/${size}/${ino}`;
      if (read?.stamp !== stamp) read = { stamp, tenants: readUsers(path) };
      return (await read.tenants).get(tenantId)?.get(actorId) ?? null;
    },
  };
}

async function readUsers(path: string): Promise<Tenants> {
  const text = await readFile(path, 'utf8').catch(unreadable);
  let content: unknown;
  try {
    content = parse(text);
  } catch {
    throw new Error('it is no YAML');
  }
  const tenants = entriesOf(content, 'the file must be a map of tenants').map(([tenant, users]) => {
    const where = `the tenant ${tenant} must be a map of users`;
    const found = entriesOf(users, where).map(([user, permissions]) => {
      const given = Array.isArray(permissions) ? { groups: permissions } : permissions;
      return [user, readFound(given, `the user ${user} of ${tenant}`)] as const;
    });
    return [tenant, new Map(found)] as const;
  });
  return new Map(tenants);
}

function entriesOf(value: unknown, message: string): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(message);
  return Object.entries(value);
}

function unreadable(error: NodeJS.ErrnoException): never {
  throw new Error(error.code === 'ENOENT' ? 'it is not there' : `it cannot be read (${error.code ?? error.message})`);
}
