import { describe, expect, it } from '@jest/globals';
import {
  amountFrom,
  amountOf,
  compileEvaluator,
  countsOthers,
  decimalOf,
  explain,
  noCalls,
  parseExactJson,
  pastFactText,
  together,
} from '@sluice/core';
import type { AvailabilityRule, Configuration, JsonValue, PastCaller, RuleFacts, TotalLimit } from '@sluice/core';

const caller: PastCaller = { tenantId: 't', userId: 'user:a', sessionId: 's', requestId: 'r', agent: 'default' };
const facts = (found: Record<string, string> = {}): RuleFacts => ({
  ...{ at: 1_000_000, tenant: 't', actor: 'user:a', agent: 'default', channel: 'http', claims: {}, question: '' },
  ...{ loads: {}, held: [], succeeded: {}, approved: {}, spent: { tokens: 0, microUsd: null }, facts: found },
});

function evaluatorOf(...rules: readonly AvailabilityRule[]) {
  const ids = [...new Set(rules.flatMap(({ tools }) => tools))];
  const tools = ids.map((id) => ({ key: id, id, groups: [], states: ['*'], target: null, spec: null }));
  const policy = {
    allowedTools: ids,
    deniedTools: [],
    approvers: [],
    approvalEffects: [],
    approvalMs: 1,
    budgets: { callsPerRun: 9, tools: {} },
  };
  return compileEvaluator({
    version: 'v',
    tools,
    rules,
    policy,
    identity: { provider: 'none' },
  } as unknown as Configuration);
}

const total = (given: Partial<TotalLimit> = {}): TotalLimit => ({
  ...{ of: 'calls', atMost: 5, per: 'user', withinMs: 1_000 },
  ...given,
});

describe('amounts', () => {
  it.each([
    [0, '0'],
    [0.1, '0.1'],
    [1.1, '1.1'],
    [480.5, '480.5'],
    [0.0000001, '0.000001'],
    [9_000_000_000_000, '9000000000000'],
    [1e-320, '0.000001'],
    // As a double its millionths are others.
    [8_999_999_999_999.123, '8999999999999.123'],
    [parseExactJson('0.10000000000000000001'), '0.100001'],
    [parseExactJson('100.0000000000000000000000001'), '100.000001'],
    [parseExactJson('1.50e2'), '150'],
    [parseExactJson('1e-999999999999'), '0.000001'],
    [parseExactJson('0.0e99999'), '0'],
  ])('count %j as %s', (value, text) => {
    const amount = amountOf(value) ?? -1n;
    expect(decimalOf(amount)).toBe(text);
    expect(amountFrom(text)).toBe(amount);
  });

  it.each([
    [-1],
    [Number.NaN],
    [Infinity],
    ['5'],
    [null],
    [9_000_000_000_001],
    ...['9000000000000.000001', '9007199254740993', '1e400', '-0.5'].map((text) => [parseExactJson(text)]),
  ])('count nothing as %p', (value) => expect(amountOf(value)).toBeNull());
});

it('facts that count other callers are those of a tenant or an agent', () => {
  const names = ['past/user/1/a', 'past/tenant/1/a', 'total/session/1/calls/a', 'total/tenant/1/calls/a'];
  const others = [...names, 'total/agent/1/calls/a', 'lookup/past/tenant/x'].filter(countsOthers);
  expect(others).toEqual(['past/tenant/1/a', 'total/tenant/1/calls/a', 'total/agent/1/calls/a']);
});

describe('what a call reserves', () => {
  const amounts: AvailabilityRule = {
    ...{ name: 'sum', tools: ['pay'] },
    totals: [total({ of: { path: 'amount' } }), total({ of: { path: 'items/*/price' }, per: 'tenant' })],
  };
  const reserve = (args: JsonValue, ...rules: readonly AvailabilityRule[]) =>
    evaluatorOf(...rules).past.reservation({ toolId: 'pay', args, caller, state: 'x' }, facts());

  it('is nothing where no rule counts it', () => {
    expect(
      reserve(
        {},
        { name: 'one', tools: ['pay'], history: { after: [], notAfter: ['x'], atMost: 2, whileApproved: [] } },
      ),
    ).toBeNull();
    expect(reserve({}, { name: 'other', tools: ['mail'], totals: [total()] })).toBeNull();
  });

  it('is the sum of the numbers at a path', () => {
    const reserved = reserve({ amount: 1.5, items: [{ price: 2 }, { price: 0.25 }] }, amounts);
    expect(reserved).toMatchObject({ marks: [{ amount: 1_500_000n }, { amount: 2_250_000n }], keepMs: 1_000 });
    expect(reserve({ amount: 0, items: [] }, amounts)).toMatchObject({ marks: [{ amount: 0n }, { amount: 0n }] });
  });

  it.each<[JsonValue]>([
    [{ items: [] }],
    [{ amount: '5', items: [] }],
    [{ amount: -5, items: [] }],
    [{ amount: 5, items: [{ price: 'x' }] }],
    [{ amount: 5, items: 'none' }],
  ])('cannot be counted without numbers: %j', (args) => expect(reserve(args, amounts)).toMatchObject({ rule: 'sum' }));

  it('asks nothing of callers that the rule does not bind', () => {
    expect(reserve({}, { ...amounts, whom: { tenants: ['other'] } })).toMatchObject({ limits: [] });
  });

  it('is each mark once and all limits under two configurations', () => {
    const [one, other] = [total({ atMost: 3 }), total({ withinMs: 9_000 })].map((limit) =>
      reserve({}, { name: 'calls', tools: ['pay'], totals: [limit] }),
    );
    if (one == null || other == null || 'path' in one || 'path' in other) throw new Error('It is counted.');
    const both = together(one, other);
    expect(both).toMatchObject({ keepMs: 9_000, limits: [{ atMost: 3_000_000n }, { atMost: 5_000_000n }] });
    expect(both?.marks).toHaveLength(1);
  });
});

it('limits with a span are those of the rules that bind the call, for explanations', () => {
  const history = { after: [], notAfter: ['mail'], whileApproved: [] };
  const rules: readonly AvailabilityRule[] = [
    {
      name: 'sum',
      tools: ['pay', 'mail'],
      totals: [total({ of: { path: 'amount' }, atMost: 0.5, withinMs: 86_400_000 })],
    },
    { name: 'few', tools: ['pay'], history: { ...history, atMost: 2, past: { within: 'session', inLastMs: 60_000 } } },
    { name: 'once', tools: ['pay'], history: { ...history, atMost: 1 } },
    { name: 'not', tools: ['pay'], history: { ...history, atMost: null, past: { within: 'user', inLastMs: 1 } } },
    { name: 'others', tools: ['pay'], whom: { tenants: ['other'] }, totals: [total()] },
  ];
  const evaluator = evaluatorOf(...rules);
  const spans = evaluator.past.spans({ toolId: 'pay', caller, state: 'x' }, facts());
  expect(spans.map(({ limit, items }) => [limit, items.length])).toEqual([
    [{ rule: 'sum', per: 'user', within: '1d', argument: 'amount', limit: '0.5' }, 2],
    [{ rule: 'few', per: 'session', within: '1m', argument: null, limit: '2' }, 1],
  ]);
  const request = { groups: ['*'], state: 'x', toolIds: null, calls: noCalls, connections: [], rules: facts() };
  const limits = spans.map(({ limit }) => limit);
  expect(explain(evaluator, request).counted).toEqual({ pay: limits, mail: limits.slice(0, 1) });
  expect(explain(evaluatorOf(), request)).not.toHaveProperty('counted');
});

describe('a rule on history with a span', () => {
  const history = {
    after: ['a'],
    notAfter: ['b'],
    atMost: 2,
    whileApproved: [],
    afterSuccessLast: ['c'],
    notWhileRunning: ['d'],
  };
  const rule: AvailabilityRule = {
    name: 'r',
    tools: ['pay'],
    history: { ...history, past: { within: 'user', inLastMs: 60_000 } },
  };
  const { availability, past } = evaluatorOf(rule);
  const fact = (calls = 0, more = {}) => pastFactText({ calls, succeeded: 0, running: 0, last: null, ...more });
  const open: Record<string, string> = {
    'past/user/60000/a': fact(1, { succeeded: 1 }),
    'past/user/60000/b': fact(),
    'past/user/60000/c': fact(2, { last: 'succeeded' }),
    'past/user/60000/d': fact(3),
    'past/user/60000/pay': fact(1),
  };
  const isClosed = (found: Record<string, string>) => availability.closed(facts(found), {}, 'x') !== 0;

  it('asks for each of its tools', () => {
    expect(past.asked('pay').map(({ toolId }) => toolId)).toEqual(['a', 'b', 'c', 'd', 'pay']);
    expect(past.asked('other')).toEqual([]);
  });

  it('goes by what is found out', () => {
    expect(isClosed(open)).toBe(false);
    for (const [tool, closing] of [
      ['a', fact(4)],
      ['b', fact(1)],
      ['c', fact(2, { last: 'failed' })],
      ['d', fact(1, { running: 1 })],
      ['pay', fact(2)],
    ] as const)
      expect([tool, isClosed({ ...open, [`past/user/60000/${tool}`]: closing })]).toEqual([tool, true]);
  });

  it('closes its tools where something is not known', () => {
    for (const name of Object.keys(open)) {
      const { [name]: _, ...others } = open;
      expect(isClosed(others)).toBe(true);
      expect(isClosed({ ...others, [name]: 'no JSON' })).toBe(true);
    }
  });
});
