import { describe, expect, it } from '@jest/globals';
import { invocationRecord } from '@sluice/core';
import type { ToolExecResult } from '@sluice/core';
import { stepOf } from '@sluice/run';
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
