import { describe, expect, it } from '@jest/globals';
import { invocationRecord, largestProviderData } from '@sluice/core';
import type { Step, ToolExecResult } from '@sluice/core';
import { callIdOf, stepOf, stepResult } from '@sluice/run';
import { make } from '@sluice/contracts';
import type { ToolCall } from '@sluice/contracts';

const call = { toolCallId: 'call-1', tool: 'core__find', arguments: '{"name": "a"}' };
// What a step is made of; the rest of the record is nobody’s affair here.
const record = {
  iteration: 2,
  thought: 'I look it up.',
  calls: [call, { ...call, toolCallId: 'call-2' }],
} as unknown as ToolCall;
const find = { key: 'find', target: 'found' };

/** As the executor has it of a call that took a quarter of a second. */
const ended = (result: ToolExecResult) => invocationRecord(call, result, { startedAtMs: 1_000, endedAtMs: 1_250 });

describe('the record of a call (K-06, X-9)', () => {
  it('holds it from its start to its end: id, name, arguments as written, result, both times, the state', () => {
    const result = { toolCallId: 'call-1', ok: true, value: { rows: [1] }, resultHash: 'h' } as const;
    expect(stepOf(record, 0, 'begun', find, ended(result))).toEqual({
      thought: 'I look it up.',
      action: 'find',
      arguments: '{"name": "a"}',
      observation: '{"rows":[1]}',
      outcome: 'ok',
      reason: null,
      stateBefore: 'begun',
      state: 'found',
      toolCallId: 'call-1',
      iteration: 2,
      index: 0,
      startedAt: 1_000,
      endedAt: 1_250,
      resultHash: 'h',
      agentRun: null,
      providerData: null,
      cachedAt: null,
      content: [],
      questions: [],
      rule: null,
      facts: {},
      edited: null,
      documentation: null,
    });
  });

  it('holds the code, the reason and the safe message of one that failed, and the state it left as it was', () => {
    const result = {
      toolCallId: 'call-2',
      ok: false,
      errorCode: 'execution',
      reason: 'timeout',
      safeMessage: 'Too slow.',
    } as const;
    expect(stepOf(record, 1, 'begun', find, ended(result))).toMatchObject({
      thought: '',
      observation: 'Too slow.',
      outcome: 'execution',
      reason: 'timeout',
      state: 'begun',
      toolCallId: 'call-2',
      index: 1,
      startedAt: 1_000,
      endedAt: 1_250,
      resultHash: null,
      agentRun: null,
    });
  });

  it('goes by what the model wrote where no tool has that name', () => {
    const result = {
      toolCallId: 'call-1',
      ok: false,
      errorCode: 'unavailable',
      safeMessage: 'There is none.',
    } as const;
    expect(stepOf(record, 0, 's', undefined, ended(result))).toMatchObject({ action: 'core__find', reason: null });
  });
});

describe('the id of a call', () => {
  it.each([
    ['', 'call-2-0'],
    ['x', 'x'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), 'call-2-0'],
  ])('is the model’s own where it has 1 to 128 characters: “%s”', (toolCallId, expected) => {
    const given = { ...call, toolCallId } as unknown as ToolCall['calls'][number];
    expect(callIdOf(record, given, 0)).toBe(expected);
  });
});

describe('what a provider wants back, in the history', () => {
  const step = (n: number, more: Partial<Step> = {}) =>
    ({
      ...{ index: n, toolCallId: `c-${String(n)}`, arguments: '{}', agentRun: null, providerData: null },
      ...{ resultHash: null, cachedAt: null, documentation: null, content: [], questions: [] },
      ...more,
    }) as unknown as Step;
  const large = (name: string) => name.repeat(largestProviderData.history / 4);
  const kept = (history: readonly Step[], steps: readonly Step[], calls: readonly object[]) => {
    const given = { ...record, calls, request: { history }, run: { conditions: null } } as unknown as ToolCall;
    const turn = { state: 's', calls: {}, answer: null, did: null };
    return stepResult(given, steps, turn, '').next.history.map(({ providerData }) => providerData?.[0] ?? null);
  };
  const asked = (n: number, providerData: string | null) => ({
    ...{ toolCallId: `c-${String(n)}`, tool: 't', arguments: '{}', argumentsBytes: null, providerData },
  });

  it('is that of the newest calls, where there is too much of it', () => {
    const history = ['a', 'b', 'c'].map((name, n) => step(n, { providerData: large(name) }));
    expect(kept(history, [step(0)], [asked(0, large('d'))])).toEqual(['a', 'b', 'c', 'd']);
    const calls = [asked(0, large('d')), asked(1, large('e'))];
    expect(kept(history, [step(0), step(1)], calls)).toEqual([null, 'b', 'c', 'd', 'e']);
  });

  it('is not that of a call that was refused: its step repeats nothing of it, and takes no room', () => {
    const history = ['a', 'b', 'c'].map((name, n) => step(n, { providerData: large(name) }));
    const refused = step(1, { arguments: '', outcome: 'execution', reason: 'record_full' });
    const calls = [asked(0, large('d')), asked(1, large('e'))];
    expect(kept(history, [step(0), refused], calls)).toEqual(['a', 'b', 'c', 'd', null]);
  });
});

describe('the content of a step, in the history', () => {
  it('is what a model may be given, by name', () => {
    const named = (kind: string) => ({ hash: kind, type: 'a/b', size: 1, kind, name: null });
    const content = ['result', 'image', 'audio', 'resource', 'value'].map(named);
    const step = { ...make.agentStep({ content }), resultHash: 'h' };
    const given = { ...record, calls: [call], request: { history: [] }, run: { conditions: null } };
    const turn = { state: 's', calls: {}, answer: null, did: null };
    const { steps, next } = stepResult(given as unknown as ToolCall, [step], turn, '');
    expect(steps).toEqual([step]);
    expect(next.history).toEqual([{ ...step, resultHash: null, content: ['image', 'audio', 'resource'].map(named) }]);
  });
});
