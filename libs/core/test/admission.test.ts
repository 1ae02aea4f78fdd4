import { describe, expect, it } from '@jest/globals';
import { allowed, compileEvaluator, eligible, hiddenReasons, refusalOfHidden } from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { AgentSettings, ConfiguredTool, Evaluator, Facts, HiddenReason, RuleFacts } from '@sluice/core';
import fc from 'fast-check';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const keys = ['a', 'b', 'c'];
const ids = keys.map((key) => `core__${key}`);
const someCalls = fc.dictionary(fc.constantFrom(...ids), fc.integer({ min: 1, max: 4 }));
const someLimit = fc.option(fc.integer({ min: 1, max: 3 }));

const file = fc.record({
  tool: fc.record(
    Object.fromEntries(
      keys.map((key) => [
        key,
        fc.record({
          type: fc.constantFrom('knowledge-query', 'graph-update'),
          group: fc.option(fc.subarray(['g', 'h'])),
          available_in_states: fc.option(fc.subarray(['s', '*'])),
        }),
      ]),
    ),
  ),
  policy: fc.record({
    allowed_tools: fc.subarray(keys),
    approval: fc.record({
      effects: fc.subarray(['read_only', 'state_change']),
      approvers: fc.subarray(['user:ann']),
    }),
    budgets: fc.record({
      calls_per_run: fc.option(fc.integer({ min: 1, max: 6 })),
      tools: fc.dictionary(fc.constantFrom(...keys, '*'), fc.record({ calls_per_run: someLimit })),
    }),
  }),
});

function evaluatorOf(raw: unknown): Evaluator {
  const { configuration, problems } = compileConfiguration(raw, sampleInputs);
  if (configuration === null) throw new Error(formatProblems(problems));
  return compileEvaluator(configuration);
}

describe('a run in which no tool is to be called (K-07)', () => {
  const evaluator = evaluatorOf({ tool: { a: { type: 'knowledge-query' } }, policy: { allowed_tools: ['*'] } });
  const judge = (toolId: string, toolChoice: string | null) => {
    const offered = new Set(['core__a']);
    const facts = {
      groups: ['*'],
      state: 'undefined',
      offered,
      toolChoice,
      calls: {},
      completed: false,
      depth: 0,
      connections: [],
    };
    return eligible(toolId, facts, { granting: evaluator, inForce: evaluator });
  };

  it.each(['core__a', 'core__unknown'])('refuses %s for that reason, and names no other tool', (toolId) => {
    expect(judge(toolId, 'none')).toEqual({
      ...{ ok: false, code: 'policy_denied', reason: 'none_chosen' },
      message: expect.not.stringContaining('core__'),
    });
  });

  it.each([null, 'required', 'core__a', 'core__b'])('is no run with the choice %s', (choice) => {
    expect(judge('core__a', choice)).toEqual({ ok: true });
  });
});

describe('what this run was offered (T-23b)', () => {
  const evaluator = evaluatorOf({ tool: { a: { type: 'knowledge-query' } }, policy: { allowed_tools: ['*'] } });
  const under = (offered: ReadonlySet<string>) =>
    eligible(
      'core__a',
      {
        groups: ['*'],
        state: 'undefined',
        offered,
        calls: {},
        toolChoice: null,
        completed: false,
        depth: 0,
        connections: [],
      },
      { granting: evaluator, inForce: evaluator },
    );

  it.each([
    ['nothing', []],
    ['another tool', ['core__b']],
    ['the tool by its key', ['a']],
  ])('is all it may run, whatever groups, state and policy allow: %s', (_, offered) => {
    expect(under(new Set(offered))).toMatchObject({ ok: false, code: 'policy_denied', reason: 'grant_invalid' });
    expect(under(new Set([...offered, 'core__a']))).toEqual({ ok: true });
  });
});

describe('one call', () => {
  const evaluator = evaluatorOf({ tool: { a: { type: 'knowledge-query' } }, policy: { allowed_tools: ['*'] } });

  it('is judged without a decision on every tool there is', () => {
    const evaluate = (): never => {
      throw new Error('All tools were decided on for one call.');
    };
    const judge = { ...evaluator, evaluate };
    const facts = {
      ...{ groups: ['default'], state: 'undefined', offered: new Set(['core__a']), calls: {}, toolChoice: null },
      ...{ completed: false, depth: 0, connections: [] },
    };
    expect(eligible('core__a', facts, { granting: judge, inForce: judge })).toEqual({ ok: true });
  });
});

describe('a call of a tool that is hidden', () => {
  const plain = evaluatorOf({
    tool: { a: { type: 'knowledge-query' } },
    policy: { allowed_tools: ['*'] },
  }).configuration;
  const agent: AgentSettings = {
    ...{ groups: [], state: null, maxIterations: null, tokens: null, microUsd: null, instructions: null },
    answerBytes: 100,
  };
  const rules: RuleFacts = {
    ...{ at: 0, tenant: 't', actor: 'user:a', channel: 'http', claims: {}, question: '', held: [], succeeded: {} },
    ...{ agent: 'default', facts: {} },
    ...{ loads: { calls_in_flight: 9 }, approved: {}, spent: { tokens: 0, microUsd: null } },
  };
  const history = { after: [], notAfter: [], atMost: 0, whileApproved: [] };
  const load = { measure: 'calls_in_flight', isHighClosing: true, close: 1, open: 0 } as const;
  const never = { zone: 'UTC', days: [], from: 0, until: 1_440, holidays: [] };

  /** What makes the tool hidden: of itself, of the configuration, or of the facts. */
  const causes: Readonly<
    Record<HiddenReason, { tool?: object; configuration?: object; rule?: object; facts?: object }>
  > = {
    group: { tool: { groups: ['other'] } },
    state: { tool: { states: ['other'] } },
    policy: { configuration: { policy: { ...plain.policy, allowedTools: [] } } },
    tool_ids: { facts: { toolIds: [] } },
    budget: {
      configuration: { policy: { ...plain.policy, budgets: { callsPerRun: 1, tools: {} } } },
      facts: { calls: { core__a: 1 } },
    },
    connection: { tool: { connection: 'github' } },
    unavailable: { tool: { spec: null } },
    depth: {
      tool: { agent },
      configuration: { policy: { ...plain.policy, allowedTools: ['core__a'], allowedAgents: ['core__a'] } },
      facts: { depth: 1 },
    },
    context: { rule: { when: { tenants: [] } } },
    time: { rule: { time: never } },
    load: { rule: { load } },
    history: { rule: { history } },
    strategy: { tool: { plan: { approve: false, maxPlans: 1, maxSteps: 1 } } },
  };

  it.each(hiddenReasons)('for the reason %s is refused for its own reason', (reason) => {
    const { tool, configuration, rule, facts } = causes[reason];
    const own = { name: 'r', tools: ['core__a'], ...rule };
    const evaluator = compileEvaluator({
      ...plain,
      ...configuration,
      tools: [{ ...(plain.tools[0] as ConfiguredTool), ...tool }],
      rules: rule === undefined ? [] : [own as never],
    });
    const asked: Facts = {
      ...{ groups: null, state: null, toolIds: null, calls: {}, connections: [] },
      ...(rule === undefined ? {} : { rules }),
      ...facts,
    };
    const decision = evaluator.evaluate(asked);
    expect(decision.hidden).toEqual([{ key: 'a', reasons: [reason] }]);
    const call = {
      ...{ groups: decision.groups, state: decision.state, offered: new Set<string>(), toolChoice: null },
      ...{ calls: asked.calls, completed: false, depth: asked.depth ?? 0, connections: [] },
      ...(rule === undefined ? {} : { rules }),
    };
    const judges = { granting: evaluator, inForce: evaluator };
    const verdict = eligible('core__a', call, judges);
    const last = verdict.ok ? allowed('core__a', call, judges) : verdict;
    // The stage of connections comes after these two, and refuses whatever the request does not name (libs/run).
    if (reason === 'connection') expect(last).toEqual({ ok: true });
    else expect(last).toMatchObject({ ok: false, reason: refusalOfHidden[reason] });
  });
});

describe('what is offered and what is admitted', () => {
  const request = fc.record({
    groups: fc.option(fc.subarray(['g', 'h', 'default', '*'])),
    state: fc.constantFrom('s', 'undefined'),
    calls: someCalls,
    // As the records have it: a tool’s id whether it is offered or not, since being wanted is no right.
    toolChoice: fc.constantFrom(null, 'none', 'required', ...ids),
  });

  it('are the same tools, budgets and approvers included, and none where none may be called: both come from one rule (XB-2, C-08, X-18, K-07)', () => {
    fc.assert(
      fc.property(file, request, (raw, { groups, state, calls, toolChoice }) => {
        const evaluator = evaluatorOf(raw);
        const decision = evaluator.evaluate({
          groups,
          state,
          toolIds: null,
          calls,
          connections: [],
        });
        const offered = new Set(decision.offered.map((tool) => tool.id));
        const facts = {
          groups: decision.groups,
          state: decision.state,
          offered,
          calls,
          toolChoice,
          completed: false,
          depth: 0,
          connections: [],
        };
        const judges = { granting: evaluator, inForce: evaluator };
        const admitted = ids.filter((id) => eligible(id, facts, judges).ok && allowed(id, facts, judges).ok);
        expect(admitted).toEqual(toolChoice === 'none' ? [] : [...offered]);
      }),
      { numRuns: 500 },
    );
  });

  it('differ only by what the configuration now in force denies besides', () => {
    fc.assert(
      fc.property(file, file, request, (raw, later, { groups, state, calls, toolChoice }) => {
        const [granting, inForce] = [evaluatorOf(raw), evaluatorOf(later)];
        const offeredBy = (evaluator: Evaluator) =>
          evaluator.evaluate({ groups, state, toolIds: null, calls, connections: [] });
        const decision = offeredBy(granting);
        const offered = new Set(decision.offered.map((tool) => tool.id));
        const facts = {
          groups: decision.groups,
          state: decision.state,
          offered,
          calls,
          toolChoice,
          completed: false,
          depth: 0,
          connections: [],
        };
        const still = new Set(offeredBy(inForce).offered.map((tool) => tool.id));
        const admitted = ids.filter(
          (id) => eligible(id, facts, { granting, inForce }).ok && allowed(id, facts, { granting, inForce }).ok,
        );
        expect(admitted).toEqual(toolChoice === 'none' ? [] : [...offered].filter((id) => still.has(id)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('what a refused call is advised to use in its place', () => {
  const evaluator = evaluatorOf({
    tool: {
      a: { type: 'knowledge-query', available_in_states: ['undefined'], state: 'behind' },
      b: { type: 'knowledge-query', available_in_states: ['undefined'] },
      c: { type: 'knowledge-query', available_in_states: ['undefined', 'behind'] },
    },
    policy: { allowed_tools: ['*'] },
    rules: { fresh: { tools: ['c'], history: { not_after: ['a'], at_most: 2 } } },
  });
  const judges = { granting: evaluator, inForce: evaluator };
  const refused = (
    toolId: string,
    state: string,
    offered: readonly string[],
    calls: Readonly<Record<string, number>>,
  ) => {
    const verdict = eligible(
      toolId,
      {
        ...{ groups: ['*'], state, offered: new Set(offered), toolChoice: null, calls, completed: false },
        ...{ depth: 0, connections: [] },
        rules: {
          ...{ tenant: 't', actor: 'user:a', channel: 'http', claims: {}, question: 'Which?', at: 0 },
          ...{ loads: {}, held: [], succeeded: {}, approved: {}, spent: {} },
        } as unknown as RuleFacts,
      },
      judges,
    );
    return verdict.ok ? null : verdict.message;
  };

  it('is neither the tool itself nor what a call before it has closed', () => {
    const message = refused('core__a', 'behind', ids, {});
    expect(message).toBe('The tool core__a is not available in the state behind. Offered were: core__c.');
    expect(refused('core__a', 'behind', ['core__a', 'core__b'], {})).toBe(
      'The tool core__a is not available in the state behind. No other tool is available now: answer without one.',
    );
  });

  it('names the rule on the run’s history that it broke, and no tool that was not offered', () => {
    const why = 'The tool core__c is not available after what this run did so far, by the rule "fresh": ';
    const limit = 'at most 2 calls of its tools in a run.';
    expect(refused('core__c', 'undefined', ids, { core__a: 1 })).toBe(
      `${why}not after a call of core__a; ${limit} Offered were: core__a, core__b.`,
    );
    expect(refused('core__c', 'undefined', ['core__c'], { core__a: 1 })).toContain(
      `${why}not after a call of other tools; ${limit}`,
    );
  });
});
