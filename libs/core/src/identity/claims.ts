import type { ClaimNames } from '../settings/identity-types.js';
import type { JsonObject, JsonValue } from '../json.js';
import { wellFormed } from '../well-formed.js';
import type { Principal } from './principal.js';

/**
 * Longest id taken from a claim, in UTF-16 units, and most names of one list: what is in a principal travels in every
 * record.
 */
const longestId = 256;
const mostNames = 256;

/**
 * The principal that a verified credential’s claims name, or what is wrong with them. An absent list permits nothing
 * (no record means no groups).
 */
export function readPrincipal(
  given: JsonObject,
  names: ClaimNames,
): { readonly principal: Principal } | { readonly problem: string } {
  const claims = wellFormed(given);
  const actor = id(claimAt(claims, names.actor));
  const tenant = id(claimAt(claims, names.tenant));
  const subject = names.subject === null ? null : claimAt(claims, names.subject);
  const groups = list(claimAt(claims, names.groups), names.groupsSeparator)?.map((name) =>
    without(name, names.groupsPrefix),
  );
  const connections = names.connections === null ? [] : list(claimAt(claims, names.connections));
  if (actor === null) return { problem: `its claim "${names.actor}" names no one` };
  if (tenant === null) return { problem: `its claim "${names.tenant}" names no tenant` };
  if (groups === undefined) return { problem: `its claim "${names.groups}" is no list of groups` };
  if (connections === null) return { problem: `its claim "${names.connections ?? ''}" is no list of connections` };
  const onBehalf = subject === undefined || subject === null ? null : id(subject);
  if (onBehalf === null && subject !== undefined && subject !== null)
    return { problem: `its claim "${names.subject ?? ''}" names no one` };
  const subjectId = onBehalf === null ? null : `user:${onBehalf}`;
  return {
    principal: { actorId: `user:${actor}`, tenantId: tenant, subjectId, groups: [...new Set(groups)], connections },
  };
}

/**
 * A claim by its name, or by a path of names with dots between, such as `realm_access.roles`. Names may hold dots
 * themselves, as claims that are addresses do: the name as a whole comes first, then the longest beginning.
 */
export function claimAt(claims: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(claims, name)) return claims[name];
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const beginning = name.slice(0, dot);
    const below = Object.hasOwn(claims, beginning) ? claims[beginning] : undefined;
    if (typeof below !== 'object' || below === null || Array.isArray(below)) continue;
    const found = claimAt(below as JsonObject, name.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function id(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longestId ? value : null;
}

/** A prefix alone names no group, and stays as it is. */
function without(name: string, prefix = ''): string {
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : name;
}

/** A list of names, or a text of them with the separator between: blanks, as the standard claim `scope` is written. */
function list(value: JsonValue | undefined, separator = ' '): readonly string[] | null {
  if (value === undefined || value === null) return [];
  const names: readonly JsonValue[] | null =
    typeof value === 'string' ? split(value, separator) : Array.isArray(value) ? value : null;
  if (names === null || names.length > mostNames) return null;
  const texts = names.map(id);
  return texts.every((text) => text !== null) ? [...new Set(texts)] : null;
}

function split(text: string, separator: string): readonly string[] {
  return text
    .split(separator)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
