import type { JsonValue } from '../json.js';

/** A value of a record as it is after the wire: without what is absent, and texts as UTF-8 carries them, which splits no surrogate pair. */
export function essence(value: unknown): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.every(isWellFormed) ? value : value.map(essence);
  if (typeof value !== 'object' || value === null) return null;
  const members: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member !== null && member !== undefined) members[name.toWellFormed()] = essence(member);
  }
  return members;
}

function isWellFormed(item: unknown): item is string {
  return typeof item === 'string' && item.isWellFormed();
}
