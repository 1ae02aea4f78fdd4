import { isDeeperThan, deepestJson, isJsonObject, isRawNumber, parseExactJson, utf8Length } from '@sluice/core';
import type { JsonObject, JsonValue, Step } from '@sluice/core';
import { kindsAt } from './kinds.js';
import type { Kind } from './kinds.js';

/** The member by which a value in a step’s arguments is the result of a step before it. */
const referenceName = '$step';

/** The two ways to write a reference, as a refusal shows them. */
export const referenceForm = '{"$step": 1} for the result of step 1, {"$step": 1, "path": "/name"} for a part of it';

/** A value in the arguments of a planned step that stands for the result of another one. */
export interface Reference {
  /** The number of that step, from 1. */
  readonly step: number;
  /** Where in the result, as names and indexes from its root; empty for all of it. */
  readonly path: readonly string[];
  /** Where in the arguments it stands. */
  readonly at: readonly string[];
}

/**
 * The references in the arguments of a step; `malformed` has where something has the member of a reference and is
 * none.
 */
export function referencesIn(args: JsonValue): {
  readonly references: readonly Reference[];
  readonly malformed: readonly (readonly string[])[];
} {
  const references: Reference[] = [];
  const malformed: (readonly string[])[] = [];
  if (isDeeperThan(args, deepestJson)) return { references, malformed };
  const look = (value: JsonValue, at: readonly string[]): void => {
    if (Array.isArray(value)) return void value.forEach((item: JsonValue, index) => look(item, [...at, `${index}`]));
    if (!isJsonObject(value)) return;
    if (!Object.hasOwn(value, referenceName)) {
      for (const [name, member] of Object.entries(value)) look(member, [...at, name]);
      return;
    }
    const reference = referenceOf(value, at);
    if (reference === null) malformed.push(at);
    else references.push(reference);
  };
  look(args, []);
  return { references, malformed };
}

function referenceOf(value: JsonObject, at: readonly string[]): Reference | null {
  const { [referenceName]: written, path: pointer = '', ...more } = value;
  const step = isRawNumber(written) ? Number(written.rawJSON) : written;
  if (typeof step !== 'number' || !Number.isInteger(step) || typeof pointer !== 'string') return null;
  if (Object.keys(more).length > 0 || (pointer !== '' && !pointer.startsWith('/'))) return null;
  const path = pointer.split('/').slice(1);
  return { step, path: path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')), at };
}

/** Arguments with results in their places, or why they cannot be had so, as a clause. */
type Filled = { readonly arguments: string } | { readonly missing: string };

/**
 * The arguments of a step as it is called: as they were planned where they name no result, and with the results in
 * place of what names one. `results` has the steps that succeeded, in order; a value that the tool’s schema does not
 * take there is not filled in.
 */
export function filled(text: string, results: readonly Step[], schema: JsonObject | null, most: number): Filled {
  // Quick, and true of most plans.
  if (!text.includes(referenceName) && !text.includes('\\u')) return { arguments: text };
  const args = parsed(text) ?? null;
  const { references } = referencesIn(args);
  if (references.length === 0) return { arguments: text };
  const values = new Map<string, JsonValue>();
  for (const { step, path, at } of references) {
    const kinds = kindsAt(schema, at);
    const value = valueAt(results[step - 1], path, kinds);
    if (value === undefined) return { missing: `the result of step ${step} has no ${named(path, kinds)}` };
    values.set(key(at), value);
  }
  const whole = JSON.stringify(withValues(args, [], values));
  const bytes = utf8Length(whole);
  return bytes > most
    ? { missing: `with the results in their places they have ${bytes} bytes, and may have ${most}` }
    : { arguments: whole };
}

function named(path: readonly string[], kinds: readonly Kind[] | null): string {
  const place = path.length === 0 ? '' : ` at ${pointerOf(path)}`;
  return kinds === null ? `value${place}` : `${kinds.join(' or ')}${place}`;
}

export function pointerOf(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * What a recorded result has there, if it is of one of the kinds. A step’s record has a text as it is, and JSON text
 * of all else.
 */
function valueAt(
  step: Step | undefined,
  path: readonly string[],
  kinds: readonly Kind[] | null,
): JsonValue | undefined {
  if (step === undefined) return undefined;
  const { observation } = step;
  const whole = parsed(observation);
  if (path.length === 0) {
    const isText = whole === undefined || typeof whole !== 'object' || isRawNumber(whole);
    if (isText && (kinds?.includes('string') === true || whole === undefined || typeof whole === 'string'))
      return fits(observation, kinds) ? observation : undefined;
    return whole !== undefined && fits(whole, kinds) ? whole : undefined;
  }
  let at: JsonValue | undefined = whole;
  for (const part of path) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(part) ? (at as readonly JsonValue[])[Number(part)] : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  }
  return at !== undefined && fits(at, kinds) ? at : undefined;
}

function parsed(observation: string): JsonValue | undefined {
  try {
    return parseExactJson(observation);
  } catch {
    return undefined;
  }
}

function fits(value: JsonValue, kinds: readonly Kind[] | null): boolean {
  if (kinds === null) return true;
  const is = kindOf(value);
  return kinds.includes(is) || (is === 'integer' && kinds.includes('number'));
}

function kindOf(value: JsonValue): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isRawNumber(value)) return Number.isInteger(Number(value.rawJSON)) ? 'integer' : 'number';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    default:
      return 'object';
  }
}

function key(at: readonly string[]): string {
  return JSON.stringify(at);
}

function withValues(value: JsonValue, at: readonly string[], values: ReadonlyMap<string, JsonValue>): JsonValue {
  const found = values.get(key(at));
  if (found !== undefined) return found;
  if (Array.isArray(value)) return value.map((item: JsonValue, index) => withValues(item, [...at, `${index}`], values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, withValues(of, [...at, name], values)]));
}
