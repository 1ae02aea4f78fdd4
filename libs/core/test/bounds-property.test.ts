import { describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { ArgumentBound, AvailabilityRule, JsonObject, JsonValue, RuleFacts } from '@sluice/core';
import fc from 'fast-check';
import { configurationOf, manyTools } from '../../../bench/rules.js';

const schema: JsonObject = {
  type: 'object',
  properties: { n: { type: 'number', maximum: 6 }, t: { type: 'string', enum: ['a', 'b', 'ab', '7'] } },
  required: ['n'],
};
const tools = manyTools(1).map((tool) => ({ ...tool, spec: tool.spec && { ...tool.spec, inputSchema: schema } }));
const id = tools[0]?.id ?? '';
const lists = {
  few: { values: ['a', '7'] },
  gone: { lookup: { url: 'x', keyEnv: null, items: '*', refreshMs: 1, staleMs: 1, timeoutMs: 1 } },
};

const source = fc.constantFrom(
  { values: ['a', 3] },
  { values: ['ab', 'b', 'x'] },
  { list: 'few' },
  { list: 'gone' },
  { claim: 'team' },
  { claim: 'none' },
);
const number = fc.integer({ min: -2, max: 8 });
const words = {
  constant: fc.constantFrom({ value: 'a' }, { value: 3 }),
  ...{ oneOf: source, notOneOf: source, minimum: number, maximum: number, above: number, below: number },
  ...{ minLength: fc.nat(2), maxLength: fc.nat(2), pattern: fc.constantFrom('^a', '[0-9]', '(?i)B') },
  required: fc.constant(true as const),
};
type Word = keyof typeof words;
// Up to three of the words, drawn: a filter over records of all of them would reject nearly every one.
const bound: fc.Arbitrary<ArgumentBound> = fc
  .subarray(Object.keys(words) as Word[], { maxLength: 3 })
  .chain((names): fc.Arbitrary<object> => fc.record(Object.fromEntries(names.map((name) => [name, words[name]]))));
const rule = fc.record(
  {
    arguments: fc.dictionary(fc.constantFrom('n', 't', 'u'), bound, { minKeys: 1 }),
    whom: fc.constantFrom({ tenants: ['acme'] }, { tenants: ['other'] }, { claims: { team: ['a'] } }, { agents: [''] }),
  },
  { requiredKeys: ['arguments'] },
);
const facts: fc.Arbitrary<RuleFacts> = fc.record({
  ...{ at: fc.constant(0), tenant: fc.constantFrom('acme', 'other'), actor: fc.constant('user:ann') },
  ...{ agent: fc.constantFrom('', 'default'), channel: fc.constant('http'), question: fc.constant('') },
  claims: fc.constantFrom({}, { team: [] }, { team: ['a', '7', '3'] }),
  facts: fc.constantFrom({}, { 'lookup/gone/a': 'listed', 'lookup/gone/b': 'not listed', 'lookup/gone/3': 'failed' }),
  ...{ loads: fc.constant({}), held: fc.constant([]), succeeded: fc.constant({}), approved: fc.constant({}) },
  spent: fc.constant({ tokens: 0, microUsd: null }),
});
const args = fc.record(
  { n: fc.integer({ min: -3, max: 9 }), t: fc.constantFrom('a', 'b', 'ab', '7', '', 'x'), u: fc.constantFrom(3, 'a') },
  { requiredKeys: [] },
);

const evaluatorOf = (rules: readonly Omit<AvailabilityRule, 'name' | 'tools'>[], order: (n: number) => number) => {
  const named = rules.map((one, n) => ({ ...one, name: `rule-${n}`, tools: [id] }));
  const sorted = named.map((one, n) => [order(n), one] as const).sort(([a], [b]) => a - b);
  return compileEvaluator({ ...configurationOf(tools), lists, rules: sorted.map(([, one]) => one) }).argumentRules;
};
const asWritten = (n: number) => n;
const reversed = (rules: readonly { readonly arguments: object }[]) =>
  rules.map((one) => ({ ...one, arguments: Object.fromEntries(Object.entries(one.arguments).reverse()) }));

describe('bounds of arguments, whatever they are', () => {
  const world = fc.tuple(fc.array(rule, { minLength: 1, maxLength: 4 }), facts, args);

  it('say the same in any order of the rules and of their paths', () => {
    let broken = 0;
    fc.assert(
      fc.property(world, ([rules, at, given]) => {
        const call = { toolId: id, args: given };
        const one = evaluatorOf(rules, asWritten);
        const other = evaluatorOf(reversed(rules), (n) => -n);
        const said = one.broken(call, at, 's');
        if (said !== null) broken++;
        expect(other.broken(call, at, 's')).toEqual(said);
        expect(other.joinKey(id, at, 's')).toBe(one.joinKey(id, at, 's'));
        expect(other.joinedSchema(id, schema, at, 's')).toEqual(one.joinedSchema(id, schema, at, 's'));
      }),
      { numRuns: 500 },
    );
    expect(broken).toBeGreaterThan(100);
  });

  it('open nothing: what some of the rules refuse, all of them refuse', () => {
    fc.assert(
      fc.property(world, rule, ([rules, at, given], more) => {
        const call = { toolId: id, args: given };
        if (evaluatorOf(rules, asWritten).broken(call, at, 's') !== null)
          expect(evaluatorOf([...rules, more], asWritten).broken(call, at, 's')).not.toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('are in the schema that is offered: it has room for every call that is within, and names no value that is not', () => {
    let within = 0;
    fc.assert(
      fc.property(world, ([rules, at, given]) => {
        const rule = evaluatorOf(rules, asWritten);
        const joined = rule.joinedSchema(id, schema, at, 's');
        if (rule.broken({ toolId: id, args: given }, at, 's') === null && fits(schema, given)) {
          within++;
          expect(fits(joined, given)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(within).toBeGreaterThan(20);
  });
});

/** What the words of these schemas say; a validator says the same at a hundred times the cost. */
function fits({ properties = {}, required = [] }: JsonObject, given: JsonObject): boolean {
  const names = required as readonly string[];
  return (
    names.every((name) => Object.hasOwn(given, name)) &&
    Object.entries(given).every(([name, value]) => {
      const property = (properties as JsonObject)[name] as JsonObject | undefined;
      return property === undefined || fitsValue(property, value);
    })
  );
}

function fitsValue(property: JsonObject, value: JsonValue): boolean {
  const { type, minimum = -9, maximum = 99, exclusiveMinimum = -9, exclusiveMaximum = 99 } = property;
  const { minLength = 0, maxLength = 99, pattern = '' } = property;
  if (typeof value !== type) return false;
  if (Array.isArray(property['enum']) && !(property['enum'] as JsonValue[]).includes(value)) return false;
  if (typeof value === 'number')
    return (
      value >= Number(minimum) &&
      value <= Number(maximum) &&
      value > Number(exclusiveMinimum) &&
      value < Number(exclusiveMaximum)
    );
  const text = String(value);
  return text.length >= Number(minLength) && text.length <= Number(maxLength) && text.search(String(pattern)) !== -1;
}
