import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseExactJson } from '@sluice/core';
import type { ConfiguredTool, Evaluator, JsonObject, Step } from '@sluice/core';
import { argumentsProblem } from '../../src/strategy/planned-arguments.js';
import { planIn } from '../../src/strategy/plan.js';
import { filled } from '../../src/strategy/references.js';

const result = (observation: string): Step => ({ outcome: 'ok', observation }) as unknown as Step;
const most = 65_536;
const schema: JsonObject = {
  ...{ type: 'object', additionalProperties: false },
  properties: {
    to: { type: 'string' },
    count: { type: 'integer' },
    list: { type: 'array', items: { type: 'string' } },
    any: {},
    deep: { type: 'object', properties: { at: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
  },
};
const fill = (args: unknown, observations: readonly string[], taken: JsonObject | null = schema) =>
  filled(typeof args === 'string' ? args : JSON.stringify(args), observations.map(result), taken, most);

describe('a result in the place of a reference', () => {
  it('is the value that the record has there, of the kind that the tool takes', () => {
    const found = ['{"out":"ann@example.test","n":3,"rows":[{"name":"Ann"}]}'];
    expect(fill({ to: { $step: 1, path: '/out' }, count: { $step: 1.0, path: '/n' } }, found)).toEqual({
      arguments: '{"to":"ann@example.test","count":3}',
    });
    expect(fill({ list: ['Bob', { $step: 1, path: '/rows/0/name' }] }, found)).toEqual({
      arguments: '{"list":["Bob","Ann"]}',
    });
    expect(fill({ any: { $step: 1 } }, found)).toEqual({ arguments: `{"any":${found[0] ?? ''}}` });
    expect(fill({ deep: { at: { $step: 2 } } }, ['', 'a text as it is'])).toEqual({
      arguments: '{"deep":{"at":"a text as it is"}}',
    });
    expect(fill({ to: { $step: 1 } }, ['42'])).toEqual({ arguments: '{"to":"42"}' });
    expect(fill({ count: { $step: 1 } }, ['42'])).toEqual({ arguments: '{"count":42}' });
  });

  it('keeps every digit, and the spelling of what was written beside it', () => {
    expect(fill('{"any": 1.50, "count": {"$step": 1, "path": "/id"}}', ['{"id":12345678901234567890}'])).toEqual({
      arguments: '{"any":1.50,"count":12345678901234567890}',
    });
  });

  it('is not filled in where it is not there, or of another kind: the arguments are asked for', () => {
    expect(fill({ to: { $step: 1, path: '/out' } }, ['{"name":"x"}'])).toEqual({
      missing: 'the result of step 1 has no string at /out',
    });
    expect(fill({ count: { $step: 1, path: '/out' } }, ['{"out":"x"}'])).toHaveProperty('missing');
    expect(fill({ to: { $step: 1 } }, ['{"out":"x"}'])).toHaveProperty('missing');
    expect(fill({ to: { $step: 1, path: '/out' } }, ['{"out":"cut off…'])).toHaveProperty('missing');
    expect(fill({ to: { $step: 1, path: '/__proto__' } }, ['{}'], null)).toHaveProperty('missing');
    expect(fill({ to: { $step: 1 } }, ['x'.repeat(most)])).toHaveProperty('missing');
  });

  it('is the value itself, whatever it is', () => {
    const names = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__');
    fc.assert(
      fc.property(names, fc.jsonValue({ maxDepth: 4 }), (name, value) => {
        const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const whole = fill({ any: { $step: 1, path } }, [JSON.stringify({ [name]: value })], null);
        expect(whole).toHaveProperty('arguments');
        expect(parseExactJson((whole as { arguments: string }).arguments)).toEqual(
          parseExactJson(JSON.stringify({ any: value })),
        );
      }),
    );
  });

  it('changes nothing in arguments without a reference, not even white space', () => {
    for (const text of ['{"to": "$step", "n": 1.0 }', '', '{"a":"\\u0024step"}', 'no JSON $step'])
      expect(fill(text, [])).toEqual({ arguments: text });
  });
});

function tool(key: string, more: object): ConfiguredTool {
  const spec = { inputSchema: schema, redaction: { whole: true }, effect: 'read_only' };
  return { key, id: `core__${key}`, mcp: null, spec: { ...spec, ...more } } as unknown as ConfiguredTool;
}

const known = [tool('find', { redaction: { fields: ['out', 'n'] } }), tool('mail', {}), tool('read', {})];
const tools = {
  tool: (name: string) => known.find(({ key, id }) => key === name || id === name),
} as unknown as Evaluator;
known.push({
  ...tool('typed', {}),
  mcp: {
    outputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: { n: { type: 'number' }, rows: { type: 'array' } },
    },
  },
} as unknown as ConfiguredTool);

function problem(first: string, args: unknown): string | null {
  const steps = [
    { tool: first, why: 'w', arguments: '{}' },
    { tool: 'mail', why: 'w', arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  ];
  const plan = planIn(JSON.stringify({ steps }));
  return argumentsProblem(plan?.steps ?? [], 1, known[1] as ConfiguredTool, tools);
}

describe('arguments that were planned', () => {
  it('may name results of steps before them', () => {
    expect(problem('find', { to: { $step: 1, path: '/out' } })).toBeNull();
    expect(problem('read', { to: { $step: 1 }, any: [{ $step: 1, path: '/whatever/0' }] })).toBeNull();
    expect(problem('typed', { count: { $step: 1, path: '/n' } })).toBeNull();
    expect(problem('find', { to: 'Dear {name}, it costs $1.50' })).toBeNull();
  });

  it('need what they name: the step before them in the plan', () => {
    const steps = [{ tool: 'mail', why: 'w', after: [1], arguments: '{"any":[{"$step":3},{"$step":1}]}' }];
    expect(planIn(JSON.stringify({ steps }))?.steps[0]?.after).toEqual([1, 3]);
  });

  it.each([
    ['find', { to: { $step: 1, path: '/email' } }, /step 1 \(find\) has nothing at \/email: it has \/out, \/n/],
    ['find', { to: { $step: 1 } }, /is object, and \/to takes string/],
    ['typed', { to: { $step: 1, path: '/n' } }, /has at \/n is number, and \/to takes string/],
    ['typed', { any: { $step: 1, path: '/other' } }, /has nothing at \/other/],
    ['read', { unknown: { $step: 1 } }, /takes nothing at \/unknown/],
    ['read', { any: { $step: 'one' } }, /no reference: write \{"\$step": 1\}/],
    ['read', { any: { $step: 1, path: 'out' } }, /no reference/],
    ['read', { any: { $step: 1, more: 1 } }, /no reference/],
    ['read', { any: { $step: 1.5 } }, /no reference/],
    ['find', { to: '{step_1}' }, /hold `\{step_1\}`, which would go to the tool as it stands/],
    ['find', { to: 'x {{find.out}}' }, /hold `\{find\.out\}`/],
    ['find', '{"to": }', /no JSON object/],
  ])('are refused before anything happens: %s %j', (first, args, said) => {
    expect(problem(first, args)).toMatch(said);
  });
});
