import { Ajv } from 'ajv';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { schemaProblems, convertOffer, withNulls } from '@sluice/schemas';
import type { JsonObject, JsonValue, OfferedTool } from '@sluice/core';
import { jsonSchemaInput } from '@sluice/tools';

const scalars: readonly JsonValue[] = [null, true, 1, 2, 1.5, 'a', 'b', 'long'];
const inside = scalars.flatMap((one) => [[one], { a: one }, { b: one }, { a: one, b: 'a' }, { a: one, c: 1 }]);
const values: readonly JsonValue[] = [
  ...scalars,
  [],
  {},
  { c: 1 },
  ...inside,
  ...scalars.map((one) => ({ a: { a: one } })),
];

const scalar = fc.constantFrom(...scalars);
const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'object');
const types = fc.uniqueArray(fc.oneof(type, fc.constant('null')), { minLength: 1, maxLength: 2 });
const name = fc.constantFrom('a', 'b');
const onlyNull = fc.constantFrom<JsonObject>({ type: 'null' }, { const: null }, { enum: [null], title: 'N' });
const constants = fc.oneof(
  fc.record({ const: scalar }),
  fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }), type: types }, { requiredKeys: ['enum'] }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom('a', 'b', 'long'), { minLength: 1 }) }),
);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const record = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(members).map((made) => JSON.parse(JSON.stringify(made)) as JsonObject);

const limits = { maxLength: sometimes(fc.constant(1)), minimum: sometimes(fc.constant(2)) };
const plain = record({ type: fc.oneof(type, types), default: sometimes(scalar), ...limits });

/**
 * Schemas as servers write them, and odder ones: nested, keywords and defaults beside unions and references to
 * `names`.
 */
function schemasOver(names: readonly string[]): fc.Arbitrary<JsonObject> {
  return fc.letrec<{ schema: JsonObject }>((tie) => {
    const beside = {
      default: fc.option(scalar, { nil: undefined }),
      description: sometimes(fc.constant('d')),
      type: sometimes(types),
    };
    const union = (keyword: string, branches: fc.Arbitrary<JsonObject[]>): fc.Arbitrary<JsonObject> =>
      record({ [keyword]: branches, ...beside, minimum: limits.minimum });
    const branch = fc.oneof(tie('schema'), record({ type }), constants);
    const orNull = fc.tuple(branch, onlyNull).chain((two) => fc.shuffledSubarray(two, { minLength: 1 }));
    const also = { properties: sometimes(fc.constant({ c: { type: 'integer' } })) };
    const reference = record({ $ref: fc.constantFrom(...names), ...beside, ...limits, ...also });
    return {
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        plain,
        constants as fc.Arbitrary<JsonObject>,
        reference,
        union('anyOf', orNull),
        union('oneOf', orNull),
        union('allOf', fc.tuple(branch)),
        union('anyOf', fc.array(fc.oneof(constants, onlyNull), { minLength: 2, maxLength: 3 })),
        union('oneOf', fc.array(fc.oneof(constants, onlyNull), { minLength: 2, maxLength: 3 })),
        record({
          type: fc.constantFrom<JsonValue>('object', ['object', 'null']),
          properties: sometimes(fc.dictionary(name, tie('schema'), { maxKeys: 2 })),
          additionalProperties: sometimes(fc.oneof(fc.constant(false), tie('schema'))),
          required: sometimes(fc.uniqueArray(name)),
          $ref: sometimes(fc.constantFrom(...names)),
        }),
        record({ type: fc.constant('array'), items: tie('schema'), contains: sometimes(tie('schema')) }),
      ),
    };
  }).schema;
}

/** References go one way here; that those which do not are refused is shown elsewhere. */
const inputSchema = record({
  type: fc.constant('object'),
  properties: record({ a: schemasOver(['#/$defs/x', '#/$defs/y~1', '#/$defs/x/properties/a', '#/$defs/closed']) }),
  required: sometimes(fc.constant(['a'])),
  $defs: record({
    x: schemasOver(['#/$defs/y~1', '#/$defs/z']),
    'y/': schemasOver(['#/$defs/z']),
    z: plain,
    closed: fc.constant({ type: 'object', additionalProperties: false }),
  }),
});

const meta = new Ajv({ strict: false, logger: false });

/** As the server would judge; null for a schema that is none. */
function serverOf(schema: JsonObject): ((value: JsonValue) => boolean) | null {
  if (meta.validateSchema(schema) !== true) return null;
  try {
    return new Ajv({ strict: false, logger: false, meta: false, validateSchema: false }).compile(schema);
  } catch {
    return null;
  }
}

describe('a simplified schema (T-10d)', () => {
  it('lets nothing through that the server’s own would not take, and changes nothing of it', () => {
    const seen = { simplified: 0, sent: 0, refused: 0 };
    const judged = (schema: JsonObject): void => {
      const taken = convertOffer(offering(schema));
      if ('problems' in taken) return;
      // What was made is within the subset, and stays as it is.
      expect(schemaProblems(taken.inputSchema)).toEqual([]);
      const again = convertOffer(offering(taken.inputSchema));
      expect(again).toEqual({ ...taken, simplified: [], narrowed: [], nulls: [] });
      expect('inputSchema' in again && again.inputSchema).toBe(taken.inputSchema);
      const server = serverOf(schema);
      if (server === null) return;
      seen.simplified++;
      const check = jsonSchemaInput(withNulls(taken.inputSchema, taken.nulls));
      for (const given of [{}, ...values.map((a) => ({ a }))]) {
        const sent = passed(check, given);
        if (sent === null) seen.refused++;
        else {
          seen.sent++;
          expect(sent).toBe(given);
          if (!server(sent)) throw new Error(`${JSON.stringify(sent)} passes ${JSON.stringify(taken.inputSchema)}`);
        }
      }
    };
    // Null fits both alternatives of a `oneOf`, and so neither.
    const inner: JsonObject = { oneOf: [{ enum: ['long'] }, { type: 'null' }], minimum: 2 };
    const twice: JsonObject = { oneOf: [inner, { type: 'null' }] };
    // A constant that its type does not allow, beside null: null alone is left.
    const never: JsonObject = { oneOf: [{ oneOf: [{ const: null }], type: ['number'] }, { const: null }] };
    for (const a of [twice, { oneOf: [{ ...twice, minimum: 2 }, { type: 'null' }] }, never])
      judged({ type: 'object', properties: { a } });
    fc.assert(fc.property(inputSchema, judged), { numRuns: 600 });
    // Else it would have shown nothing.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(3);
  });
});

function offering(inputSchema: JsonObject): OfferedTool {
  return { name: 't', description: '', inputSchema, outputSchema: null };
}

function passed(check: (args: JsonValue) => JsonValue, given: JsonValue): JsonValue | null {
  try {
    return check(given);
  } catch {
    return null;
  }
}
