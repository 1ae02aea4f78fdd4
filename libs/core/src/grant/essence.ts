import type { JsonValue } from '../json.js';
import { wellFormed } from '../well-formed.js';

/** A value of a record as it is after the wire: without what is absent, and well-formed. */
export function essence(value: unknown): JsonValue {
  return present(wellFormed(value));
}

function present(value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? value : value.map(present);
  if (typeof value !== 'object' || value === null) return null;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, present(member)]));
}
