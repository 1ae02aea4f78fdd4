import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { compileEvaluator, listGroups, listStates, stateDiagram, withoutFacts } from '@sluice/core';
import type { Evaluator, KnownFacts, RuleFacts } from '@sluice/core';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const file = {
  tool: {
    'knowledge-query': {
      type: 'knowledge-query',
      group: ['basic'],
      state: 'analysis',
      available_in_states: ['undefined'],
    },
    'graph-update': { type: 'graph-update', available_in_states: ['analysis'], state: 'undefined' },
    secret: { type: 'knowledge-query', group: ['admin', 'basic'] },
    loose: { type: 'knowledge-query', group: [] },
    denied: { type: 'text-completion', group: ['basic'] },
  },
  group: { knowledge: { read: ['knowledge-query'], write: ['graph-update'] } },
  policy: {
    allowed_tools: ['knowledge-query', 'graph-update', 'secret', 'loose'],
    approval: { none: 'this is a test' },
  },
};

function evaluatorOf(raw: unknown): Evaluator {
  const { configuration, problems } = compileConfiguration(raw, sampleInputs);
  if (configuration === null) throw new Error(JSON.stringify(problems));
  return compileEvaluator(configuration);
}

const facts: RuleFacts = {
  ...{
    at: Date.parse('2026-01-12T10:00:00Z'),
    tenant: 'acme',
    actor: 'user:ann',
    channel: 'http',
    claims: {},
    agent: 'default',
    facts: {},
    question: '',
  },
  ...{ loads: {}, held: [], succeeded: {}, approved: {}, spent: { tokens: 0, microUsd: null } },
};
const known: KnownFacts = { facts, unknown: [] };

const evaluator = evaluatorOf(file);
const namesIn = (permitted: readonly string[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    listGroups(evaluator, permitted, known).map(({ name, tools }) => [name, tools.map(({ key }) => key)]),
  );

describe('the groups that a caller may ask for', () => {
  it('are all of them for who may ask for all, with the tools that the policy allows (G-178)', () => {
    expect(namesIn(['*'])).toEqual({
      admin: ['secret'],
      basic: ['knowledge-query', 'secret'],
      default: [],
      knowledge: ['knowledge-query', 'graph-update'],
      'knowledge/read': ['knowledge-query'],
      'knowledge/write': ['graph-update'],
    });
  });

  it('are those that its permission covers: neither another group nor a tag of another group is named (XG-29)', () => {
    expect(namesIn(['basic'])).toEqual({ basic: ['knowledge-query', 'secret'] });
    expect(listGroups(evaluator, ['basic'], known)[0]?.tools.map(({ groups }) => groups)).toEqual([
      ['basic'],
      ['basic'],
    ]);
    expect(namesIn(['knowledge'])).toEqual({
      knowledge: ['knowledge-query', 'graph-update'],
      'knowledge/read': ['knowledge-query'],
      'knowledge/write': ['graph-update'],
    });
    expect(namesIn([])).toEqual({});
  });

  it('hold exactly what a request for the group is offered in some state', () => {
    for (const { name, tools } of listGroups(evaluator, ['*'], known)) {
      const offered = new Set(
        ['undefined', 'analysis'].flatMap((state) =>
          evaluator
            .evaluate({ groups: [name], state, toolIds: null, calls: {}, connections: [] })
            .offered.map(({ key }) => key),
        ),
      );
      expect([...offered].sort()).toEqual(tools.map(({ key }) => key).sort());
    }
  });
});

describe('the states that a caller’s tools are in', () => {
  it('name the tools and where they lead', () => {
    expect(listStates(evaluator, ['knowledge'], known)).toEqual([
      { name: 'undefined', tools: ['knowledge-query'], transitions: { 'knowledge-query': 'analysis' } },
      { name: 'analysis', tools: ['graph-update'], transitions: { 'graph-update': 'undefined' } },
    ]);
    expect(listStates(evaluator, ['admin'], known)).toEqual([
      { name: 'undefined', tools: ['secret'], transitions: {} },
    ]);
  });

  it('are a diagram that Mermaid reads, whatever they are called', () => {
    expect(stateDiagram(listStates(evaluator, ['knowledge'], known))).toBe(
      'stateDiagram-v2\n  state "undefined" as s0\n  state "analysis" as s1\n  s0 --> s1: knowledge-query\n  s1 --> s0: graph-update\n',
    );
    const odd = stateDiagram([{ name: 'a"; b', tools: ['x'], transitions: {} }]);
    expect(odd).toBe('stateDiagram-v2\n  state "a   b" as s0\n');
  });
});

describe('rules on when tools are available', () => {
  const listed = (rules: object, { facts: own, unknown }: Partial<KnownFacts> = {}) => {
    const ruled = evaluatorOf({ ...file, rules });
    const given = { facts: { ...facts, ...own }, unknown: unknown ?? [] };
    const of = (key: string) =>
      listGroups(ruled, ['*'], given)
        .flatMap(({ tools }) => tools)
        .find((tool) => tool.key === key);
    const states = listStates(ruled, ['*'], given).flatMap(({ name, tools }) =>
      tools.includes('secret') ? [name] : [],
    );
    return { secret: of('secret'), states };
  };
  const about = (condition: object): object => ({ one: { tools: ['secret'], ...condition } });

  it.each([
    ['another tenant', { when: { tenants: ['other'] } }],
    ['another channel', { when: { channels: ['mcp'] } }],
    ['an actor that it is not for', { unless: { actors: ['user'] } }],
    ['a claim that is not there', { when: { claims: { department: ['research'] } } }],
    ['another time', { time: { zone: 'UTC', from: '18:00' } }],
  ])('take what they close out of the lists: %s', (_name, condition) => {
    expect(listed(about(condition))).toEqual({ secret: undefined, states: [] });
  });

  it('leave open what only a run will know, and name it', () => {
    const open = about({ when: { languages: ['en'], tenants: ['acme'] }, history: { after: ['knowledge-query'] } });
    const { secret, states } = listed(open, { unknown: ['question'] });
    expect(secret?.depends_on).toEqual(['question', 'history']);
    expect(states).toEqual(['undefined', 'analysis']);
    // What is known already closes it.
    const other = about({ when: { languages: ['en'], tenants: ['other'] } });
    expect(listed(other, { unknown: ['question'] }).secret).toBeUndefined();
    const part = about({ unless: { languages: ['und'], tenants: ['acme'] } });
    expect(listed(part, { unknown: ['question'] }).secret?.depends_on).toEqual(['question']);
  });

  it('are judged in each state', () => {
    const { secret, states } = listed(about({ when: { states: ['analysis'] } }));
    expect(secret?.depends_on).toEqual(['state']);
    expect(states).toEqual(['analysis']);
  });

  it('go by a load where it was measured, and leave it open where it was not measured', () => {
    const busy = about({ load: { measure: 'calls_in_flight', close_above: 2 } });
    const measured = (value: number | null) => ({ facts: { ...facts, loads: { calls_in_flight: value } } });
    expect(listed(busy, measured(3)).secret).toBeUndefined();
    expect(listed(busy, measured(null)).secret).toBeUndefined();
    expect(listed(busy, measured(1)).secret).not.toHaveProperty('depends_on');
    expect(listed(busy, { unknown: ['load'] }).secret?.depends_on).toEqual(['load']);
  });

  it('change no evaluator that asks for nothing unknown', () => {
    const ruled = evaluatorOf({ ...file, rules: about({ when: { languages: ['en'] } }) });
    expect(withoutFacts(ruled, ['load'])).toBe(ruled);
    expect(withoutFacts(ruled, ['question'])).not.toBe(ruled);
    expect(withoutFacts(ruled, ['question'])).toBe(withoutFacts(ruled, ['question']));
  });
});
