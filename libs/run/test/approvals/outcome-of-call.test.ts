import { describe, expect, it } from '@jest/globals';
import type { Verifier } from '@sluice/core';
import type { LogReader } from '@sluice/bus';
import type { ApprovalRequested } from '@sluice/contracts';
import { outcomeOfCall } from '@sluice/run';

const requested = {
  ...{ approvalId: 'ap-1', requestId: 'r', sessionId: 's', tenantId: 'acme' },
  ...{ iteration: 2, index: 1, toolCallId: 'two' },
} as ApprovalRequested;
const call = { index: 1, toolCallId: 'two', observation: 'Sent.' };
const run = (tenantId: string) => ({ principal: { tenantId } });
const steps = (more: object = {}) => [
  'agent.steps',
  {
    requestId: 'r',
    run: run('acme'),
    iteration: 2,
    steps: [{ index: 0, toolCallId: 'one' }, call],
    call: null,
    next: { call: null },
    ...more,
  },
];
const decided = (more: object = {}) => [
  'agent.approvals',
  { requested: null, outcome: { approvalId: 'ap-1', decision: 'approve', ...more } },
];
const next = (more: object = {}) => [
  'agent.approvals',
  { outcome: null, requested: { requestId: 'r', tenantId: 'acme', iteration: 2, steps: [call], ...more } },
];
const end = (more: object = {}) => [
  'agent.responses',
  { requestId: 'r', run: run('acme'), error: null, recordSignature: null, ...more },
];

/** What is read off a log of these records, whose signatures say nothing yet. */
async function outcome(...records: readonly unknown[][]) {
  const log: LogReader = {
    read: () =>
      (async function* () {
        for (const [topic, record] of records)
          yield (await Promise.resolve({ topic, record, timestamp: 5 })) as unknown;
      })() as never,
  };
  const signatures = { since: () => Infinity } as unknown as Verifier;
  const claims = {
    isDecided: () => Promise.resolve(true),
    isVouched: (one: object) => Promise.resolve(!('forged' in one)),
  };
  const found = await outcomeOfCall(requested, 0, log, { signatures, claims } as never, new AbortController().signal);
  return [found.outcome?.decision ?? null, found.step?.observation ?? null, found.runEnded];
}

describe('what became of a call that was decided on', () => {
  it('is its step, and the decision that was taken', async () => {
    expect(await outcome(decided(), steps())).toEqual(['approve', 'Sent.', null]);
    expect(await outcome(decided({ approvalId: 'ap-2' }), steps({ iteration: 1 }))).toEqual([null, null, null]);
  });

  it('is its step in what was asked about the turn’s next call, if that is vouched for', async () => {
    expect(await outcome(next())).toEqual([null, 'Sent.', null]);
    for (const more of [{ requestId: 'q' }, { tenantId: 'other' }, { forged: true }])
      expect(await outcome(next(more))).toEqual([null, null, null]);
  });

  it('is how its run ended, where the call has no step', async () => {
    expect(await outcome(end())).toEqual([null, null, 'answer']);
    expect(await outcome(end({ error: { code: 'cancelled' } }))).toEqual([null, null, 'cancelled']);
    expect(await outcome(steps(), end())).toEqual([null, 'Sent.', null]);
  });

  it('is nothing of another run of the session, nor of another tenant’s of that id', async () => {
    for (const more of [{ requestId: 'q' }, { run: run('other') }, { run: null }])
      expect(await outcome(steps(more), end(more))).toEqual([null, null, null]);
  });
});
