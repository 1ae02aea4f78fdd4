import { ToolUserError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import type { GraphNode, GraphRelationship } from './store.js';

export type Value = JsonValue | bigint | GraphNode | GraphRelationship | undefined | readonly Value[];

/** What a value of a query may hold: characters of a text, or elements of a list with those within them. */
const largest = 20_000;

const sizes = new WeakMap<object, number>();

/** A list that holds a list twice holds it twice, however it is kept. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return 1 + value.length / 16;
  if (!Array.isArray(value)) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 1;
  for (const each of value as readonly Value[]) size += sizeOf(each);
  sizes.set(value, size);
  return size;
}

/** Throws ToolUserError for a value that grew too large. */
export function requireSmall(value: Value): Value {
  if (typeof value === 'string' && value.length > largest)
    throw new ToolUserError('The query makes a text that is too long.');
  if (Array.isArray(value) && sizeOf(value) > largest)
    throw new ToolUserError('The query makes a list that is too long. Narrow it down.');
  return value;
}
