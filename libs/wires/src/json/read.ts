import { isJsonObject, type JsonObject } from '@sluice/core';
import { faults, type Notes } from '../diagnosis.js';

/**
 * Reads values of unknown origin: null counts as absent, and a value of another type is a fault that names its field.
 * `at` is the path of the object that holds the field, '' for the outermost.
 */
type Holder = Readonly<Record<string, unknown>>;

const path = (at: string, name: string | number): string =>
  typeof name === 'number' ? `${at}[${String(name)}]` : at === '' ? name : `${at}.${name}`;

export function text(holder: Holder, name: string, at: string): string | undefined {
  const value = holder[name];
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  throw faults.wrongType(`\`${path(at, name)}\``, 'a text');
}

export function integer(holder: Holder, name: string, at: string): number | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw faults.wrongType(`\`${path(at, name)}\``, 'a whole number');
}

export function object(holder: Holder, name: string, at: string): JsonObject | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  throw faults.wrongType(`\`${path(at, name)}\``, 'an object');
}

function list(holder: Holder, name: string, at: string): readonly unknown[] {
  const value = holder[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw faults.wrongType(`\`${path(at, name)}\``, 'a list');
}

/** The items of a list, each an object, with the path of each. */
export function objects(holder: Holder, name: string, at: string): readonly JsonObject[] {
  const items = list(holder, name, at);
  items.forEach((item, index) => {
    if (!isJsonObject(item)) throw faults.wrongType(`\`${path(path(at, name), index)}\``, 'an object');
  });
  return items as readonly JsonObject[];
}

/** A count of tokens: anything but a whole number from zero is ignored and counted. */
export function tokens(holder: Holder | undefined, name: string, notes: Notes): number {
  const value = holder?.[name];
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  notes.add('bad_usage', name);
  return 0;
}

/** Counts the fields of an object that this library does not know. */
export function countUnknown(holder: Holder, known: ReadonlySet<string>, at: string, notes: Notes): void {
  for (const name in holder) if (!known.has(name)) notes.add('unknown_field', path(at, name));
}
