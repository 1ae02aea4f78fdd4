import type { ClaimNames } from '../configuration/types.js';
import type { JsonObject, JsonValue } from '../json.js';
import { wellFormed } from '../well-formed.js';
import type { Principal } from './principal.js';

/** Longest id taken from a claim, in UTF-16 units, and most names of one list: what is in a principal travels in every record. */
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
  const actor = id(claims[names.actor]);
  const tenant = id(claims[names.tenant]);
  const subject = names.subject === null ? null : claims[names.subject];
  const groups = list(claims[names.groups]);
  const connections = names.connections === null ? [] : list(claims[names.connections]);
  if (actor === null) return { problem: `its claim "${names.actor}" names nobody` };
  if (tenant === null) return { problem: `its claim "${names.tenant}" names no tenant` };
  if (groups === null) return { problem: `its claim "${names.groups}" is no list of groups` };
  if (connections === null) return { problem: `its claim "${names.connections ?? ''}" is no list of connections` };
  const onBehalf = subject === undefined || subject === null ? null : id(subject);
  if (onBehalf === null && subject !== undefined && subject !== null)
    return { problem: `its claim "${names.subject ?? ''}" names nobody` };
  const subjectId = onBehalf === null ? null : `user:${onBehalf}`;
  return { principal: { actorId: `user:${actor}`, tenantId: tenant, subjectId, groups, connections } };
}

function id(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longestId ? value : null;
}

/** A list of names, or a text of them with spaces between, as the standard claim `scope` is written. */
function list(value: JsonValue | undefined): readonly string[] | null {
  if (value === undefined || value === null) return [];
  const names: readonly JsonValue[] | null =
    typeof value === 'string' ? value.split(' ').filter((name) => name !== '') : Array.isArray(value) ? value : null;
  if (names === null || names.length > mostNames) return null;
  const texts = names.map(id);
  return texts.every((text) => text !== null) ? [...new Set(texts)] : null;
}
