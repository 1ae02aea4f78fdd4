import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';
import { isDeeperThan, jsonBytes, JsonTooLargeError } from '../plain-json.js';
import { deepestSchema, escaped, nested, nestedByName, pathShown } from './input-schema.js';
import { annotations, holdsNull, isNullable, joined } from './joined-schemas.js';
import { oneOfMany } from './one-of-many.js';
import { quote } from './problems.js';
import { dialectOf, found, ownBase } from './schema-reference.js';
import type { Dialect } from './schema-reference.js';

export interface SimpleSchema {
  /** What to offer; without meaning if there are problems. */
  readonly schema: JsonObject;
  /** JSON pointers into it, as a sentence shows them, where something else stood. */
  readonly places: readonly string[];
  /** Why a reference could not be put in place, a sentence each. What else cannot be taken is left in the schema as it was. */
  readonly problems: readonly string[];
}

/** Not `contains`: a stricter schema there would let more pass beside `maxContains`. */
const inPlace = new Set<string>(nested);
inPlace.delete('contains');
const byName = new Set<string>(nestedByName);

/** What only serves references, which are gone afterwards; of a name that is a text, so that a definition may stand in two places. */
const definitions = new Set(['definitions', '$defs']);
const names = new Set(['$id', 'id', '$anchor', '$dynamicAnchor']);

const unions = ['allOf', 'anyOf', 'oneOf'] as const;
const dynamic = ['$dynamicRef', '$recursiveRef'] as const;

/**
 * A server's input schema in the plain subset of models, as far as it can be written there without allowing anything that it does not allow:
 * references to definitions put in place, a schema or null as the schema, a choice among
 * constants as one `enum`. Takes a schema of at most `mostBytes` bytes and 64 levels, and puts no more than that in place of references.
 */
export function simplify(schema: JsonObject, mostBytes: number): SimpleSchema {
  const work = new Simplification(schema, mostBytes);
  try {
    const simple = work.simple(schema, '');
    if (isDeeperThan(simple, deepestSchema))
      return refused(schema, `is nested deeper than ${String(deepestSchema)} levels`);
    jsonBytes(simple, mostBytes);
    return { schema: simple, places: [...work.places], problems: work.problems };
  } catch (error) {
    if (!(error instanceof JsonTooLargeError)) throw error;
    return refused(schema, `has more than ${String(mostBytes)} bytes`);
  }
}

function refused(schema: JsonObject, why: string): SimpleSchema {
  const problem = `The input schema ${why} once its references are put in place, which is the limit.`;
  return { schema, places: [], problems: [problem] };
}

class Simplification {
  readonly places = new Set<string>();
  readonly problems: string[] = [];
  /** Schemas that are being simplified, the outermost first: what one of them refers to must not be among them. */
  private readonly around: JsonObject[] = [];
  /** How often null was taken out of what is allowed. */
  private nulls = 0;
  private readonly dialect: Dialect;

  constructor(
    private readonly root: JsonObject,
    private bytesLeft: number,
  ) {
    this.dialect = dialectOf(root);
  }

  simple(schema: JsonObject, path: string): JsonObject {
    this.around.push(schema);
    const nullsBefore = this.nulls;
    let whole = this.own(schema, path);
    for (const keyword of dynamic) {
      if (Object.hasOwn(schema, keyword)) this.refuse(keyword, path, ', which is not supported.');
    }
    if (Object.hasOwn(schema, '$ref')) whole = this.withReferred(whole, schema['$ref'], path);
    for (const union of unions) {
      if (Object.hasOwn(schema, union)) whole = this.withOne(whole, union, schema[union], path);
    }
    this.around.pop();
    return this.nulls > nullsBefore ? withoutDefaultOfNull(whole) : whole;
  }

  /** Everything but references and unions. */
  private own(schema: JsonObject, path: string): JsonObject {
    const taken = Object.entries(schema).flatMap(([key, value]): [string, JsonValue][] => {
      if (key === '$ref' || unions.some((union) => union === key) || definitions.has(key)) return [];
      if (names.has(key) && typeof value === 'string') return [];
      return [[key, this.inside(key, value, `${path}/${key}`)]];
    });
    return Object.fromEntries(taken);
  }

  private inside(key: string, value: JsonValue, path: string): JsonValue {
    if (byName.has(key) && isJsonObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, this.item(one, `${path}/${escaped(name)}`)]),
      );
    if (!inPlace.has(key)) return value;
    if (!Array.isArray(value)) return this.item(value, path);
    return value.map((one: JsonValue, at) => this.item(one, `${path}/${String(at)}`));
  }

  private item(value: JsonValue, path: string): JsonValue {
    return isJsonObject(value) ? this.simple(value, path) : value;
  }

  /** What a `$ref` names, put beside what stands there: both must hold, as drafts from 2019 on say; earlier ones ask for less. */
  private withReferred(own: JsonObject, reference: JsonValue | undefined, path: string): JsonObject {
    const target = this.referred(reference, path);
    if (target === null) return own;
    this.bytesLeft -= jsonBytes(target, this.bytesLeft);
    const whole = this.together(own, this.simple(target, path), path);
    if (whole === null) this.refuse('$ref', path, ' beside keywords that the schema it names has too.');
    return whole ?? own;
  }

  /** What both allow, if it can be said in one schema: that is noted, and whether null went away with it. */
  private together(own: JsonObject, part: JsonObject, path: string): JsonObject | null {
    const whole = joined(own, part);
    if (whole === null) return null;
    // As a sentence shows it: long names at a thousand places would be a lot to keep, and to compare.
    this.places.add(pathShown(path));
    if (isNullable(own) || isNullable(part)) this.nulls++;
    return whole;
  }

  private referred(reference: JsonValue | undefined, path: string): JsonObject | null {
    if (typeof reference !== 'string') return this.refuse('$ref', path, ', which is not supported.');
    if (!reference.startsWith('#')) return this.refuse('$ref', path, ' for another document, and nothing is fetched.');
    const name = quote(reference);
    if (this.around.some((one, at) => at > 0 && ownBase(one, this.dialect)))
      return this.refuse('$ref', path, ` for ${name} in a schema with an \`$id\` of its own, which is not supported.`);
    const target = found(this.root, reference, this.dialect);
    if (target === null) return this.refuse('$ref', path, ` for ${name}, where it has no schema.`);
    if (this.around.includes(target))
      return this.refuse(
        '$ref',
        path,
        ` for ${name}, which it is a part of: a schema that refers to itself has no end.`,
      );
    if (this.around.length >= deepestSchema)
      return this.refuse('$ref', path, ` behind ${String(deepestSchema)} others, which is the limit.`);
    return target;
  }

  /** The one schema that a union comes down to, put beside what stands there; the union itself where it does not. */
  private withOne(
    own: JsonObject,
    union: (typeof unions)[number],
    value: JsonValue | undefined,
    path: string,
  ): JsonObject {
    const branches = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
    const one =
      branches.every(isJsonObject) && !this.mayWiden(union, branches)
        ? oneOfMany(union, branches.map((branch) => this.simple(branch, path))) // prettier-ignore
        : null;
    const whole = one === null ? null : this.together(own, one, path);
    if (whole === null) return { ...own, [union]: value as JsonValue };
    if (branches.length > 1) this.nulls++;
    return whole;
  }

  /** A branch of a `oneOf` that is stricter than the server reads it lets more through: where what stands beside a `$ref` does not count. */
  private mayWiden(union: (typeof unions)[number], branches: readonly JsonObject[]): boolean {
    if (union !== 'oneOf' || branches.length < 2 || !this.dialect.refStandsAlone) return false;
    return branches.some((branch) => {
      const says = Object.keys(branch).filter((key) => key !== '$ref' && !annotations.has(key));
      return Object.hasOwn(branch, '$ref') && says.length > 0;
    });
  }

  private refuse(construct: string, path: string, why: string): null {
    this.problems.push(`The input schema uses \`${construct}\` at ${pathShown(path)}${why}`);
    return null;
  }
}

/** It would be filled in where nothing is given, and then refused; the server fills in its own. */
function withoutDefaultOfNull(schema: JsonObject): JsonObject {
  if (!holdsNull(schema['default'])) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'default'));
}
