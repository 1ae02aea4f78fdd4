import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { escaped, nestedByName } from './input-schema.js';
import { dialectOf, found } from './schema-reference.js';
import type { Dialect } from './schema-reference.js';

/** The name of a schema without one, which no reference to another document has. */
const unnamed = 'schema://root/';
/** Keywords that hold values, in which nothing is a schema. */
const values = new Set(['const', 'default', 'enum', 'example', 'examples']);
const byName = new Set<string>([...nestedByName, 'patternProperties']);
const anchors = ['$anchor', '$dynamicAnchor'] as const;

/** A schema in the document: where it stands, and what references in it are counted from. */
interface Visited {
  readonly schema: JsonObject;
  readonly pointer: string;
  readonly base: string;
}

/**
 * A schema in which every reference to a part of itself is a JSON pointer from its root: also one by the part’s
 * `$id`, by an anchor, or from within a part that has an `$id`. References to what is not in it stay as they are. The
 * same object where no part has a name.
 */
export function withLocalReferences(root: JsonObject): JsonObject {
  const dialect = dialectOf(root);
  const places = new Map<string, string>();
  let hasNames = false;
  visit(root, { pointer: '', base: unnamed }, dialect, ({ schema, pointer, base }) => {
    const isNamed = idOf(schema, dialect) !== null;
    if (isNamed || pointer === '') note(places, base, pointer);
    for (const key of anchors) if (typeof schema[key] === 'string') note(places, `${base}#${schema[key]}`, pointer);
    const anchor = anchorOf(schema, dialect);
    if (anchor !== null) note(places, `${base}#${anchor}`, pointer);
    hasNames ||= isNamed || anchor !== null || anchors.some((key) => typeof schema[key] === 'string');
  });
  if (!hasNames) return root;
  return rewritten(root, { pointer: '', base: unnamed }, { root, dialect, places }) as JsonObject;
}

/** Of two with one name the first counts. */
function note(places: Map<string, string>, name: string, pointer: string): void {
  if (!places.has(name)) places.set(name, pointer);
}

/** The name that references inside the schema are counted from; null for one that has none. */
function idOf(schema: JsonObject, { id, refStandsAlone }: Dialect): string | null {
  const name = schema[id];
  if (typeof name !== 'string' || name.startsWith('#')) return null;
  return refStandsAlone && Object.hasOwn(schema, '$ref') ? null : name;
}

/** As drafts up to 7 write an anchor. */
function anchorOf(schema: JsonObject, { id }: Dialect): string | null {
  const name = schema[id];
  return typeof name === 'string' && name.startsWith('#') && name.length > 1 ? name.slice(1) : null;
}

function baseWithin(schema: JsonObject, base: string, dialect: Dialect): string {
  const name = idOf(schema, dialect);
  return name === null ? base : (resolved(name, base)?.split('#')[0] ?? base);
}

function resolved(reference: string, base: string): string | null {
  return URL.canParse(reference, base) ? new URL(reference, base).href : null;
}

function visit(
  schema: JsonValue,
  { pointer, base: around }: Omit<Visited, 'schema'>,
  dialect: Dialect,
  onSchema: (visited: Visited) => void,
): void {
  if (Array.isArray(schema)) {
    for (const [at, item] of schema.entries())
      visit(item as JsonValue, { pointer: `${pointer}/${String(at)}`, base: around }, dialect, onSchema);
    return;
  }
  if (!isJsonObject(schema)) return;
  const base = baseWithin(schema, around, dialect);
  onSchema({ schema, pointer, base });
  for (const [key, value] of Object.entries(schema)) {
    if (values.has(key)) continue;
    const place = `${pointer}/${step(key)}`;
    if (!byName.has(key) || !isJsonObject(value)) visit(value, { pointer: place, base }, dialect, onSchema);
    else
      for (const [name, one] of Object.entries(value))
        visit(one, { pointer: `${place}/${step(name)}`, base }, dialect, onSchema);
  }
}

interface Known {
  readonly root: JsonObject;
  readonly dialect: Dialect;
  readonly places: ReadonlyMap<string, string>;
}

function rewritten(value: JsonValue, at: Omit<Visited, 'schema'>, known: Known): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => rewritten(item, { ...at, pointer: '-' }, known));
  if (!isJsonObject(value)) return value;
  const base = baseWithin(value, at.base, known.dialect);
  const inside = { pointer: '-', base };
  const entries = Object.entries(value).flatMap(([key, one]): [string, JsonValue][] => {
    if (values.has(key)) return [[key, one]];
    if (key === known.dialect.id && typeof one === 'string' && at.pointer !== '') return [];
    if (key === '$ref' && typeof one === 'string') return [[key, localised(one, base, known)]];
    if (!byName.has(key) || !isJsonObject(one)) return [[key, rewritten(one, inside, known)]];
    const named = Object.entries(one).map(([name, schema]) => [name, rewritten(schema, inside, known)]);
    return [[key, Object.fromEntries(named) as JsonObject]];
  });
  return Object.fromEntries(entries);
}

/** Many servers count from the root where they should not: that holds where nothing is there otherwise. */
function localised(reference: string, base: string, { root, places }: Known): string {
  const whole = resolved(reference, base);
  if (whole === null) return reference;
  const [document = '', fragment = ''] = whole.split('#');
  const anchored = places.get(whole);
  if (fragment !== '' && anchored !== undefined) return `#${anchored}`;
  const place = places.get(document);
  if (place === undefined || (fragment !== '' && !fragment.startsWith('/'))) return reference;
  const own = `#${place}${fragment}`;
  return found(root, own) === null && reference.startsWith('#') ? reference : own;
}

/** A name as a step of a JSON pointer in a URI’s fragment. */
function step(name: string): string {
  return encodeURIComponent(escaped(name));
}
