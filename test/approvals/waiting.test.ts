import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256, topics } from '@sluice/contracts';
import { ExpirySweep } from '../../apps/executor/src/approvals/expiry-sweep.js';
import {
  anyone,
  asked,
  begun,
  configured,
  decide,
  each,
  notTheSecond,
  outcomes,
  short,
  startRunning,
  threeCalls,
} from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(...given: Parameters<typeof startRunning>): ReturnType<typeof startRunning> {
  const started = await startRunning(...given);
  system = started.opened;
  return started;
}

describe('a call that needs an approval (T-17b, C-09, K-55, X-18, XB-14)', () => {
  it('waits; approved, it runs, with the calls before and after it, each done once', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const { requested, message } = await asked(opened);
    expect(requested).toMatchObject({
      approvalId: expect.stringMatching(/^a-[0-9a-f]{20}$/),
      tool: ids.reset,
      effect: 'state_change',
      arguments: '{}',
      thought: 'Begin anew',
      requestedBy: 'user:local',
      onBehalfOf: null,
      iteration: 1,
      index: 1,
      topic: topics.toolCalls,
    });
    expect(short(requested.steps)).toEqual([['complex-analysis', 'ok', null, 'results']]);
    const [parked] = await opened.all('agent.tool-calls');
    expect([requested.partition, requested.offset]).toEqual([parked?.partition, parked?.offset]);
    expect([await begun(opened), await opened.all('agent.steps')]).toEqual([{ 'complex-analysis': 1 }, []]);
    expect(await opened.metric('sluice_approvals_requested_total', { tool: 'reset-workflow' })).toBe(1);

    // The executor is free for others while it waits, of the same session too.
    const other = await opened.ask({ group: [], sessionId: 'session-1' });
    expect(other.kind).toBe('answer');

    expect(await decide(opened, { requested, message }, 'approve')).toMatchObject({ notTaken: null });
    const response = await end;
    expect(short(response.history)).toEqual([
      ['complex-analysis', 'ok', null, 'results'],
      ['reset-workflow', 'ok', null, 'undefined'],
      ['text-completion', 'ok', null, 'undefined'],
    ]);
    expect(response.history.map(({ stateBefore }) => stateBefore)).toEqual(['analysis', 'results', 'undefined']);
    const { resultHash, ...done } = { ...requested.steps[0] };
    expect(response.history[0]).toMatchObject({ ...done, resultHash: null });
    expect(response.run?.toolCalls).toEqual({ [ids.analysis]: 1, [ids.reset]: 1, [ids.text]: 1 });
    expect(await begun(opened)).toEqual(each);
    const steps = (await opened.all('agent.steps')).filter(({ record }) => record.requestId === 'run-1');
    expect(steps).toHaveLength(1);
    // Made before the turn waited, and for the audit still there behind it (XB-26).
    expect(steps[0]?.record.steps.map((step) => step.resultHash)).toEqual([
      resultHash,
      expect.stringMatching(/^executor-/),
      expect.stringMatching(/^executor-/),
    ]);
    expect(await opened.metric('sluice_approvals_decided_total', { decision: 'approve' })).toBe(1);
    expect(await opened.metric('sluice_tool_calls_total', { outcome: 'ok' })).toBe(3);
    expect(await opened.lines()).toContainEqual(
      expect.objectContaining({ approval_id: requested.approvalId, decision: 'approve', decided_by: 'user:ann' }),
    );
  });

  it('is not made where it is refused; the model reads why, and the run goes on', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    await decide(opened, await asked(opened), 'refuse', { reason: 'Not on a Friday.' });
    const { kind, history } = await end;
    expect(kind).toBe('answer');
    expect(short(history)).toEqual([
      ['complex-analysis', 'ok', null, 'results'],
      ['reset-workflow', 'policy_denied', 'approval_refused', 'results'],
      ['text-completion', 'ok', null, 'undefined'],
    ]);
    expect(history[1]?.observation).toContain('Not on a Friday.');
    expect(history[1]?.observation).not.toContain('ann');
    expect(await begun(opened)).toEqual(notTheSecond);
  });

  it('may be followed by another one in the same turn, which is asked for with it and again when the turn comes to it', async () => {
    const { opened, end } = await running(anyone, [{ calls: [calls.update, calls.analysis, calls.reset] }]);
    const first = await asked(opened);
    expect(first.requested).toMatchObject({ arguments: calls.update[1], argumentsHash: sha256(calls.update[1]) });
    // As a system writes it that knows no Avro.
    const { approvalId, requestId, argumentsHash } = first.requested;
    const ids = { approval_id: approvalId, request_id: requestId, session_id: 'session-1' };
    const by = { decision: 'approve', decided_by: 'user:ann', decided_at: Date.now(), arguments_hash: argumentsHash };
    const place = { requested_partition: first.message.partition, requested_offset: first.message.offset };
    const decided = JSON.stringify({ decided: { ...ids, ...by, ...place } });
    await opened.bus.appendRaw(topics.approvals, 'session-1', Buffer.from(decided));
    expect((await asked(opened, 2)).requested).toMatchObject({ index: 2, behind: approvalId, steps: [] });
    const second = await asked(opened, 3);
    expect(short(second.requested.steps)).toEqual([
      ['graph-update', 'ok', null, 'analysis'],
      ['complex-analysis', 'ok', null, 'results'],
    ]);
    await decide(opened, second, 'refuse');
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'policy_denied']);
    expect(await begun(opened)).toEqual({ 'graph-update': 1, 'complex-analysis': 1 });
  });

  it('is asked for after all that can refuse it without asking anybody', async () => {
    const bad = [ids.update, '{"add":7}'] as const;
    const { opened, end } = await running(anyone, [{ calls: [bad] }]);
    expect(short((await end).history)).toEqual([['graph-update', 'validation', null, 'analysis']]);
    expect(await opened.all('agent.approvals')).toEqual([]);
  });

  it('is hidden and denied while there is no approver (C-07, K-23, X-18)', async () => {
    const model = new ScriptedModel(inOrder({ calls: [calls.reset] }));
    system = await startSystem(configured('{ effects: [state_change] }'), model);
    const { history } = await system.ask({ group: ['*'], state: 'analysis' });
    expect(short(history)).toEqual([['reset-workflow', 'policy_denied', 'no_approver', 'analysis']]);
    expect(model.asked[0]?.tools.map((tool) => tool.id)).toEqual([ids.text, ids.analysis]);
    const [toolset] = await system.all('agent.toolsets');
    expect(toolset?.record.hidden).toContainEqual({ key: 'reset-workflow', reasons: ['policy'] });
  });

  it('is offered where there is an approver (X-18)', async () => {
    const { opened, end } = await running(anyone, []);
    await end;
    const [toolset] = await opened.all('agent.toolsets');
    expect(toolset?.record.tools.map((tool) => tool.id)).toContain(ids.reset);
  });

  it('survives a stop and a start: nothing of it is kept in memory', async () => {
    const model = new ScriptedModel(inOrder(threeCalls));
    system = await startSystem(configured(anyone), model);
    void system.ask({ group: ['*'], state: 'analysis', requestId: 'run-1' }).catch(() => undefined);
    const first = await asked(system);
    system = await system.restart();
    expect(await system.all('agent.steps')).toEqual([]);
    expect(await decide(system, first, 'approve')).toMatchObject({ notTaken: null });
    const response = await system.responseOf('run-1');
    expect(response.history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await begun(system)).toEqual(each);
  });
});

describe('time', () => {
  it('refuses what was not decided in time, once, also after a restart; the run goes on (approval_expired)', async () => {
    const model = new ScriptedModel(inOrder(threeCalls));
    system = await startSystem(configured("{ approvers: ['*'], expires_seconds: 1 }"), model);
    void system.ask({ group: ['*'], state: 'analysis', requestId: 'run-1' }).catch(() => undefined);
    const { requested } = await asked(system);
    expect(requested.expiresAt - requested.requestedAt).toBe(1_000);
    system = await system.restart();
    const { kind, history } = await system.responseOf('run-1');
    expect([kind, history[1]?.outcome, history[1]?.reason]).toEqual(['answer', 'policy_denied', 'approval_expired']);
    expect(await outcomes(system)).toMatchObject([
      { decision: 'expire', decidedBy: 'service:executor', notTaken: null },
    ]);
    expect(await system.metric('sluice_approvals_decided_total', { decision: 'expire' })).toBe(1);
  });

  it('is watched by every executor; what waits is counted, and one of them says that it is over', async () => {
    const { opened, end } = await running("{ approvers: ['*'], expires_seconds: 2 }", [threeCalls]);
    const { requested } = await asked(opened);
    const { runtime } = opened.embedded;
    const watching = [new ExpirySweep(runtime)];
    const waiting = () => opened.metric('sluice_approvals_waiting');
    for (const until = Date.now() + 1_500; (await waiting()) !== 1 && Date.now() < until;)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await waiting()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, requested.expiresAt + 10 - Date.now()));
    // They look at once, and all see it open.
    for (const instance of ['b', 'c', 'd', 'e'])
      watching.push(new ExpirySweep({ ...runtime, environment: { ...runtime.environment, instance } }));
    await end;
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    await Promise.all(watching.map((sweep) => sweep.close()));
    expect(await outcomes(opened)).toHaveLength(1);
    expect([await waiting(), (await opened.all('agent.steps')).length]).toEqual([0, 1]);
  });

  it('that is up leaves a decision that comes later without effect', async () => {
    const { opened, end } = await running("{ approvers: ['*'], expires_seconds: 1 }", [threeCalls]);
    const first = await asked(opened);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await decide(opened, first, 'approve')).toMatchObject({ notTaken: 'too_late' });
    expect((await end).history[1]?.reason).toBe('approval_expired');
  });

  it('of a run stands still while a call waits for people, and no longer', async () => {
    const { opened, end } = await running(anyone, [threeCalls], { limits: 'limits: { run_seconds: 2 }' });
    const first = await asked(opened);
    const { requested } = first;
    expect(requested.expiresAt - requested.requestedAt).toBe(86_400_000);
    const [parked] = await opened.all('agent.tool-calls');
    const deadline = parked?.record.run.deadline ?? 0;
    await new Promise((resolve) => setTimeout(resolve, deadline + 500 - Date.now()));
    await decide(opened, first, 'approve');
    const { kind, history, run } = await end;
    expect(kind).toBe('answer');
    expect(history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    const waitedMs = deadline + 500 - requested.requestedAt;
    expect(run?.parkedMs).toBeGreaterThanOrEqual(waitedMs - 50);
    expect(run?.deadline).toBe(deadline + (run?.parkedMs ?? 0));
    const decisions = await replayed(opened.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(decisions.length).toBeGreaterThan(5);
  });
});
