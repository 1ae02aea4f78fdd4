import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from '@jest/globals';
import { make, recordToJson, topics } from '@sluice/contracts';
import type { AgentResponse, AgentStep, ApprovalRequested, ToolCall } from '@sluice/contracts';
import { dataFiles } from '@sluice/host';
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
import type { TestSystem } from '../harness/system.js';

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

describe('a decision (XB-14)', () => {
  const taken = (response: AgentResponse) => response.history.map(({ outcome }) => outcome);

  it('that is too large for an outcome is none: it is put aside, and the next one counts', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    const first = await asked(opened);
    const { approvalId, requestId, sessionId, argumentsHash } = first.requested;
    const decided = {
      ...{ approval_id: approvalId, request_id: requestId, session_id: sessionId, arguments_hash: argumentsHash },
      ...{ decision: 'refuse', decided_by: 'user:bob', decided_at: Date.now(), reason: 'x'.repeat(1_000_000) },
      ...{ requested_partition: first.message.partition, requested_offset: first.message.offset },
    };
    await opened.bus.appendRaw(topics.approvals, sessionId, Buffer.from(JSON.stringify({ decided })));
    expect(await decide(opened, first, 'approve')).toMatchObject({ decision: 'approve', notTaken: null });
    expect(taken(await end)).toEqual(['ok', 'ok', 'ok']);
    expect((await opened.all('agent.dead-letters')).map(({ record }) => [record.code, record.reason])).toEqual([
      ['invalid_request', expect.stringMatching(/Give a shorter reason/)],
    ]);
  });

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
    const record = make.approval({ outcome });
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
    ['an approval that was not requested', 'unknown_approval', () => ({ approvalId: 'a-unheard-of' })],
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
  });

  it('on a call that was changed on the log ends the run with an error', async () => {
    const { opened, end } = await running(anyone, [threeCalls]);
    end.catch(() => undefined);
    const first = await asked(opened);
    const [parked] = await opened.all('agent.tool-calls');
    const changed = JSON.parse(JSON.stringify(recordToJson('ToolCall', parked?.record))) as ToolCall;
    const other = changed.calls.map((call, index) => (index === 1 ? { ...call, arguments: '{"all":true}' } : call));
    const database = new DatabaseSync(dataFiles(opened.embedded.runtime.environment).log);
    const bytes = Buffer.from(JSON.stringify({ ...changed, calls: other }));
    const place = "topic = (SELECT id FROM topics WHERE name = 'agent.tool-calls')";
    expect(database.prepare(`UPDATE records SET value = ? WHERE ${place}`).run(bytes).changes).toBe(1);
    database.close();
    // A process keeps the records of the last seconds in memory: only the next one reads the file.
    const later = (system = await opened.restart());
    await decide(later, first, 'approve');
    expect(await later.responseOf(first.requested.requestId)).toMatchObject({
      kind: 'error',
      error: { code: 'dead_lettered' },
    });
    expect(await begun(later)).toEqual({ 'complex-analysis': 1 });
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
    await publish(make.approval({ requested: forged }));
    const second = await asked(opened, 2);
    expect(await decide(opened, second, 'approve')).toMatchObject({ notTaken: 'unknown_approval' });
    const { approvalId, requestId, sessionId } = requested;
    const forgedOutcome = make.approvalOutcome({
      ...{ approvalId, requestId, sessionId, decision: 'approve', decidedBy: 'user:eve', at: 0 },
    });
    await publish(make.approval({ outcome: forgedOutcome }));
    await decide(opened, first, 'refuse');
    const { history } = await end;
    expect(taken({ history } as AgentResponse)).toEqual(['ok', 'policy_denied', 'ok']);
    expect(history[0]?.observation).toBe(step.observation);
    expect(await opened.lines()).toContainEqual(expect.objectContaining({ why: 'no decision' }));
    expect(await opened.all('agent.responses')).toHaveLength(1);
  });

  it('is evaluated again under the configuration now in force, which may deny the tool meanwhile', async () => {
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
  });
});
