import { describe, expect, it } from '@jest/globals';
import { allowed, authorize, compileEvaluator, eligible } from '@sluice/core';
import { compileConfiguration } from '@sluice/configuration';
import type { Evaluator, JsonObject, Principal } from '@sluice/core';
import { createAuthorizer } from '@sluice/authorization';
import { beginning, channelHeader, decideIteration, originOf, ruleFactsOf, withConditions } from '@sluice/run';
import { callRequest, listedTools, namesIn } from '@sluice/mcp';
import type { Asking } from '@sluice/mcp';
import fc from 'fast-check';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const keys = ['a', 'b', 'c', 'a-long-key-of-the-list'];
const groups = ['g', 'h'];
const states = ['s', 't'];
const callers = ['user:ann', 'user:bob'];
const now = Date.UTC(2026, 0, 1);

const file = fc.record({
  tool: fc.record(
    Object.fromEntries(
      keys.map((key) => [
        key,
        fc.record({
          type: fc.constantFrom('knowledge-query', 'graph-update', 'text-completion'),
          group: fc.option(fc.subarray(groups)),
          available_in_states: fc.option(fc.subarray([...states, '*'])),
        }),
      ]),
    ),
  ),
  authorization: fc.option(
    fc.record({
      permissions: fc.array(
        fc.record({
          principals: fc.subarray(callers, { minLength: 1 }),
          tenants: fc.constantFrom(['acme'], ['other'], ['*']),
          tools: fc.oneof(fc.subarray(keys, { minLength: 1 }), fc.constant(['*'])),
        }),
        { maxLength: 3 },
      ),
    }),
    { nil: undefined },
  ),
  rules: fc.array(
    fc.record({
      tools: fc.subarray(keys, { minLength: 1, maxLength: 2 }),
      condition: fc.constantFrom<object>(
        { when: { channels: ['mcp'] } },
        { when: { channels: ['http'] } },
        { when: { tenants: ['other'] } },
        { when: { claims: { department: ['research'] } } },
        { when: { states: ['s'] } },
        // The question of a call is its own, and so has a length of its own.
        { when: { question_bytes: 16 } },
        { unless: { languages: ['und'] } },
        { time: { zone: 'UTC', until: '12:00' } },
        { time: { zone: 'UTC', from: '12:00' } },
        { load: { measure: 'calls_in_flight', close_above: 2 } },
        { load: { measure: 'call_seconds_p95', close_above: 2 } },
        { history: { at_most: 1 } },
        { for: { tenants: ['other'] }, when: { channels: ['http'] } },
      ),
    }),
    { maxLength: 2 },
  ),
  bounds: fc.array(
    fc.record({
      tool: fc.constantFrom(...keys),
      of: fc.constantFrom(
        {},
        { for: { channels: ['mcp'], claims: { department: ['research'] } } },
        { for: { agents: ['default'] } },
        { for: { tenants: ['other'] } },
      ),
      bound: fc.constantFrom<object>({ one_of: { claim: 'department' } }, { max_length: 5 }, { const: 'x' }),
    }),
    { maxLength: 3 },
  ),
  policy: fc.record({
    allowed_tools: fc.subarray(keys),
    approval: fc.record({ effects: fc.subarray(['read_only', 'state_change']), approvers: fc.subarray(callers) }),
    budgets: fc.record({ calls_per_run: fc.option(fc.integer({ min: 1, max: 3 })) }),
  }),
});

const caller: fc.Arbitrary<Principal> = fc.record({
  actorId: fc.constantFrom(...callers),
  tenantId: fc.constant('acme'),
  subjectId: fc.constant(null),
  groups: fc.oneof(fc.subarray(groups), fc.constant(['*'])),
  connections: fc.constant([]),
});

const measured = { loads: { calls_in_flight: '3', call_seconds_p95: '1' }, held: [] };

function evaluatorOf({
  rules,
  bounds,
  ...raw
}: typeof file extends fc.Arbitrary<infer File> ? File : never): Evaluator | null {
  const named: Record<string, object> = Object.fromEntries(
    rules.map(({ tools, condition }, n) => [`rule-${n}`, { tools, ...condition }]),
  );
  // Of the tool, its one argument.
  const argument = { 'knowledge-query': 'entity', 'graph-update': 'add', 'text-completion': 'prompt' } as const;
  for (const [n, { tool, of, bound }] of bounds.entries()) {
    const path = argument[raw.tool[tool]?.type as keyof typeof argument];
    named[`bounds-${n}`] = { tools: [tool], ...of, arguments: { [path]: bound } };
  }
  const { configuration } = compileConfiguration({ ...raw, rules: named }, sampleInputs);
  return configuration === null ? null : compileEvaluator(configuration);
}

/**
 * What the run of the call is offered as the tool’s schema, if the filter lets it begin and the executor admits the
 * call, up to what its arguments decide; else null.
 */
async function schemaOfCall(
  name: string,
  { caller: who, claims, state }: Pick<Asking, 'caller' | 'claims' | 'state'>,
  evaluator: Evaluator,
): Promise<JsonObject | null> {
  const tool = namesIn(evaluator).byName.get(name);
  if (tool?.spec == null) return null;
  const request = callRequest(who, state, tool, {}, { requestId: 'r', sessionId: 's' });
  const { run: begun, groups: requested, permission } = beginning(request, who, evaluator, now);
  if (!permission.ok) return null;
  const origin = originOf({ [channelHeader]: 'mcp' }, claims, evaluator);
  const run = withConditions(begun, evaluator, measured, origin);
  const decided = decideIteration(request, request, run, evaluator, now);
  if (decided.kind === 'end') return null;
  const judges = { granting: evaluator, inForce: evaluator };
  const facts = {
    ...{ groups: requested, state: state ?? 'undefined', toolChoice: null, calls: {}, completed: false },
    ...{ depth: 0, connections: [], offered: new Set(decided.decision.offered.map(({ id }) => id)) },
    rules: ruleFactsOf({ request, run }, evaluator, now),
  };
  if (!eligible(tool.id, facts, judges).ok || !allowed(tool.id, facts, judges).ok) return null;
  const context = { runId: 'r', sessionId: 's', toolCallId: 'c', actorId: who.actorId, tenantId: who.tenantId };
  const asked = { id: tool.id, effect: tool.spec.effect };
  const authorizer = createAuthorizer(evaluator.configuration.authorization);
  const permitted = await authorize([authorizer], 'tool.execute', asked, context, () => undefined);
  return permitted.ok ? (decided.decision.offered.find(({ id }) => id === tool.id)?.spec?.inputSchema ?? null) : null;
}

describe('what `tools/list` lists', () => {
  it('is what a call is admitted for, under any configuration, for any caller, in any state (M-78, XB-36)', async () => {
    let compiled = 0;
    let listed = 0;
    let narrowed = 0;
    const state = fc.option(fc.constantFrom(...states));
    const department = fc.constantFrom<JsonObject | undefined>(undefined, { department: 'research' });
    await fc.assert(
      fc.asyncProperty(file, caller, state, department, async (raw, who, at, claims) => {
        const evaluator = evaluatorOf(raw);
        if (evaluator === null) return;
        compiled++;
        const authorizer = createAuthorizer(evaluator.configuration.authorization);
        const asking = { caller: who, claims, state: at, measured, now };
        const tools = await listedTools(asking, evaluator, authorizer);
        const all = [...namesIn(evaluator).byName.keys()];
        const callable = new Map<string, JsonObject>();
        for (const name of all) {
          const schema = await schemaOfCall(name, asking, evaluator);
          if (schema !== null) callable.set(name, schema);
        }
        listed += tools.length;
        expect(new Map(tools.map(({ name, inputSchema }) => [name, inputSchema] as const))).toEqual(callable);
        narrowed += tools.filter(({ inputSchema }) => /maxLength|enum/.test(JSON.stringify(inputSchema))).length;
      }),
      { numRuns: 600 },
    );
    // Otherwise the property would hold of nothing.
    expect(compiled).toBeGreaterThan(200);
    expect(listed).toBeGreaterThan(50);
    expect(narrowed).toBeGreaterThan(5);
  });
});
