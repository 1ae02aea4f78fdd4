import { connectionAdapters, connectionIdForm, isServerTool, quote, suggestion, wildcard } from '@sluice/core';
import type { ConnectionSettings, Policy, Problem, ToolType } from '@sluice/core';
import { readHosts } from './connection-hosts.js';
import { type ToolEntry } from './entries.js';
import { configurationKeys } from './keys.js';
import { unknownName } from './problems.js';
import type { Section } from './section.js';
import { namesVariable, notAVariable } from './variables.js';

/** What each adapter takes beside `tenants`. */
const settingsOf = { environment: ['variable'], file: ['path'], http: ['url', 'key_env'] } as const;
const settings = ['variable', 'path', 'url', 'key_env'] as const;

/**
 * `connections`: what credentials there are, where they come from, and for which tenants. A credential itself never
 * stands here.
 */
export function readConnections(section: Section): readonly ConnectionSettings[] {
  return section.keys().flatMap((id) => {
    if (!connectionIdForm.test(id)) {
      const write = 'a name of 1 to 64 letters, digits, `_` and `-`';
      section.problem(section.at(id), `the connection ${quote(id)}`, write);
    }
    const entry = section.section(id);
    return entry.usable ? (readConnection(id, entry.closed(configurationKeys['connections.<connection>'])) ?? []) : [];
  });
}

function readConnection(id: string, section: Section): ConnectionSettings | null {
  const adapter = section.choice('adapter', connectionAdapters);
  const named = readHosts(section);
  const of = { id, tenants: readTenants(section), ...(named === null ? {} : { hosts: named }) };
  const variable = readVariable(section, 'variable', 'the name of the environment variable that holds the credential');
  const path = section.text('path', 'the path of the file that holds the credential');
  const url = section.address('url');
  const keyEnv = readVariable(section, 'key_env', 'the name of the environment variable that holds the broker’s key');
  if (adapter === null) {
    if (!section.has('adapter'))
      section.problem(section.at('adapter'), 'nothing', '`environment`, `file` or `http`: where the credential is');
    return null;
  }
  for (const key of settings) {
    const belongs = (settingsOf[adapter] as readonly string[]).includes(key);
    if (!belongs && section.has(key))
      section.problem(section.at(key), 'a setting of another adapter', `what ${adapter} takes, or leave it out`);
    if (belongs && key !== 'key_env' && !section.has(key))
      section.problem(section.at(key), 'nothing', whatToWrite[key]);
  }
  switch (adapter) {
    case 'environment':
      return { ...of, adapter, variable: variable ?? '' };
    case 'file':
      return { ...of, adapter, path: path ?? '' };
    case 'http':
      return { ...of, adapter, url: url ?? '', keyEnv };
  }
}

const whatToWrite = {
  variable: 'the name of the environment variable that holds the credential',
  path: 'the path of the file that holds the credential',
  url: 'the address of the broker that gives the credential',
} as const;

/** A credential has an owner: whose requests may use it is always written. */
function readTenants(section: Section): readonly string[] {
  const write = 'the names of the tenants that may use it, or `["*"]` for all';
  if (!section.has('tenants')) section.problem(section.at('tenants'), 'nothing', write);
  const tenants = section.names('tenants', `a list: ${write}`) ?? [];
  if (tenants.length > 1 && tenants.includes(wildcard))
    section.problem(section.at('tenants'), '`*` among other entries', '`*` alone, or the others without it');
  return tenants;
}

/** The connection that a section names; null if it names none, or one that is not there. */
export function connectionNamed(
  section: Section,
  connections: readonly ConnectionSettings[],
): ConnectionSettings | null {
  const id = section.text('connection', 'the id of an entry under `connections`');
  if (id === null) return null;
  const found = connections.find((one) => one.id === id);
  if (found !== undefined) return found;
  const known = connections.map((one) => one.id);
  section.unknown(section.at('connection'), 'connection', id, nameOf(id, known));
  return null;
}

function nameOf(id: string, known: readonly string[]): string {
  return known.length === 0 ? `an entry ${quote(id)} under \`connections\` as well` : suggestion(id, known);
}

/** An allowed tool that needs a connection names one that there is; any other names none. */
export function checkConnections(
  tools: readonly { readonly entry: ToolEntry; readonly id: string }[],
  policy: Policy,
  connections: readonly ConnectionSettings[],
  types: readonly ToolType[],
  problems: Problem[],
): void {
  const known = connections.map(({ id }) => id);
  for (const { entry, id } of tools) {
    const needed = types.find(({ type }) => type === entry.type)?.requiresConnection ?? false;
    const path = `${entry.path}.connection`;
    if (entry.connection === null) {
      if (!needed || !policy.allowedTools.includes(id)) continue;
      const found = `nothing, though the policy allows ${quote(entry.key)}, which needs one`;
      problems.push({ path, found, write: 'the id of an entry under `connections`' });
    } else if (isServerTool(entry.type)) {
      const write = 'it at the server: every call of a server shows it one credential';
      problems.push({ path, found: `a connection of an ${entry.type ?? ''}`, write });
    } else if (!needed) {
      const write = 'nothing: leave it out';
      problems.push({ path, found: 'a connection of a tool that uses none', write });
    } else if (!known.includes(entry.connection))
      problems.push({
        path,
        ...unknownName('connection', entry.connection),
        write: nameOf(entry.connection, known),
      });
  }
}

/** A name only: a value written here is refused and not repeated. */
export function readVariable(section: Section, key: string, write: string): string | null {
  const value = section.value(key);
  if (value === null) return null;
  if (typeof value === 'string' && namesVariable(value)) return value;
  section.problem(section.at(key), typeof value === 'string' ? notAVariable : 'a value that is not a text', write);
  return null;
}
