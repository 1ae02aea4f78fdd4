import { describe, expect, it } from '@jest/globals';
import { invocationRecord } from '@sluice/core';

const call = { tool: 'core__echo', arguments: '{"word":"a"}' };
const times = { startedAtMs: 1_700_000_000_000, endedAtMs: 1_700_000_000_007 };
const common = {
  toolCallId: 'c-1',
  name: 'core__echo',
  args: '{"word":"a"}',
  resultHash: 'h',
  cachedAtMs: null,
  content: [],
  questions: [],
  rule: null,
  facts: {},
  ...times,
};

describe('ToolInvocationRecord (T-10c, X-9)', () => {
  it.each([['text'], [null], [{ a: [1] }]])('of a call that succeeded has its result and no error: %j', (value) => {
    const record = invocationRecord(call, { toolCallId: 'c-1', ok: true, value, resultHash: 'h' }, times);
    expect(record).toEqual({ ...common, result: value, error: null });
  });

  it('of a call that failed has its error, in words that may be shown, and no result', () => {
    const failed = { toolCallId: 'c-1', ok: false, errorCode: 'execution', safeMessage: 'It failed.' } as const;
    const error = { code: 'execution', reason: null, safeMessage: 'It failed.' };
    expect(invocationRecord(call, failed, times)).toEqual({ ...common, resultHash: null, result: null, error });
    const late = invocationRecord(call, { ...failed, reason: 'timeout' }, times);
    expect(late).toEqual({ ...common, resultHash: null, result: null, error: { ...error, reason: 'timeout' } });
  });
});
