import { nearest, quote, suggestion } from '@sluice/core';
import type { Problem, UnknownName } from '@sluice/core';
import { configurationKeys } from './keys.js';
import { join } from './problems.js';

type Values = Readonly<Record<string, unknown>>;

/**
 * The file with each section that is nearly right under its right name, and the mistake noted: what is within it is
 * checked, and what names it elsewhere is no mistake.
 */
export function withMeantSections(raw: unknown, problems: Problem[]): unknown {
  if (!isMap(raw)) return raw;
  const keys: readonly string[] = configurationKeys[''];
  const renamed = new Map<string, string>();
  for (const key of Object.keys(raw)) {
    const meant = keys.includes(key) ? undefined : nearest(key, keys);
    if (meant === undefined || (raw[meant] ?? null) !== null || [...renamed.values()].includes(meant)) continue;
    renamed.set(key, meant);
    problems.push({ path: join('', key), found: `the unknown key ${quote(key)}`, write: suggestion(key, keys) });
  }
  if (renamed.size === 0) return raw;
  const taken = new Set(renamed.values());
  const entries = Object.entries(raw).flatMap(([key, value]): [string, unknown][] =>
    taken.has(key) ? [] : [[renamed.get(key) ?? key, value]],
  );
  return Object.fromEntries(entries);
}

/** Where the names of a kind stand. */
const sectionsOf: Readonly<Record<UnknownName['kind'], readonly string[]>> = {
  tool: ['tool', 'mcp', 'openapi'],
  group: ['group', 'tool'],
  connection: ['connections'],
  server: ['mcp', 'mcp.servers', 'openapi', 'openapi.servers'],
  entry: ['mcp', 'mcp.tools', 'openapi', 'openapi.tools'],
  upstream: ['proxy.upstreams'],
};

/**
 * Without the problems that come of another one: a name is not unknown where its section cannot be read, or where its
 * own entry is not of the right shape. Which name a problem is about has no further use then.
 */
export function withoutConsequences(problems: readonly Problem[], raw: unknown): readonly Problem[] {
  const own = problems.filter(({ unknown }) => {
    if (unknown === undefined) return true;
    const sections = sectionsOf[unknown.kind].map((section) => at(raw, section));
    return !sections.some((section) => !isReadable(section) || isUnreadableIn(section, unknown.name));
  });
  return (own.length === 0 ? problems : own).map(({ unknown: _, ...problem }) => problem);
}

function at(raw: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), raw);
}

function isReadable(section: unknown): boolean {
  return section === null || section === undefined || isMap(section) || Array.isArray(section);
}

/** True for a name whose entry stands there and is no map. */
function isUnreadableIn(section: unknown, name: string): boolean {
  return isMap(section) && Object.hasOwn(section, name) && !isMap(section[name]);
}

function isMap(value: unknown): value is Values {
  return Object.prototype.toString.call(value) === '[object Object]';
}
