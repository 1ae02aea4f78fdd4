import { isDeeperThan, isJsonObject, jsonBytes, JsonTooLargeError, quote } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { areDisjoint } from './disjoint-schemas.js';
import { constructsIn, deepestSchema, escaped, nested, nestedByName, pathShown } from './input-schema.js';
import { holdsNull, isAnnotation, isNullable, joined } from './joined-schemas.js';
import { isOnlyNull, oneOfMany, refusesNull } from './one-of-many.js';
import { dialectOf, found } from './schema-reference.js';
import type { Dialect } from './schema-reference.js';
import { soundSchema } from './sound-schema.js';

export interface SimpleSchema {
  /** What to offer; without meaning if there are problems. */
  readonly schema: JsonObject;
  /** JSON pointers into it, as a sentence shows them, where something else stood. */
  readonly places: readonly string[];
  /** Where only one of several alternatives is offered, a phrase each. */
  readonly narrowed: readonly string[];
  /** JSON pointers into it to what the server lets be null. */
  readonly nulls: readonly string[];
  /**
   * Why a reference could not be put in place, a sentence each. What else cannot be taken is left in the schema as it
   * was.
   */
  readonly problems: readonly string[];
}

/** Not `contains`: a stricter schema there would let more pass beside `maxContains`. */
const inPlace = new Set<string>(nested);
inPlace.delete('contains');
const byName = new Set<string>(nestedByName);

/**
 * What only serves references, which are gone afterwards; of a name that is a text, so that a definition may stand in
 * two places.
 */
const definitions = new Set(['definitions', '$defs']);
const names = new Set(['$id', 'id', '$anchor', '$dynamicAnchor']);

const choices = ['anyOf', 'oneOf'] as const;
const unions = ['allOf', ...choices] as const;
const splitIt = 'Describe it on the server as one schema, or as one tool for each alternative.';
const dynamic = ['$dynamicRef', '$recursiveRef'] as const;

/**
 * A server's input schema in the plain subset of models, as far as it can be written there without allowing anything
 * that it does not allow: references to definitions put in place, a schema or null as the schema, a choice among
 * constants as one `enum`. Takes a schema of at most `mostBytes` bytes and 64 levels, and puts no more than that in
 * place of references.
 */
export function simplify(schema: JsonObject, mostBytes: number): SimpleSchema {
  const work = new Simplification(schema, mostBytes);
  try {
    const simple = work.simple(schema, '');
    if (isDeeperThan(simple, deepestSchema))
      return refused(schema, `is nested deeper than ${String(deepestSchema)} levels`);
    jsonBytes(simple, mostBytes);
    const { narrowed, problems } = work;
    const [places, nulls] = [[...new Set(work.places)], [...new Set(work.nullable)]];
    return { schema: simple, places, narrowed, nulls, problems };
  } catch (error) {
    if (!(error instanceof JsonTooLargeError)) throw error;
    return refused(schema, `has more than ${String(mostBytes)} bytes`);
  }
}

function refused(schema: JsonObject, why: string): SimpleSchema {
  const problem = `The input schema ${why} once its references are put in place, which is the limit.`;
  return { schema, places: [], narrowed: [], nulls: [], problems: [problem] };
}

interface Attempt {
  readonly schema: JsonObject | null;
  readonly places: readonly string[];
  readonly narrowed: readonly string[];
  readonly nullable: readonly string[];
  readonly maybeNullable: readonly string[];
  readonly problems: readonly string[];
}

interface Choice {
  readonly choice: (typeof choices)[number];
  readonly branches: readonly JsonObject[];
  readonly attempts: readonly Attempt[];
}

class Simplification {
  readonly places: string[] = [];
  readonly narrowed: string[] = [];
  readonly nullable: string[] = [];
  /** Where null may be allowed: something stands beside what takes it. */
  private readonly maybeNullable: string[] = [];
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
    const [nullsBefore, nullableBefore] = [this.nulls, this.nullable.length];
    let whole = this.own(schema, path);
    for (const keyword of dynamic) {
      if (Object.hasOwn(schema, keyword)) this.refuse(keyword, path, ', which is not supported.');
    }
    if (Object.hasOwn(schema, '$ref')) whole = this.withReferred(whole, schema['$ref'], path);
    if (Object.hasOwn(schema, 'allOf')) whole = this.withAll(whole, schema['allOf'], path);
    for (const choice of choices) {
      if (Object.hasOwn(schema, choice)) whole = this.withOne(whole, choice, schema[choice], path);
    }
    this.around.pop();
    // What stands beside it may refuse null.
    if (!saysOneThing(schema)) {
      const inside = this.nullable.splice(nullableBefore);
      this.nullable.push(...inside.filter((place) => place !== path));
      if (inside.includes(path)) this.maybeNullable.push(path);
    }
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

  /**
   * What a `$ref` names, put beside what stands there: both must hold, as drafts from 2019 on say; earlier ones ask
   * for less.
   */
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
    this.places.push(pathShown(path));
    if (isNullable(own) || isNullable(part)) this.tookNull(path);
    return whole;
  }

  private tookNull(path: string): void {
    this.nulls++;
    this.nullable.push(path);
  }

  private referred(reference: JsonValue | undefined, path: string): JsonObject | null {
    if (typeof reference !== 'string') return this.refuse('$ref', path, ', which is not supported.');
    if (!reference.startsWith('#')) return this.refuse('$ref', path, ' for another document, and nothing is fetched.');
    const name = quote(reference);
    const target = found(this.root, reference);
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

  /** All the parts of an `allOf`, put beside what stands there. */
  private withAll(own: JsonObject, value: JsonValue | undefined, path: string): JsonObject {
    let whole = own;
    for (const part of Array.isArray(value) ? (value as readonly JsonValue[]) : [null]) {
      const next = isJsonObject(part) ? this.together(whole, this.simple(part, path), path) : null;
      if (next === null) {
        this.refuse(
          'allOf',
          path,
          ', whose parts cannot be said in one schema. Describe it on the server as one schema.',
        );
        return own;
      }
      whole = next;
    }
    return whole;
  }

  /**
   * The one schema that a choice comes down to, put beside what stands there; else its first alternative that can be
   * said and allows nothing that the server does not.
   */
  private withOne(
    own: JsonObject,
    choice: (typeof choices)[number],
    value: JsonValue | undefined,
    path: string,
  ): JsonObject {
    const branches = alternatives(value);
    if (branches === null) {
      this.refuse(choice, path, `, which is not supported. ${splitIt}`);
      return own;
    }
    const [places, narrowed, nullable] = [this.places.length, this.narrowed.length, this.nullable.length];
    const attempts = branches.map((branch) => this.attempt(branch, path));
    const simple = attempts.flatMap(({ schema }) => (schema === null ? [] : [schema]));
    const one =
      simple.length === branches.length && !this.mayWiden(choice, branches) ? oneOfMany(choice, simple) : null;
    const whole = one === null ? null : this.together(own, one, path);
    if (whole !== null) {
      if (branches.length > 1) this.nulls++;
      this.nullable.length = nullable;
      for (const attempt of attempts) this.nullable.push(...nullableIn(attempt, choice, path, branches.length));
      if (!isOnlyNull(whole) && !refusesNull(own)) this.noteNull(choice, attempts, path);
      return whole;
    }
    this.places.length = places;
    this.narrowed.length = narrowed;
    this.nullable.length = nullable;
    return this.withFirst(own, { choice, branches, attempts }, path);
  }

  private withFirst(own: JsonObject, { choice, branches, attempts }: Choice, path: string): JsonObject {
    for (const [at, { schema: branch, places, narrowed }] of attempts.entries()) {
      if (branch === null || isOnlyNull(branch)) continue;
      const others = branches.filter((_, other) => other !== at);
      const candidates =
        choice === 'anyOf' ? [branch] : [branch, closed(branch)].filter((one) => this.excludes(one, others));
      const whole = candidates.map((one) => joined(own, one)).find((one) => one !== null);
      if (whole === undefined) continue;
      this.places.push(...places);
      const phrase = `only alternative ${String(at + 1)} of ${String(branches.length)} at ${pathShown(path)}`;
      this.narrowed.push(phrase, ...narrowed);
      this.nullable.push(
        ...(attempts[at] === undefined ? [] : nullableIn(attempts[at], choice, path, branches.length)),
      );
      if (!refusesNull(own)) this.noteNull(choice, attempts, path);
      // It may be a value of another alternative.
      return without(whole, ['default', 'discriminator']);
    }
    const [only, ...more] = attempts.filter(({ schema }) => schema === null || !isOnlyNull(schema));
    if (only !== undefined && more.length === 0 && only.problems.length > 0) {
      this.problems.push(...only.problems);
      return own;
    }
    const reason = attempts.flatMap(({ problems }) => problems)[0];
    const why = reason ?? 'a value may fit several of them, or what stands beside them says something else.';
    this.refuse(choice, path, `, and none of its alternatives can be offered alone: ${why} ${splitIt}`);
    return own;
  }

  private noteNull(choice: Choice['choice'], attempts: readonly Attempt[], path: string): void {
    if (allowsNull(choice, attempts, path)) this.nullable.push(path);
    else if (attempts.some((one) => mayTakeNull(one, path))) this.maybeNullable.push(path);
  }

  /** Whether nothing fits both the alternative and another one, as a `oneOf` demands. */
  private excludes(one: JsonObject, others: readonly JsonObject[]): boolean {
    return others.every((other) => areDisjoint(one, other, (schema) => this.followed(schema)));
  }

  private followed(schema: JsonObject): JsonObject | null {
    let at = schema;
    for (let steps = 0; Object.hasOwn(at, '$ref'); steps++) {
      const reference = at['$ref'];
      if (typeof reference !== 'string' || !reference.startsWith('#') || steps > deepestSchema) return null;
      const target = found(this.root, reference);
      if (target === null) return null;
      at = target;
    }
    return at;
  }

  /** An alternative by itself: null where it cannot be offered, and why. Notes nothing yet. */
  private attempt(branch: JsonObject, path: string): Attempt {
    const [places, narrowed, nullable, maybeNullable, problems] = [
      this.places.length,
      this.narrowed.length,
      this.nullable.length,
      this.maybeNullable.length,
      this.problems.length,
    ];
    const schema = this.simple(branch, path);
    const why = [...this.problems.splice(problems), ...constructsIn(schema, path), ...soundSchema(schema).problems];
    return {
      schema: why.length > 0 ? null : schema,
      places: this.places.slice(places),
      narrowed: this.narrowed.slice(narrowed),
      nullable: this.nullable.slice(nullable),
      maybeNullable: this.maybeNullable.splice(maybeNullable),
      problems: why,
    };
  }

  /**
   * A branch of a `oneOf` that is stricter than the server reads it lets more through: where what stands beside a
   * `$ref` does not count.
   */
  private mayWiden(choice: (typeof choices)[number], branches: readonly JsonObject[]): boolean {
    if (choice !== 'oneOf' || branches.length < 2 || !this.dialect.refStandsAlone) return false;
    return branches.some((branch) => {
      const says = Object.keys(branch).filter((key) => key !== '$ref' && !isAnnotation(key));
      return Object.hasOwn(branch, '$ref') && says.length > 0;
    });
  }

  private refuse(construct: string, path: string, why: string): null {
    this.problems.push(`The input schema uses \`${construct}\` at ${pathShown(path)}${why}`);
    return null;
  }
}

/**
 * Where an alternative takes null; at its own place only what holds for the whole choice counts, where another one
 * may take it too.
 */
function nullableIn(
  { nullable }: Attempt,
  choice: Choice['choice'],
  path: string,
  alternatives: number,
): readonly string[] {
  return choice === 'anyOf' || alternatives === 1 ? nullable : nullable.filter((place) => place !== path);
}

/** Whether one of the alternatives is null; of a `oneOf` that none but it takes null must be plain. */
function allowsNull(choice: Choice['choice'], attempts: readonly Attempt[], path: string): boolean {
  const others = attempts.filter(({ schema }) => schema === null || !isOnlyNull(schema));
  if (choice === 'anyOf') return others.length < attempts.length;
  return (
    others.length === attempts.length - 1 &&
    others.every((one) => one.schema !== null && refusesNull(one.schema) && !mayTakeNull(one, path))
  );
}

function mayTakeNull({ schema, nullable, maybeNullable }: Attempt, path: string): boolean {
  return (schema !== null && isOnlyNull(schema)) || nullable.includes(path) || maybeNullable.includes(path);
}

/** Whether nothing but one reference or union says what the schema allows. */
function saysOneThing(schema: JsonObject): boolean {
  const says = Object.keys(schema).filter(
    (key) => !isAnnotation(key) && !definitions.has(key) && !names.has(key) && !['nullable', '$schema'].includes(key),
  );
  const { allOf } = schema;
  return says.length === 1 && (!Array.isArray(allOf) || allOf.length === 1);
}

/** It would be filled in where nothing is given, and then refused; the server fills in its own. */
function withoutDefaultOfNull(schema: JsonObject): JsonObject {
  return holdsNull(schema['default']) ? without(schema, ['default']) : schema;
}

function without(schema: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

/** An object that takes no other names than its own; the schema as it is where it names none. */
function closed(schema: JsonObject): JsonObject {
  const isOpen = schema['type'] === 'object' && isJsonObject(schema['properties']);
  return isOpen && !isJsonObject(schema['additionalProperties']) ? { ...schema, additionalProperties: false } : schema;
}

/** The schemas of a choice, without those that allow nothing; null where there are none, or one allows everything. */
function alternatives(value: JsonValue | undefined): readonly JsonObject[] | null {
  const all = Array.isArray(value) ? value.filter((one: JsonValue) => !allowsNothing(one)) : [];
  const schemas = all.filter((one): one is JsonObject => isJsonObject(one));
  return schemas.length === 0 || schemas.length < all.length ? null : schemas;
}

/** As zod’s translators write `undefined` and `never`. */
function allowsNothing(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return schema === false;
  const { not } = schema;
  return isJsonObject(not) && Object.keys(not).length === 0;
}
