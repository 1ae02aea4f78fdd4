import { compileEvaluator, compileRules, localPrincipal, noCalls } from '@sluice/core';
import type {
  AvailabilityRule,
  Configuration,
  ConfiguredTool,
  Decision,
  Evaluator,
  GroupTree,
  RuleFacts,
} from '@sluice/core';
import { createCodec, make, topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import { decideTools, ruleFactsOf, toolset, withConditions } from '@sluice/run';
import { benchAuthorization } from './authorization.js';
import { median, perCall, report } from './measure.js';

const schema = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What to look for' } },
  required: ['query'],
  additionalProperties: false,
};

/** Tools as a large organisation has them: a few tags out of fifty, a third of them bound to states. */
export function manyTools(count: number): ConfiguredTool[] {
  return Array.from({ length: count }, (_, n) => {
    const key = `tool-${n}`;
    const id = `core__${key}`;
    const description = `Does the ${n}th of many things for the people of a department`;
    return {
      key,
      id,
      type: 'bench',
      title: key,
      description,
      groups: [`group-${n % 50}`, `team-${n % 7}`, ...(n % 3 === 0 ? ['read-only'] : [])],
      states: n % 3 === 1 ? [`state-${n % 5}`, 'undefined'] : ['*'],
      target: n % 4 === 0 ? `state-${n % 5}` : null,
      spec: {
        name: id,
        description,
        inputSchema: schema,
        redaction: { whole: true },
        effect: 'read_only',
        schemaHash: 'h',
      },
      repeatable: true,
      timeoutMs: 1_000,
      mcp: null,
      unavailable: null,
    };
  });
}

export function configurationOf(tools: readonly ConfiguredTool[]): Configuration {
  return {
    version: 'c-bench',
    tools,
    identity: { provider: 'none' },
    policy: {
      allowedTools: tools.map((tool) => tool.id),
      approvalEffects: [],
      approvers: [],
      approvalMs: 1,
      requesterMayNotApprove: false,
      budgets: { callsPerRun: null, tools: {} },
    },
    authorization: null,
    instructions: '',
    model: { provider: 'rules', name: null, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
    mcpServers: [],
    knowledge: { load: [], endpoint: null, updateEndpoint: null },
    limits: { maxIterations: 10, runMs: 1, toolMs: 1, modelMs: 1, historyBytes: 1, argumentBytes: 1, resultBytes: 1 },
  };
}

/** Fifty groups within ten, as a configuration with nested groups compiles to. */
const nested: GroupTree = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => [`area-${n}`, Array.from({ length: 5 }, (_, m) => `area-${n}/part-${m}`)]),
);

function nestedTools(count: number): ConfiguredTool[] {
  return manyTools(count).map((tool, n) => ({
    ...tool,
    groups: [...tool.groups, `area-${n % 10}/part-${Math.floor(n / 10) % 5}`],
  }));
}

/** Rules of every kind, each about a tenth of the tools. */
function rulesOn(tools: readonly ConfiguredTool[]): readonly AvailabilityRule[] {
  const some = (n: number) => ({
    name: `rule-${n}`,
    tools: tools.flatMap(({ id }, at) => (at % 10 === n ? [id] : [])),
  });
  const office = { days: [1, 2, 3, 4, 5], from: 480, until: 1_080, holidays: ['2026-12-25'] };
  return [
    { ...some(0), time: { zone: 'Europe/Berlin', ...office } },
    { ...some(1), time: { zone: 'America/New_York', ...office } },
    { ...some(2), load: { measure: 'calls_in_flight', isHighClosing: true, close: 20, open: 10 } },
    { ...some(3), load: { measure: { prometheus: 'sum(load)' }, isHighClosing: true, close: 20, open: 10 } },
    { ...some(4), when: { channels: ['http'], tenants: ['acme', 'globex'] } },
    { ...some(5), history: { after: [], notAfter: ['core__tool-1'], atMost: 3, whileApproved: [] } },
  ];
}

/** The whole rule with groups within groups, schedules, loads, requests and histories. */
function benchAllRules(): void {
  const tools = nestedTools(100);
  const evaluator = compileEvaluator({ ...configurationOf(tools), groupTree: nested, rules: rulesOn(tools) });
  const ruleFacts = {
    at: Date.UTC(2026, 10, 26, 10),
    ...{ tenant: 'acme', actor: 'user:ann', agent: 'default', channel: 'http', claims: {}, facts: {} },
    question: 'Which one?',
    ...{ loads: { calls_in_flight: 15, 'prometheus: sum(load)': 15 }, held: ['rule-3'] },
    ...{ succeeded: {}, approved: {}, spent: { tokens: 100, microUsd: null } },
  };
  // Each decision at an instant of its own, as time goes by.
  const rules = (): RuleFacts => {
    ruleFacts.at += 7;
    return ruleFacts;
  };
  const others = { toolIds: null, calls: noCalls, connections: [] };
  const { rules: filter, availability } = evaluator;
  const judge = (groups: readonly string[], state: string): void => {
    availability.closed(rules(), noCalls, filter.decide(groups, state).state);
  };
  const groups = ['area-3', 'area-1/part-2', 'read-only'];
  const seen = perCall(() => judge(groups, 'state-2'));
  const again = perCall(() => evaluator.evaluate({ ...others, groups, state: 'state-2', rules: rules() }));
  const fresh = Array.from({ length: 62_000 }, (_, n) => ({
    some: [`area-${n % 10}`, `group-${Math.floor(n / 10) % 50}`, `group-${Math.floor(n / 500) % 50}`],
    state: `state-${Math.floor(n / 12_500)}`,
  }));
  let next = 0;
  const another = () => fresh[next++ % fresh.length] as (typeof fresh)[number];
  const unseen = perCall(() => {
    const { some, state } = another();
    judge(some, state);
  });
  const whole = perCall(
    () => evaluator.evaluate({ ...others, groups: another().some, state: 'state-2', rules: rules() }),
    31,
    500,
  );
  report('With nested groups, two schedules, two loads, a rule on requests and one on histories, 100 tools', [
    { name: 'groups and state seen before', value: seen / 1_000, unit: 'µs', goal: { atMost: 0.6 } },
    { name: 'groups and state not seen lately', value: unseen / 1_000, unit: 'µs', goal: { atMost: 5 } },
    { name: 'the whole decision with every reason', value: whole / 1_000, unit: 'µs' },
    { name: 'the same for groups and state decided on before', value: again / 1_000, unit: 'µs' },
  ]);
}

/**
 * What bounds of arguments add to a decision and to a call: a hundred tools, each bound by two rules out of ten, with
 * values of a claim and of a list.
 */
function benchArguments(): void {
  const tools = manyTools(100);
  const ids = (n: number): readonly string[] => tools.flatMap(({ id }, at) => (at % 5 === n % 5 ? [id] : []));
  const rules: readonly AvailabilityRule[] = Array.from({ length: 10 }, (_, n) => ({
    ...{ name: `rule-${n}`, tools: ids(n), whom: { tenants: [localPrincipal.tenantId] } },
    arguments: { query: n < 5 ? { oneOf: { claim: 'team' }, maxLength: 80 } : { notOneOf: { list: 'secret' } } },
  }));
  const lists = { secret: { values: Array.from({ length: 100 }, (_, n) => `secret-${n}`) } };
  const plain = compileEvaluator(configurationOf(tools));
  const bounded = compileEvaluator({ ...configurationOf(tools), rules, lists });
  const request = make.agentRequest({ question: 'Q', group: ['group-3', 'team-2', 'read-only'] });
  const { state, group: groups } = request;
  const { run: begun } = sampleToolset(
    plain.evaluate({ groups, state, toolIds: null, calls: noCalls, connections: [] }),
  );
  const origin = { channel: 'http', claims: { team: ['a', 'b'] } };
  const deciding = (evaluator: Evaluator): number => {
    const run = withConditions(begun, evaluator, { loads: {}, held: [] }, origin);
    return perCall(() => decideTools({ request, run }, evaluator, 1), 31, 500);
  };
  const [without, within] = [deciding(plain), deciding(bounded)];
  const run = withConditions(begun, bounded, { loads: {}, held: [] }, origin);
  const facts = ruleFactsOf({ request, run }, bounded, 1);
  const call = { toolId: tools[3]?.id ?? '', args: { query: 'a' } };
  const calls = perCall(() => bounded.argumentRules.broken(call, facts, 'undefined'));
  report('Bounds of arguments: 100 tools, each bound by two rules of ten', [
    { name: 'a decision, more than without them', value: (within - without) / 1_000, unit: 'µs', goal: { atMost: 20 } },
    { name: 'a call within its bounds', value: calls / 1_000, unit: 'µs', goal: { atMost: 20 } },
  ]);
}

/** The filter's rule by itself, and what it costs to write its decision down. */
export async function benchRules(): Promise<void> {
  const tools = manyTools(100);
  const rules = compileRules(tools);
  const groups = ['group-3', 'team-2', 'read-only'];
  const seen = perCall(() => rules.decide(groups, 'state-2'));

  // 50 × 49 pairs of groups times a handful of states: more combinations than are remembered, so none has been seen
  // lately.
  let n = 0;
  const fresh: (readonly [string[], string])[] = Array.from({ length: 62_000 }, () => {
    n++;
    return [
      [`group-${n % 50}`, `group-${Math.floor(n / 50) % 50}`, `team-${Math.floor(n / 2_500) % 7}`],
      `state-${Math.floor(n / 17_500) % 5}`,
    ];
  });
  let next = 0;
  const unseen = perCall(() => {
    const [some, state] = fresh[next++ % fresh.length] as readonly [string[], string];
    rules.decide(some, state);
  });

  const tenThousand = manyTools(10_000);
  const compiling = Array.from({ length: 9 }, () => {
    const start = performance.now();
    compileRules(tenThousand);
    return performance.now() - start;
  });

  const evaluator = compileEvaluator(configurationOf(tools));
  const facts = {
    groups,
    state: 'state-2',
    toolIds: null,
    calls: noCalls,
    connections: [],
  };
  const again = perCall(() => evaluator.evaluate(facts), 31, 500);
  // Facts that are the request’s own: nothing of the decision is remembered.
  const own = { ...facts, connections: ['crm'] };
  const evaluate = perCall(() => evaluator.evaluate(own), 31, 500);
  const codec = await createCodec({ register: async () => 1, find: async () => undefined });
  const record = sampleToolset(evaluator.evaluate(facts));
  const shared = perCall(() => codec.encode(topics.toolsets, record), 31, 200);
  const plain = { ...record, tools: [...record.tools], hidden: [...record.hidden] };
  const encoding = perCall(() => codec.encode(topics.toolsets, plain), 31, 200);
  const bytes = codec.encode(topics.toolsets, record).length;

  report('The filter’s rule, 100 tools', [
    { name: 'groups and state seen before', value: seen / 1_000, unit: 'µs', goal: { atMost: 0.6 } },
    { name: 'groups and state not seen lately', value: unseen / 1_000, unit: 'µs', goal: { atMost: 5 } },
    { name: '10,000 tools compiled to rules', value: median(compiling), unit: 'ms', goal: { atMost: 50 } },
    { name: 'the whole decision with every reason, 100 tools', value: evaluate / 1_000, unit: 'µs' },
    { name: 'the same for groups and state decided on before', value: again / 1_000, unit: 'µs' },
    {
      name: `encoding its Toolset (${record.tools.length} tools offered, ${bytes} bytes)`,
      value: encoding / 1_000,
      unit: 'µs',
    },
    { name: 'the same where the decision was encoded before', value: shared / 1_000, unit: 'µs' },
  ]);
  benchAllRules();
  benchArguments();
  await benchAuthorization();
}

function sampleToolset(decision: Decision): Toolset {
  const ids = { requestId: 'r', sessionId: 's' };
  const request = {
    ...make.agentRequest({ question: 'Which one?', state: 'state-2', group: decision.groups }),
    ...ids,
  };
  const run = {
    iteration: 1,
    maxIterations: 10,
    startedAt: 0,
    deadline: 0,
    initialState: 'state-2',
    stateEnteredAt: 0,
    stateTransitions: [],
    requestedGroups: decision.groups,
    availableTools: decision.eligible,
    filteredByGroup: decision.filteredByGroup,
    filteredByState: decision.filteredByState,
    firstTools: null,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    definitionTokens: null,
    otherModels: null,
    resultTokens: null,
    otherTokens: null,
    parkedMs: null,
    toolCalls: noCalls,
    principal: localPrincipal,
    redrive: null,
    answer: null,
    parent: null,
    conditions: null,
    strategy: null,
    memory: null,
  };
  return toolset(ids, request, run, decision, null, 0);
}
