import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { compileEvaluator, invocationRecord, largestThought } from '@sluice/core';
import type { Evaluator, Step, ToolExecResult, ToolType } from '@sluice/core';
import { make, maxPayloadBytes, payloadBytes, recordFromJson, topics } from '@sluice/contracts';
import type { Run, Toolset } from '@sluice/contracts';
import {
  afterStep,
  agentBeginning,
  agentRunIdOf,
  approvalRequest,
  boundedTurn,
  callIdOf,
  errorResponse,
  hasRoom,
  noRoomForResult,
  notMade,
  refusedCall,
  stepOf,
  stepResult,
  turnAfter,
} from '@sluice/run';
import type { TurnSoFar } from '@sluice/run';
import fc from 'fast-check';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const inputSchema = { type: 'object', properties: {}, additionalProperties: true } as const;
const type: ToolType = {
  type: 'write',
  description: 'Writes.',
  inputSchema,
  effect: 'state_change',
  redaction: { whole: true },
  repeatable: false,
};

/** Null where the limits do not go together. */
function evaluatorOf(limits: object, more: object = {}): Evaluator | null {
  const file = {
    tool: {
      write: { type: 'write', state: 'written', available_in_states: ['*'] },
      ask: { type: 'agent', description: 'Asks.', available_in_states: ['*'], agent: { group: ['a'] } },
      done: { type: 'mark_complete', available_in_states: ['*'] },
    },
    model: { provider: 'rules' },
    policy: { allowed_tools: ['*'], allowed_agents: ['*'], approval: { approvers: ['*'] } },
    limits,
    ...more,
  };
  const types = [type, { ...type, type: 'agent' }, { ...type, type: 'mark_complete', effect: 'read_only' } as const];
  const files = { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] };
  const { configuration, problems } = compileConfiguration(file, { types, offers: [], digest, files });
  for (const problem of problems) expect(problem.path).toBe('limits.history_bytes');
  return configuration === null ? null : compileEvaluator(configuration);
}

const principal = { actor_id: 'user:ann', tenant_id: 'acme', subject_id: null, groups: ['*'], connections: ['*'] };
const run = {
  ...{
    iteration: 2,
    max_iterations: 5,
    started_at: 1_700_000_000_000,
    deadline: 1_700_000_300_000,
    initial_state: 'undefined',
  },
  ...{ state_entered_at: 1_700_000_000_000, requested_groups: ['*'], principal },
};

function toolsetOf(question: string, history: readonly number[]): Toolset {
  const steps = history.map((bytes, n) => ({
    action: 'write',
    observation: 'x'.repeat(bytes),
    tool_call_id: `h-${n}`,
  }));
  const request = { request_id: 'r', session_id: 's', question, group: ['*'], history: steps };
  return recordFromJson('Toolset', {
    ...{ request_id: 'r', session_id: 's', iteration: 2, state: 'undefined', groups: ['*'], config_version: 'c-1' },
    ...{
      request,
      run,
      tools: [],
      hidden: [],
      hidden_counts: {},
      unknown_groups: [],
      decided_at: 0,
      grant: 'g'.repeat(900),
    },
  }) as unknown as Toolset;
}

const bytes = (most: number) => fc.integer({ min: 0, max: most });
const limits = fc.record({
  calls_per_turn: fc.integer({ min: 1, max: 128 }),
  history_bytes: fc.oneof(fc.integer({ min: 1, max: 786_432 }), fc.integer({ min: 200_000, max: 500_000 })),
  argument_bytes: fc.integer({ min: 1, max: 65_536 }),
  result_bytes: fc.oneof(fc.constant(32_768), fc.integer({ min: 200, max: 262_144 })),
});
const calls = fc.array(
  fc.record({
    tool: fc.constantFrom('core__write', 'core__write', 'core__ask', 'core__done', 'core__unknown', 'n'.repeat(500)),
    arguments: fc.oneof({ weight: 12, arbitrary: bytes(200) }, bytes(70_000), bytes(400_000)),
    result: fc.oneof(bytes(100), { weight: 3, arbitrary: fc.constant(Infinity) }, bytes(262_144)),
  }),
  { minLength: 1, maxLength: 150, size: 'max' },
);

describe('a turn’s calls and the record of its steps', () => {
  it('at all limits, sizes and counts: what was done has a step on a record that can be written, as do parked turns and the run’s end', () => {
    let [made, full, impossible] = [0, 0, 0];
    fc.assert(
      fc.property(
        limits,
        calls,
        bytes(20_000),
        fc.array(bytes(60_000), { maxLength: 8 }),
        bytes(100_000),
        (given, wanted, thought, history, question) => {
          const granted = evaluatorOf(given);
          if (granted === null) return void impossible++;
          const toolset = toolsetOf('q'.repeat(question), history);
          const said = wanted.map((call, n) => ({
            toolCallId: `call-${n}`,
            tool: call.tool,
            arguments: JSON.stringify({ summary: 'a'.repeat(call.arguments) }),
          }));
          const turn = { thought: 't'.repeat(thought * 3), calls: said };
          const record = boundedTurn(toolset, toolset.run, { ...turn, model: null }, granted.configuration.limits);
          const fits = (topic: Parameters<typeof payloadBytes>[0], one: object): void =>
            expect(payloadBytes(topic, one as never)).toBeLessThanOrEqual(maxPayloadBytes - 4_096);
          fits(topics.toolCalls, record);
          expect(record.calls.length + record.omittedCalls).toBe(wanted.length);

          const steps: Step[] = [];
          let [soFar, effects] = [turnAfter(record, [], granted), 0];
          for (const [index, call] of record.calls.entries()) {
            const why = notMade(record, index, steps, soFar, granted);
            const tool = granted.byId(call.tool);
            if (why === null) {
              effects++;
              const message = { topic: topics.toolCalls, partition: 0, offset: 0, record };
              const asking = {
                ...{ approvalId: 'a-1', toolCallId: 'c', effect: 'state_change' as const, arguments: call.arguments },
                ...{ requestedBy: 'user:ann', onBehalfOf: null, tenantId: 'acme', question: null },
                ...{ asks: [], state: soFar.state, bound: '' },
              };
              const judges = { granting: granted, inForce: granted };
              const requested = approvalRequest(message, index, asking, steps, judges, 0);
              fits(topics.approvals, make.approval({ requested }));
              if (tool?.agent !== undefined) {
                const handing = {
                  agentRunId: agentRunIdOf(record, call, index),
                  question: call.arguments,
                  startedAt: 0,
                  fanOut: null,
                };
                fits(topics.steps, agentBeginning(message, index, handing, steps, judges));
              }
            }
            const toolCallId = callIdOf(record, call, index);
            // A result of JSON text has quotes around it, which count.
            const most = Math.min(wanted[index]?.result ?? 0, given.result_bytes - 2);
            const value =
              tool?.type === 'mark_complete'
                ? 'a'.repeat(Math.min(most, wanted[index]?.arguments ?? 0))
                : 'r'.repeat(most);
            const ended: ToolExecResult =
              tool === undefined
                ? {
                    toolCallId,
                    ok: false,
                    errorCode: 'unavailable',
                    reason: 'unknown_tool',
                    safeMessage: '€'.repeat(4_096),
                  }
                : { toolCallId, ok: true, value, resultHash: `k-1:${'f'.repeat(64)}` };
            const at = { startedAtMs: run.started_at, endedAtMs: run.started_at + 1 };
            const agentRun =
              tool?.agent === undefined
                ? null
                : {
                    ...{ requestId: 'agent-'.padEnd(38, 'f'), inputTokens: 1e9, outputTokens: 1e9 },
                    ...{ definitionTokens: 1e9, resultTokens: 1e9, otherTokens: 1e9 },
                    otherModels: {
                      ...{ inputTokens: 1e9, outputTokens: 1e9, cachedInputTokens: 0, cacheWriteTokens: 0 },
                      microUsd: 1e9 / 3,
                    },
                  };
            const step =
              why === null
                ? stepOf(record, index, soFar.state, tool, invocationRecord(call, ended, at), agentRun)
                : refusedCall(record, index, soFar.state, run.started_at, why, granted);
            steps.push(step);
            soFar = afterStep(soFar, why === null ? call.tool : null, step, granted);
            expect(step.observation === '').toBe(why === null && value === '' && tool !== undefined);
          }
          made += effects;
          full += steps.some(({ reason }) => reason === 'record_full') && effects > 0 ? 1 : 0;
          // Where nothing was made nothing is lost: such a turn ends its run.
          if (effects === 0) return;
          const result = { ...stepResult(record, steps, soFar, 'c-0123456789abcdef'), signature: 's'.repeat(2_000) };
          fits(topics.steps, result);
          const { next, run: ended } = result;
          const about = { request: next, run: ended as Run, configVersion: 'c-0123456789abcdef' };
          const error = { code: 'size_exceeded', message: 'm'.repeat(4_000) } as const;
          fits(topics.responses, errorResponse(result, error, about, run.started_at));
          expect(next.history.length).toBe(history.length + record.calls.length);
        },
      ),
      // Looking for a smaller example takes minutes where the records are large.
      { numRuns: 200, endOnFailure: true },
    );
    expect(Math.min(made, full, impossible)).toBeGreaterThan(20);
  });

  it('5,000 calls: those that may be made stand there whole, as many again by name, the rest is counted, and the model hears of it', () => {
    const granted = evaluatorOf({ calls_per_turn: 2 }) as Evaluator;
    const toolset = toolsetOf('Go', []);
    const said = Array.from({ length: 5_000 }, (_, n) => ({
      toolCallId: `call-${n}`,
      tool: 'core__write',
      arguments: '{"a":1}',
    }));
    const turn = { thought: '😀'.repeat(largestThought), calls: said };
    const record = boundedTurn(toolset, toolset.run, { ...turn, model: null }, granted.configuration.limits);
    expect(record.calls.map((call) => [call.toolCallId, call.arguments, call.argumentsBytes])).toEqual([
      ['call-0', '{"a":1}', null],
      ['call-1', '{"a":1}', null],
      ['call-2', '[7 bytes left out]', 7],
      ['call-3', '[7 bytes left out]', 7],
    ]);
    expect(record.omittedCalls).toBe(4_996);
    expect(record.thought).toMatch(/^(😀)+\n\n\[The thought was longer: \d+ of its 65536 bytes were left out\.\]$/u);
    expect(Buffer.byteLength(record.thought)).toBeLessThanOrEqual(largestThought);
    const soFar = turnAfter(record, [], granted);
    const whys = record.calls.map((_, index) => notMade(record, index, [], soFar, granted));
    expect(whys).toEqual([null, null, 'too_many_calls', 'too_many_calls']);
    const texts = [2, 3].map((index) => refusedCall(record, index, 's', 0, 'too_many_calls', granted).observation);
    expect(texts).toEqual([
      'The turn made 5000 calls and may make 2, so this one was not made. Make fewer calls in a turn.',
      'The turn made 5000 calls and may make 2, so this one was not made, nor the 4996 behind it. Make fewer calls in a turn.',
    ]);
  });

  it('the step of a call that an earlier attempt made says so and takes no more room than a refusal, where its result would not fit', () => {
    const granted = evaluatorOf({ calls_per_turn: 4, history_bytes: 1_000, result_bytes: 262_144 }) as Evaluator;
    const toolset = toolsetOf('Go', []);
    const said = ['one', 'two', 'three'].map((toolCallId) => ({ toolCallId, tool: 'core__write', arguments: '{}' }));
    const record = boundedTurn(
      toolset,
      toolset.run,
      { thought: '', calls: said, model: null },
      granted.configuration.limits,
    );
    const at = { startedAtMs: run.started_at + 5, endedAtMs: run.started_at + 9 };
    const made = (index: number, soFar: TurnSoFar): Step => {
      const value = 'r'.repeat(262_000);
      const ended = { toolCallId: said[index]?.toolCallId ?? '', ok: true, value } as const;
      const call = record.calls[index] as (typeof record.calls)[number];
      return stepOf(record, index, soFar.state, granted.byId('core__write'), invocationRecord(call, ended, at));
    };
    let soFar = turnAfter(record, [], granted);
    const first = made(0, soFar);
    soFar = afterStep(soFar, 'core__write', first, granted);
    expect(notMade(record, 1, [first], soFar, granted)).toBe('record_full');
    const second = made(1, soFar);
    expect(hasRoom(record, [first, second], afterStep(soFar, 'core__write', second, granted), granted)).toBe(false);

    const brief = noRoomForResult(record, 1, soFar.state, at, granted);
    expect(brief).toMatchObject({
      ...{ action: 'write', toolCallId: 'two', index: 1, outcome: 'execution', reason: 'result_too_large' },
      ...{ startedAt: at.startedAtMs, endedAt: at.endedAtMs, arguments: '', state: 'written', stateBefore: 'written' },
      observation: expect.stringMatching(/^An earlier attempt at this turn made the call/),
    });
    expect(hasRoom(record, [first, brief], afterStep(soFar, null, brief, granted), granted)).toBe(true);
  });

  it('what rules find out of a call has room in its step, as has the name of a rule', () => {
    const spans = Array.from({ length: 320 }, (_, n) => ({
      of: 'calls',
      at_most: 9,
      per: 'user',
      within: `${n + 1}s`,
    }));
    const rules = Array.from({ length: 40 }, (_, n) => [
      `r-${n}`.padEnd(200, 'x'),
      { tools: ['write'], totals: spans.slice(8 * n, 8 * n + 8) },
    ]);
    const own = { history_bytes: 700_000 };
    const [plain, ruled] = [{}, { rules: Object.fromEntries(rules) as object }].map(
      (more) => evaluatorOf(own, more) as Evaluator,
    ) as [Evaluator, Evaluator];
    const names = ruled.past.totalFacts('core__write');
    expect(names).toHaveLength(320);
    const said = { thought: '', calls: [{ toolCallId: 'one', tool: 'core__write', arguments: '{}' }], model: null };
    const verdictOf = (granted: Evaluator, question: number) => {
      const toolset = toolsetOf('q'.repeat(question), []);
      const record = boundedTurn(toolset, toolset.run, said, granted.configuration.limits);
      return { record, why: notMade(record, 0, [], turnAfter(record, [], granted), granted) };
    };
    const step = { facts: Object.fromEntries(names.map((name) => [name, '9000000000000.000001'])) };
    const facts = JSON.stringify(step).length;
    // Just so much room that the call alone would be made.
    let question = 950_000;
    while (verdictOf(plain, question).why !== null) question -= 1_000;
    expect(verdictOf(ruled, question).why).toBe('record_full');
    while (verdictOf(ruled, question).why !== null) question -= 1_000;
    const { record } = verdictOf(ruled, question);
    const room = maxPayloadBytes - payloadBytes(topics.toolCalls, record);
    expect(room).toBeGreaterThan(facts + 2 * ruled.configuration.limits.resultBytes);
  });

  it('arguments beyond the limit are left out, and the step says how large they were', () => {
    const granted = evaluatorOf({ argument_bytes: 100 }) as Evaluator;
    const toolset = toolsetOf('Go', []);
    const large = { toolCallId: 'one', tool: 'core__write', arguments: JSON.stringify({ a: '€'.repeat(40) }) };
    const record = boundedTurn(
      toolset,
      toolset.run,
      { thought: '', calls: [large], model: null },
      granted.configuration.limits,
    );
    expect(record.calls).toEqual([
      { ...large, arguments: '[128 bytes left out]', argumentsBytes: 128, providerData: null },
    ]);
    const why = notMade(record, 0, [], turnAfter(record, [], granted), granted);
    expect(refusedCall(record, 0, 's', 0, why ?? 'record_full', granted)).toMatchObject({
      ...{ outcome: 'validation', reason: 'arguments_too_large', action: 'write' },
      observation: 'The arguments have 128 bytes and the limit is 100. Send less in one call.',
    });
  });

  it('arguments that are each within their limit and together too large for the record are left out, the last ones first', () => {
    const granted = evaluatorOf({ argument_bytes: 65_536 }) as Evaluator;
    const toolset = toolsetOf('q'.repeat(300_000), []);
    const text = JSON.stringify({ a: 'a'.repeat(60_000) });
    const said = Array.from({ length: 16 }, (_, n) => ({ toolCallId: `c-${n}`, tool: 'core__write', arguments: text }));
    const record = boundedTurn(
      toolset,
      toolset.run,
      { thought: '', calls: said, model: null },
      granted.configuration.limits,
    );
    expect(payloadBytes(topics.toolCalls, record)).toBeLessThanOrEqual(maxPayloadBytes);
    const whole = record.calls.map((call) => call.arguments === text);
    expect(whole).toEqual(whole.map((_, n) => n < 11));
    const why = notMade(record, 11, [], turnAfter(record, [], granted), granted);
    const refused = refusedCall(record, 11, 's', 0, why ?? 'record_full', granted);
    expect(refused.observation).toContain('the record of the turn has no room for them');
  });

  it('under a configuration of an earlier version nothing is bounded but the history, as then', () => {
    const today = evaluatorOf({ history_bytes: 100 }) as Evaluator;
    const { callsPerTurn: _, ...former } = today.configuration.limits;
    const granted = compileEvaluator({ ...today.configuration, limits: former });
    const toolset = toolsetOf('Go', []);
    const said = Array.from({ length: 500 }, (_, n) => ({
      toolCallId: `call-${n}`,
      tool: 'core__write',
      arguments: '{}',
    }));
    const record = boundedTurn(toolset, toolset.run, { thought: 't'.repeat(20_000), calls: said, model: null }, former);
    expect(record).toMatchObject({ calls: said, omittedCalls: 0, thought: 't'.repeat(20_000) });
    expect(notMade(record, 499, [], turnAfter(record, [], granted), granted)).toBeNull();
    const full = { ...turnAfter(record, [], granted), bytes: 101 };
    expect(notMade(record, 1, [], full, granted)).toBe('history_full');
    expect(refusedCall(record, 1, 's', 0, 'history_full', granted)).toMatchObject({
      ...{ outcome: 'execution', reason: 'result_too_large', action: 'core__write' },
      observation: 'The history of this run is full; the call was not made.',
    });
  });

  it('limits that leave no room for one call behind a history are refused with what to write', () => {
    const file = (limits: object) =>
      compileConfiguration(
        { tool: {}, limits },
        { types: [], offers: [], digest, files: { read: () => ({ error: '' }), cedarProblems: () => [] } },
      ).problems;
    const [problem, ...more] = file({ result_bytes: 262_144 });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      path: 'limits.history_bytes',
      found: expect.stringMatching(/^524288, which with .* 1000000 bytes/),
    });
    const most = Number(/at most (\d+)/.exec(problem?.write ?? '')?.[1]);
    expect(file({ result_bytes: 262_144, history_bytes: most })).toEqual([]);
    expect(file({ result_bytes: 262_144, history_bytes: most + 1 })).toHaveLength(1);
    expect(file({ history_bytes: 786_432 })).toEqual([]);
  });
});
