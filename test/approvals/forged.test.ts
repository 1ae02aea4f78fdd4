import { afterEach, describe, expect, it } from '@jest/globals';
import { claimMemoryMs } from '@sluice/core';
import { make, positionOf, topics } from '@sluice/contracts';
import type { ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import { ApprovalClaims, approvalIdOf, callKeyOf } from '@sluice/run';
import { digestOfRequest } from '../../libs/run/src/claims/vouched.js';
import { ExpirySweep } from '../../apps/executor/src/approvals/expiry-sweep.js';
import { run as approvals } from '../../apps/sluice/src/commands/approvals.js';
import {
  anyone,
  asked,
  begun,
  configured,
  decide,
  notTheSecond,
  outcomes,
  short,
  startRunning,
  threeCalls,
} from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const soon = "{ approvers: ['*'], expires_seconds: 2 }";
const expired = [
  ['complex-analysis', 'ok', null, 'results'],
  ['reset-workflow', 'policy_denied', 'approval_expired', 'results'],
  ['text-completion', 'ok', null, 'undefined'],
];

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

/** As anybody does who may write agent.approvals, and nothing else. */
const smuggle = (
  { bus }: TestSystem,
  record: { readonly requested: ApprovalRequested } | { readonly outcome: ApprovalOutcome },
) => {
  const whole = make.approval(record);
  return bus.publish([{ topic: topics.approvals, key: 'session-1', record: whole }]);
};
const list = ({ embedded }: TestSystem, ...more: string[]) =>
  inProcess(approvals, embedded.runtime.environment, 'list', ...more);

describe('an approval record that no service wrote has no effect (XB-14)', () => {
  it.each(['approve', 'expire'])(
    'an outcome (%s): the call still waits, and expires when its time is up',
    async (decision) => {
      const { opened, end } = await startRunning(soon, [threeCalls]);
      system = opened;
      const { approvalId, requestId, sessionId, argumentsHash } = (await asked(opened)).requested;
      const said = { decision, decidedBy: 'service:executor', at: 0 };
      const outcome = make.approvalOutcome({ approvalId, requestId, sessionId, argumentsHash, ...said });
      await smuggle(opened, { outcome });
      expect((await list(opened)).output).toContain(approvalId);
      expect(short((await end).history)).toEqual(expired);
      expect(await begun(opened)).toEqual(notTheSecond);
      expect((await outcomes(opened)).map(({ at }) => at > 0)).toEqual([false, true]);
      expect((await list(opened)).output).toBe('No call waits for an approval.\n');
    },
    30_000,
  );

  it('a request under the id of a call to come: the call is shown as it is, and expires when its time is up', async () => {
    const model = new ScriptedModel(inOrder(threeCalls));
    system = await startSystem(configured(soon), model);
    const [tool, args] = calls.reset;
    const call = { toolCallId: '', tool, arguments: args, argumentsBytes: null, providerData: null };
    const approvalId = approvalIdOf(callKeyOf('run-1', { iteration: 1 }, call, 1));
    const requestIds = {
      approvalId,
      requestId: 'run-1',
      sessionId: 'session-1',
      iteration: 1,
      index: 1,
      toolCallId: '',
    };
    await smuggle(system, {
      requested: make.approvalRequested({
        ...{ ...requestIds, tool: ids.reset, effect: 'state_change', thought: '', steps: [], argumentsHash: '' },
        ...{ arguments: '{"harmless":true}', requestedBy: 'user:eve', onBehalfOf: null, tenantId: '' },
        ...{ topic: topics.toolCalls, partition: 0, offset: 0, requestedAt: Date.now() },
        ...{ expiresAt: Date.now() + 3_600_000, configVersion: '', inForceVersion: '', parkedMs: null },
      }),
    });
    expect((await list(system)).output).toBe('No call waits for an approval.\n');
    const end = system.ask({ group: ['*'], state: 'analysis', requestId: 'run-1', sessionId: 'session-1' });
    expect((await asked(system, 2)).requested.approvalId).toBe(approvalId);
    expect(JSON.parse((await list(system, '--json')).output)).toMatchObject({
      approval_id: approvalId,
      arguments: '{}',
      requested_by: 'user:local',
    });
    expect(short((await end).history)).toEqual(expired);
  });

  it('a copy of a request that says otherwise what it is of: no decision on it counts', async () => {
    const { opened, end } = await startRunning(anyone, [threeCalls]);
    system = opened;
    const honest = await asked(opened);
    const changes = [{ bound: '' }, { state: 'other' }, { askedBecause: 'No reason.' }, { inForceVersion: 'other' }];
    for (const [n, change] of changes.entries()) {
      await smuggle(opened, { requested: { ...honest.requested, ...change } });
      const copy = await asked(opened, 2 + n);
      expect(await decide(opened, copy, 'approve')).toMatchObject({ notTaken: 'unknown_approval' });
    }
    await decide(opened, honest, 'refuse');
    expect(short((await end).history)[1]?.[2]).toBe('approval_refused');
  });

  it('a copy of an outcome that names other approvers than the ledger has: it counts for none', async () => {
    const rules = "rules: { twice: { tools: [reset-workflow], quorum: 2, approvers: ['*'] } }";
    const { opened, end } = await startRunning(`{ approvers: ['*'], ${rules} }`, [threeCalls]);
    system = opened;
    const claims = new ApprovalClaims(opened.embedded.runtime);
    const honest = await asked(opened);
    const first = await decide(opened, honest, 'approve');
    const second = await decide(opened, honest, 'approve', { decidedBy: 'user:bob' });
    await end;
    for (const outcome of [first, second]) {
      expect(await claims.isDecided(outcome)).toBe(true);
      expect(await claims.isDecided({ ...outcome, approvedBy: ['user:eve'] })).toBe(false);
      expect(await claims.isDecided({ ...outcome, rules: [] })).toBe(false);
    }
    expect(await claims.isDecided({ ...second, decidedAs: ['role:board'] })).toBe(false);
  });

  it('a request that a former version vouched for still counts, unless it says what those could not', async () => {
    const { opened, end } = await startRunning(anyone, [threeCalls]);
    system = opened;
    const { runtime } = opened.embedded;
    const honest = await asked(opened);
    const claims = new ApprovalClaims(runtime);
    const own = make.approvalRequested({ ...honest.requested, approvalId: 'a-former', question: null });
    const former = { ...own, askedBecause: '', state: '', groups: [], bound: '' };
    const key = `asked/a-former/${digestOfRequest(former)}`;
    await runtime.ledger.claim({ key, owner: positionOf(former), now: runtime.clock.now(), ttlMs: 60_000 });
    expect([await claims.isVouched(former), await claims.isVouched(own)]).toEqual([true, false]);
    await decide(opened, honest, 'refuse');
    await end;
  });

  it('a copy of a request behind its outcome: it is not listed, and no sweep sees to it, however much later', async () => {
    const { opened, end } = await startRunning(anyone, [threeCalls]);
    system = opened;
    const { runtime } = opened.embedded;
    const honest = await asked(opened);
    await decide(opened, honest, 'approve');
    await end;
    await smuggle(opened, { requested: honest.requested });
    expect((await list(opened)).output).toBe('No call waits for an approval.\n');
    const { message: copy } = await asked(opened, 2);

    for (const behind of [honest.message.timestamp, copy.timestamp]) {
      const seen: number[] = [];
      const approvalsWaiting = { set: (count: number) => void seen.push(count) };
      const clock = { now: () => behind + claimMemoryMs };
      const metrics = { ...runtime.metrics, approvalsWaiting } as never;
      const sweep = new ExpirySweep({ ...runtime, clock, metrics });
      const looked = await eventually(
        () => seen,
        ({ length }) => length > 0,
      ).finally(() => sweep.close());
      expect(looked).toEqual([0]);
    }
    expect(await outcomes(opened)).toHaveLength(1);
  });
});
