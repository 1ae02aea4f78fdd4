import { describe, expect, it } from '@jest/globals';
import { compileEvaluator, explain, hiddenReasons, noCalls } from '@sluice/core';
import type { AgentSettings, Configuration, ConfiguredTool, Evaluator } from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import fc from 'fast-check';
import { readYaml } from '../../configuration/test/read-cases.js';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

function evaluatorOf(file: unknown): Evaluator {
  const { configuration, problems } = compileConfiguration(file, sampleInputs);
  if (configuration === null) throw new Error(formatProblems(problems));
  return compileEvaluator(configuration);
}

const spec51 = readYaml('examples/spec-5.1.yaml') as object;
const bare = evaluatorOf(spec51);
const allowed = evaluatorOf({
  ...spec51,
  policy: { allowed_tools: ['knowledge-query', 'text-completion', 'complex-analysis', 'reset-workflow'] },
  mcp: {
    servers: { analysis: { command: 'node' }, broken: { command: 'node' } },
    tools: {
      'analysis-server': { server: 'analysis', tool: 'complex-analysis', redaction: ['summary'] },
      'reset-workflow': { server: 'broken', tool: 'reset-workflow', redaction: 'whole' },
    },
  },
});

describe('one decision', () => {
  it('XB-3, T-20a: without a policy eligible tools are not permitted, and policy is why they are hidden', () => {
    const decision = bare.evaluate({
      groups: ['read-only', 'knowledge'],
      state: null,
      toolIds: null,
      calls: noCalls,
      connections: [],
    });
    expect(decision.eligible).toEqual(['knowledge-query', 'text-completion']);
    expect(decision).toMatchObject({ permitted: [], offered: [] });
    expect(decision.hidden).toEqual([
      { key: 'knowledge-query', reasons: ['policy'] },
      { key: 'graph-update', reasons: ['state', 'policy'] },
      { key: 'text-completion', reasons: ['policy'] },
      { key: 'complex-analysis', reasons: ['group', 'state', 'policy', 'unavailable'] },
      { key: 'reset-workflow', reasons: ['group', 'state', 'policy', 'unavailable'] },
    ]);
  });

  it('XB-1: narrows by group and state, then by policy, then by what can run', () => {
    const decision = allowed.evaluate({
      groups: ['*'],
      state: 'analysis',
      toolIds: null,
      calls: noCalls,
      connections: [],
    });
    expect(decision.eligible).toEqual(['graph-update', 'text-completion', 'complex-analysis', 'reset-workflow']);
    expect(decision.permitted).toEqual(['text-completion', 'complex-analysis', 'reset-workflow']);
    expect(decision.offered.map((tool) => tool.id)).toEqual([
      'core__text-completion',
      'mcp__analysis__complex-analysis',
    ]);
    expect(decision.hidden).toEqual([
      { key: 'knowledge-query', reasons: ['state'] },
      { key: 'graph-update', reasons: ['policy'] },
      { key: 'reset-workflow', reasons: ['unavailable'] },
    ]);
  });

  it.each([
    ['absent: all that it would be offered', null, ['knowledge-query', 'text-completion']],
    ['empty: none', [], []],
    ['one: that one alone', ['core__text-completion'], ['text-completion']],
    ['one that it would not be offered: none', ['core__graph-update', 'core__no-such-tool'], []],
  ] as const)('K-08, X-14, T-18c: narrows to the tools that the run asks for; %s', (_, toolIds, offered) => {
    const decision = allowed.evaluate({
      groups: ['read-only'],
      state: null,
      toolIds,
      calls: noCalls,
      connections: [],
    });
    expect(decision.offered.map(({ key }) => key)).toEqual(offered);
    expect(decision.permitted).toEqual(['knowledge-query', 'text-completion']);
    for (const key of decision.permitted)
      if (!(offered as readonly string[]).includes(key))
        expect(decision.hidden).toContainEqual({ key, reasons: ['tool_ids'] });
  });

  it('names every reason there is, in the order of their list, for a tool that all of them hide', () => {
    const [tool] = allowed.configuration.tools;
    const agent: AgentSettings = {
      ...{ groups: [], state: null, maxIterations: null, tokens: null, microUsd: null, instructions: null },
      answerBytes: 100,
    };
    const plan = { approve: false, maxPlans: 1, maxSteps: 1 };
    const hidden = compileEvaluator({
      ...allowed.configuration,
      tools: [
        { ...(tool as ConfiguredTool), groups: ['a'], states: ['a'], spec: null, connection: 'github', agent, plan },
      ],
      policy: {
        ...allowed.configuration.policy,
        allowedTools: [],
        budgets: { callsPerRun: 1, tools: {} },
      },
      rules: [
        {
          ...{ name: 'never', tools: [String(tool?.id)], when: { tenants: [] } },
          time: { zone: 'UTC', days: [], from: 0, until: 1_440, holidays: [] },
          load: { measure: 'calls_in_flight', isHighClosing: true, close: 1, open: 1 },
          history: { after: [], notAfter: [], atMost: 1, whileApproved: [] },
        },
      ],
    });
    const facts = { groups: ['b'], state: 'b', toolIds: [], calls: { [String(tool?.id)]: 1 }, connections: [] };
    const rules = {
      ...{ at: 0, tenant: 't', actor: 'user:a', channel: 'http', claims: {}, question: '', held: [], succeeded: {} },
      ...{ agent: 'default', facts: {} },
      ...{ loads: { calls_in_flight: null }, approved: {}, spent: { tokens: 0, microUsd: null } },
    };
    expect(hidden.evaluate({ ...facts, depth: 1, rules }).hidden).toEqual([{ key: tool?.key, reasons: hiddenReasons }]);
  });

  it('G-62: names the configuration and the facts after defaulting', () => {
    const decision = allowed.evaluate({
      groups: null,
      state: '',
      toolIds: null,
      calls: noCalls,
      connections: [],
    });
    expect(decision).toMatchObject({
      configVersion: allowed.configuration.version,
      groups: ['default'],
      state: 'undefined',
    });
  });
});

describe('all decisions', () => {
  const file = fc
    .array(
      fc.record({
        type: fc.constantFrom('knowledge-query', 'graph-update', 'mcp-tool'),
        group: fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c'))),
        available_in_states: fc.option(fc.uniqueArray(fc.constantFrom('s', 't', '*'))),
        allowed: fc.boolean(),
        callsPerRun: fc.option(fc.integer({ min: 1, max: 2 })),
      }),
      { maxLength: 40 },
    )
    .map((tools) => ({
      tool: Object.fromEntries(tools.map(({ allowed: _, callsPerRun: __, ...tool }, i) => [`t${String(i)}`, tool])),
      policy: {
        allowed_tools: tools.flatMap((tool, i) => (tool.allowed && tool.type !== 'mcp-tool' ? [`t${String(i)}`] : [])),
        budgets: {
          calls_per_run: tools[0]?.callsPerRun === 2 ? 4 : null,
          tools: Object.fromEntries(tools.map((tool, i) => [`t${String(i)}`, { calls_per_run: tool.callsPerRun }])),
        },
      },
    }));
  const facts = fc.record({
    groups: fc.option(fc.array(fc.constantFrom('a', 'b', '*', 'default', 'gone'), { maxLength: 3 })),
    state: fc.option(fc.constantFrom('s', 't', 'u', '')),
    toolIds: fc.option(fc.uniqueArray(fc.nat(39).map((i) => `core__t${String(i)}`))),
    calls: fc.dictionary(fc.constantFrom('core__t0', 'core__t1', 'core__t2'), fc.nat(3)),
    connections: fc.constant<string[]>([]),
  });

  it('G-62, G-129: each tool is offered or hidden once, for exactly the reasons that hold', () => {
    fc.assert(
      fc.property(file, facts, (raw, given) => {
        const evaluator = evaluatorOf(raw);
        const { tools, policy } = evaluator.configuration;
        const decision = evaluator.evaluate(given);
        const reasonsOf = (tool: Configuration['tools'][number]): readonly string[] => {
          const groups: readonly string[] = given.groups ?? ['default'];
          const state = given.state === null || given.state === '' ? 'undefined' : given.state;
          const budget = policy.budgets.tools[tool.id]?.callsPerRun ?? Infinity;
          const calls: Readonly<Record<string, number>> = given.calls;
          const made = Object.values(calls).reduce((sum, count) => sum + count, 0);
          return [
            ...(groups.includes('*') || tool.groups.some((group) => groups.includes(group)) ? [] : ['group']),
            ...(tool.states.includes('*') || tool.states.includes(state) ? [] : ['state']),
            ...(policy.allowedTools.includes(tool.id) ? [] : ['policy']),
            ...(given.toolIds === null || given.toolIds.includes(tool.id) ? [] : ['tool_ids']),
            ...((calls[tool.id] ?? 0) < budget && made < (policy.budgets.callsPerRun ?? Infinity) ? [] : ['budget']),
            ...(tool.spec === null ? ['unavailable'] : []),
          ];
        };
        expect(decision.offered).toEqual(tools.filter((tool) => reasonsOf(tool).length === 0));
        const hidden = tools
          .map((tool) => ({ key: tool.key, reasons: reasonsOf(tool) }))
          .filter((one) => one.reasons.length > 0);
        expect(decision.hidden).toEqual(hidden);
        expect(decision.eligible).toEqual(evaluator.rules.decide(given.groups, given.state).eligible);
        expect(decision.permitted).toEqual(
          decision.eligible.filter((key) => policy.allowedTools.includes(`core__${key}`)),
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe('many decisions of one evaluator', () => {
  const { configuration } = allowed;
  const [one, two, three] = configuration.tools.map(({ id }) => id) as [string, string, string];
  const noBudget = { timeoutMs: null, resultBytes: null, callsPerRun: null, callsPerMinute: null };
  const budgets = [
    { callsPerRun: null, tools: {} },
    { callsPerRun: 3, tools: {} },
    { callsPerRun: null, tools: { [three]: { ...noBudget, callsPerRun: 1 }, [one]: { ...noBudget, callsPerRun: 0 } } },
  ];
  const facts = fc.record({
    groups: fc.constantFrom(null, ['*'], ['knowledge'], ['read-only', 'knowledge'], ['gone']),
    state: fc.constantFrom(null, 'analysis', 'research', 'unheard-of'),
    toolIds: fc.constantFrom(null, null, [], [two, three]),
    calls: fc.constantFrom(noCalls, noCalls, { [three]: 1 }, { [one]: 2, [two]: 1 }),
    connections: fc.constantFrom([], [], ['crm']),
    depth: fc.constantFrom(0, 0, 1),
  });

  it('are what each would be alone, whatever was decided before', () => {
    fc.assert(
      fc.property(fc.constantFrom(...budgets), fc.array(facts, { maxLength: 12 }), (those, all) => {
        const tools = configuration.tools.map((tool, n) => ({
          ...tool,
          ...(n === 0 ? { connection: 'crm' } : {}),
          ...(n === 2 ? { agent: {} as AgentSettings } : {}),
        }));
        const config = { ...configuration, tools, policy: { ...configuration.policy, budgets: those } };
        const lasting = compileEvaluator(config);
        for (const each of all) expect(lasting.evaluate(each)).toEqual(compileEvaluator(config).evaluate(each));
      }),
      { numRuns: 300 },
    );
  });
});

describe('finding a tool', () => {
  it('XB-5: by id, and by key where either may stand', () => {
    const tool = allowed.byId('mcp__analysis__complex-analysis');
    expect(tool?.key).toBe('complex-analysis');
    expect(allowed.tool('complex-analysis')).toBe(tool);
    expect(allowed.tool('mcp__analysis__complex-analysis')).toBe(tool);
    expect(allowed.byId('complex-analysis')).toBeUndefined();
    expect(allowed.tool('constructor')).toBeUndefined();
  });
});

describe('explain', () => {
  it.each([
    [null, undefined],
    ['auto', { tool_choice: 'auto' }],
    ['none', { tool_choice: 'none' }],
    ['text-completion', { tool_choice: 'core__text-completion' }],
    ['graph-update', { refused: expect.stringMatching(/^tool_choice names `graph-update`/) }],
  ])('K-07: says what the choice %s comes to in the first turn, or why it is refused', (choice, expected) => {
    const facts = { groups: ['*'], state: 'analysis', toolIds: null, calls: noCalls };
    const plain = explain(allowed, { ...facts, connections: [] });
    expect(explain(allowed, { ...facts, connections: [] }, choice)).toEqual({ ...plain, ...expected });
  });

  it('G-60, G-130: prints the decision in the names of the documents', () => {
    expect(
      explain(allowed, {
        groups: ['*', 'gone'],
        state: 'analysis',
        toolIds: null,
        calls: noCalls,
        connections: [],
      }),
    ).toEqual({
      eligible: ['graph-update', 'text-completion', 'complex-analysis', 'reset-workflow'],
      permitted: ['text-completion', 'complex-analysis', 'reset-workflow'],
      offered: ['text-completion', 'complex-analysis'],
      closed: {},
      filtered_by_group: [],
      filtered_by_state: ['knowledge-query'],
      unknown_groups: ['gone'],
      transitions: {
        'graph-update': 'analysis',
        'text-completion': 'undefined',
        'complex-analysis': 'results',
        'reset-workflow': 'undefined',
      },
      hidden: {
        'knowledge-query': { state: 'It is not available in this state.' },
        'graph-update': { policy: 'The policy does not allow it, or names nobody who may approve it.' },
        'reset-workflow': {
          unavailable: 'The server "broken" could not be asked what it offers: It did not start within 10 s.',
        },
      },
      config_version: allowed.configuration.version,
    });
  });
});
