import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from '@jest/globals';
import { recordToJson, topics } from '@sluice/contracts';
import type { AgentResponse, AgentStep, ApprovalRequested, ToolCall } from '@sluice/contracts';
import { dataFiles, sha256 } from '@sluice/service';
import { ExpirySweep } from '../apps/executor/src/approvals/expiry-sweep.js';
import { asked, begun, decide, outcomes } from './harness/approving.js';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const configured = (approval: string, more: { limits?: string; allowed?: string } = {}): string =>
  workflowConfiguration(more).replace(/^policy:$/m, `policy:\n  approval: ${approval}`);

/** All services, and a run under way whose model says these turns. */
async function running(approval: string, turns: readonly Said[], more: { limits?: string } = {}) {
  const opened = (system = await startSystem(configured(approval, more), new ScriptedModel(inOrder(...turns))));
  const end = opened.ask({ group: ['*'], state: 'analysis', requestId: 'run-1', sessionId: 'session-1' });
  return { opened, end };
}

const short = (steps: readonly AgentStep[]) =>
  steps.map(({ action, outcome, reason, state }) => [action, outcome, reason, state]);
const anyone = "{ approvers: ['*'] }";
/** One call before, the one that waits, one after. */
const threeCalls: Said = {
  thought: 'Begin anew',
  calls: [calls.analysis, calls.reset, [ids.text, '{"prompt":"Say so"}']],
};
const each = { 'complex-analysis': 1, 'reset-workflow': 1, 'text-completion': 1 };
const notTheSecond = { 'complex-analysis': 1, 'text-completion': 1 };

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
    expect(response.history[0]).toEqual(requested.steps[0]);
    expect(response.run?.toolCalls).toEqual({ [ids.analysis]: 1, [ids.reset]: 1, [ids.text]: 1 });
    expect(await begun(opened)).toEqual(each);
    const steps = (await opened.all('agent.steps')).filter(({ record }) => record.requestId === 'run-1');
    expect(steps).toHaveLength(1);
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

  it('may be followed by another one in the same turn: each is asked for when its time comes', async () => {
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
    const second = await asked(opened, 2);
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

  it('is hidden and denied while nobody may approve (C-07, K-23, X-18)', async () => {
    const model = new ScriptedModel(inOrder({ calls: [calls.reset] }));
    system = await startSystem(configured('{ effects: [state_change] }'), model);
    const { history } = await system.ask({ group: ['*'], state: 'analysis' });
    expect(short(history)).toEqual([['reset-workflow', 'policy_denied', 'no_approver', 'analysis']]);
    expect(model.asked[0]?.tools.map((tool) => tool.id)).toEqual([ids.text, ids.analysis]);
    const [toolset] = await system.all('agent.toolsets');
    expect(toolset?.record.hidden).toContainEqual({ key: 'reset-workflow', reasons: ['policy'] });
  });

  it('is offered where somebody may approve (X-18)', async () => {
    const { opened, end } = await running(anyone, []);
    await end;
    const [toolset] = await opened.all('agent.toolsets');
    expect(toolset?.record.tools.map((tool) => tool.id)).toContain(ids.reset);
  });

  it('survives a stop and a start: nothing of it is kept in memory (DESIGN 4.5)', async () => {
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
  it('refuses what nobody decided on, once, also after a restart; the run goes on (approval_expired)', async () => {
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
  }, 30_000);

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
  }, 30_000);

  it('that is up leaves a decision that comes later without effect', async () => {
    const { opened, end } = await running("{ approvers: ['*'], expires_seconds: 1 }", [threeCalls]);
    const first = await asked(opened);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await decide(opened, first, 'approve')).toMatchObject({ notTaken: 'too_late' });
    expect((await end).history[1]?.reason).toBe('approval_expired');
  }, 30_000);

  it('of the run holds while a call waits: it ends with deadline_exceeded', async () => {
    const { opened, end } = await running(anyone, [threeCalls], { limits: 'limits: { run_seconds: 2 }' });
    const { requested } = await asked(opened);
    const { kind, error, history, run } = await end;
    expect(requested.expiresAt).toBe(run?.deadline);
    expect([kind, error?.code]).toEqual(['error', 'deadline_exceeded']);
    expect(history.map(({ reason }) => reason)).toEqual([null, 'deadline', 'deadline']);
    expect(await begun(opened)).toEqual({ 'complex-analysis': 1 });
  }, 30_000);
});

describe('a decision (XB-14)', () => {
  const taken = (response: AgentResponse) => response.history.map(({ outcome }) => outcome);

  it('is the first one’s: a second decider and a repeated record change nothing', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const first = await asked(opened);
    const said = await Promise.all([
      decide(opened, first, 'approve'),
      decide(opened, first, 'refuse', { decidedBy: 'user:bob' }),
      decide(opened, first, 'approve'),
    ]);
    expect(said).toHaveLength(3);
    const response = await end;
    expect(taken(response)).toEqual(['ok', 'ok', 'ok']);
    expect((await outcomes(opened)).map(({ notTaken }) => notTaken)).toEqual([
      null,
      'already_decided',
      'already_decided',
    ]);
    expect(await decide(opened, first, 'refuse')).toMatchObject({ notTaken: 'already_decided' });
    expect(await opened.metric('sluice_approval_decisions_not_taken_total', { reason: 'already_decided' })).toBe(3);
    const [outcome = null] = await outcomes(opened);
    const record = { requested: null, decided: null, outcome };
    await opened.bus.publish([{ topic: topics.approvals, key: 'session-1', record }]);
    await decide(opened, first, 'refuse');
    expect(await opened.lines()).toContainEqual(
      expect.objectContaining({ why: 'the run went on with another outcome', msg: expect.any(String) }),
    );
    expect(await opened.all('agent.steps')).toHaveLength(1);
    expect(await begun(opened)).toMatchObject({ 'reset-workflow': 1 });
  });

  it.each<[string, string, (requested: ApprovalRequested) => object, string?]>([
    ['other arguments', 'other_arguments', () => ({ argumentsHash: '0'.repeat(64) })],
    ['an approval that nobody asked for', 'unknown_approval', () => ({ approvalId: 'a-unheard-of' })],
    ['a place where nothing was asked', 'unknown_approval', () => ({ requestedOffset: 4_711 })],
    ['no place', 'unknown_approval', () => ({ requestedPartition: null, requestedOffset: null })],
    ['something else than yes or no', 'invalid_decision', () => ({ decision: 'expire' })],
    ['somebody who is no approver', 'not_an_approver', () => ({ decidedBy: 'user:eve' })],
    ['the requester', 'own_call', ({ requestedBy }) => ({ decidedBy: requestedBy })],
  ])('of %s does not count: %s', async (_, reason, changes) => {
    const policy = "{ approvers: ['user:ann', 'user:local'], requester_may_not_approve: true }";
    const { opened, end } = await running(policy, [threeCalls]);
    const first = await asked(opened);
    expect(await decide(opened, first, 'approve', changes(first.requested))).toMatchObject({ notTaken: reason });
    expect(await opened.metric('sluice_approval_decisions_not_taken_total', { reason })).toBe(1);
    expect(await opened.lines()).toContainEqual(expect.objectContaining({ reason, decision: expect.any(String) }));
    expect(await begun(opened)).toEqual({ 'complex-analysis': 1 });
    // The call waits on, and the requester may refuse its own.
    await decide(opened, first, 'refuse', { decidedBy: 'user:local' });
    expect(taken(await end)).toEqual(['ok', 'policy_denied', 'ok']);
  });

  it('that was taken and then lost takes effect when time is up: the run goes on', async () => {
    const { opened, end } = await running("{ approvers: ['*'], expires_seconds: 1 }", [threeCalls]);
    const { requested, message } = await asked(opened);
    const { ledger, clock } = opened.embedded.runtime;
    const lost = { key: `approval/${requested.approvalId}`, owner: 'agent.approvals/0/4711' };
    await ledger.claim({ ...lost, now: clock.now(), ttlMs: 60_000 });
    const { partition, offset } = message;
    const value = { decision: 'approve', decidedBy: 'user:ann', reason: '', partition, offset };
    await ledger.settle(lost.key, lost.owner, JSON.stringify(value));
    expect(taken(await end)).toEqual(['ok', 'ok', 'ok']);
    expect(await outcomes(opened)).toMatchObject([{ decision: 'approve', decidedBy: 'user:ann', notTaken: null }]);
  }, 30_000);

  it('on a call that somebody changed on the log ends the run with an error', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const first = await asked(opened);
    const [parked] = await opened.all('agent.tool-calls');
    const changed = JSON.parse(JSON.stringify(recordToJson('ToolCall', parked?.record))) as ToolCall;
    const other = changed.calls.map((call, index) => (index === 1 ? { ...call, arguments: '{"all":true}' } : call));
    const database = new DatabaseSync(dataFiles(opened.embedded.runtime.environment).log);
    const bytes = Buffer.from(JSON.stringify({ ...changed, calls: other }));
    const place = "topic = (SELECT id FROM topics WHERE name = 'agent.tool-calls')";
    expect(database.prepare(`UPDATE records SET value = ? WHERE ${place}`).run(bytes).changes).toBe(1);
    database.close();
    await decide(opened, first, 'approve');
    expect(await end).toMatchObject({ kind: 'error', error: { code: 'dead_lettered' } });
    expect(await begun(opened)).toEqual({ 'complex-analysis': 1 });
  });

  it('on a call that is no longer on the log ends the run with an error', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const first = await asked(opened);
    await opened.bus.trim(topics.toolCalls, Date.now() + 1_000);
    await decide(opened, first, 'approve');
    expect(await end).toMatchObject({ kind: 'error', requestId: 'run-1', error: { code: 'dead_lettered' } });
    const [letter] = await opened.all('agent.dead-letters');
    expect(letter?.record.reason).toMatch(/is no longer on the log/);
    expect(await begun(opened)).toEqual({ 'complex-analysis': 1 });
  });

  it('counts for nothing on what no executor asked or decided: forged requests and outcomes go unheard', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const first = await asked(opened);
    const { requested, message } = first;
    const [step] = requested.steps as [AgentStep];
    const forged = { ...requested, steps: [{ ...step, observation: 'All is well.' }] };
    const publish = (record: (typeof message)['record']) =>
      opened.bus.publish([{ topic: topics.approvals, key: message.key, record }]);
    await publish({ requested: forged, decided: null, outcome: null });
    const second = await asked(opened, 2);
    expect(await decide(opened, second, 'approve')).toMatchObject({ notTaken: 'unknown_approval' });
    const { approvalId, requestId, sessionId } = requested;
    const outcome = {
      decision: 'approve',
      decidedBy: 'user:eve',
      reason: '',
      argumentsHash: '',
      notTaken: null,
      at: 0,
    };
    const ids = { approvalId, requestId, sessionId };
    await publish({ requested: null, decided: null, outcome: { ...ids, ...outcome } });
    await decide(opened, first, 'refuse');
    const { history } = await end;
    expect(taken({ history } as AgentResponse)).toEqual(['ok', 'policy_denied', 'ok']);
    expect(history[0]?.observation).toBe(step.observation);
    expect(await opened.lines()).toContainEqual(expect.objectContaining({ why: 'nobody decided' }));
    expect(await opened.all('agent.responses')).toHaveLength(1);
  });

  it('is evaluated anew under the configuration now in force, which may deny the tool meanwhile (DESIGN 4.7)', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const first = await asked(opened);
    const before = opened.embedded.runtime.configurations.current().configuration.version;
    await writeFile(opened.configFile, configured(anyone, { allowed: 'text-completion, complex-analysis' }));
    while (opened.embedded.runtime.configurations.current().configuration.version === before)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await decide(opened, first, 'approve')).toMatchObject({ notTaken: null });
    const { history } = await end;
    expect(short(history)[1]).toEqual(['reset-workflow', 'policy_denied', 'not_allowed', 'results']);
    expect(await begun(opened)).toEqual(notTheSecond);
  }, 30_000);
});
