import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { PermissionSettings, PermissionSourceSettings } from '@sluice/core';

/** How long an HTTP lookup may take, and how long its answer is kept, in seconds. */
const lookupTimeoutSeconds = { byDefault: 2, most: 30 };
const lookupCacheSeconds = { byDefault: 60, most: 3_600 };

/** `identity.permissions`: where the groups of a caller come from; null where nothing is written. */
export function readPermissions(section: Section): PermissionSettings | null {
  section.closed(configurationKeys['identity.permissions']);
  const roles = section.has('roles') ? readRoles(section.section('roles')) : undefined;
  if (section.has('users') && section.has('lookup'))
    section.problem(section.at('lookup'), 'a lookup beside `users`', 'one of them: where permissions are');
  const users = section.has('users') ? readUsers(section.section('users')) : undefined;
  const source = users ?? (section.has('lookup') ? readLookup(section.section('lookup')) : undefined);
  if (roles === undefined && source === undefined) return null;
  return { ...(roles === undefined ? {} : { roles }), ...(source === undefined ? {} : { source }) };
}

function readRoles(section: Section): Readonly<Record<string, readonly string[]>> {
  const groups = section.keys().map((role) => [role, section.names(role, 'a list of groups') ?? []] as const);
  return Object.fromEntries(groups);
}

function readUsers(section: Section): PermissionSourceSettings {
  section.closed(configurationKeys['identity.permissions.users']);
  const path = section.text('file', 'the path of a file with the groups of each user');
  const table = section.text('table', tableForm);
  if (section.has('file') === section.has('table')) {
    const found = section.has('file') ? 'both a file and a table' : 'nothing';
    section.problem(section.at('file'), found, 'either `file` or `table`: where the groups of each user are');
  }
  if (table !== null && !/^[a-z_][\w$]{0,62}(\.[a-z_][\w$]{0,62})?$/i.test(table)) section.refuse('table', tableForm);
  return table === null ? { kind: 'file', path: path ?? '' } : { kind: 'table', table };
}

const tableForm = 'the name of a table or view such as `users` or `app.users`, in letters, digits and `_`';

function readLookup(section: Section): PermissionSourceSettings {
  section.closed(configurationKeys['identity.permissions.lookup']);
  const url = section.address('url');
  if (!section.has('url')) section.problem(section.at('url'), 'nothing', 'the address that knows the permissions');
  const keyEnv = section.text('key_env', 'the name of the environment variable that holds its key');
  const timeout = section.wholeNumber('timeout_seconds', lookupTimeoutSeconds);
  const cache = section.wholeNumber('cache_seconds', lookupCacheSeconds);
  return { kind: 'http', url: url ?? '', keyEnv, timeoutMs: timeout * 1_000, cacheMs: cache * 1_000 };
}
