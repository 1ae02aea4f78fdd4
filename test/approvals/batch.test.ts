import { afterEach, describe, expect, it } from '@jest/globals';
import { asked, begun, configured, decide, outcomes, short } from '../harness/approving.js';
import type { Asked } from '../harness/approving.js';
import { run as approvals } from '../../apps/sluice/src/commands/approvals.js';
import { calls, ids } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const update = (subject: string) =>
  [ids.update, `{"add":[{"subject":"${subject}","predicate":"is","object":"one"}]}`] as const;
const three: Said = { thought: 'Write', calls: [update('A'), update('B'), update('C')] };
const policy = "{ approvers: ['user:ann', 'user:bob'] }";

async function running(turn: Said = three, approval = policy) {
  const opened = await startSystem(configured(approval), new ScriptedModel(inOrder(turn)));
  system = opened;
  const end = opened.ask({ group: ['*'], state: 'analysis', requestId: 'run-1', sessionId: 'session-1' });
  return { opened, end };
}

async function allAsked(opened: TestSystem, count: number): Promise<Asked[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => asked(opened, n + 1)));
}

const requests = async (opened: TestSystem) =>
  (await opened.all('agent.approvals')).flatMap(({ record }) => (record.requested === null ? [] : [record.requested]));
const unlike = async ({ bus }: TestSystem) =>
  (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');

describe('the calls of a turn that need an approval', () => {
  it('are asked about together, and an early decision is used when the turn comes to its call', async () => {
    const { opened, end } = await running();
    const [first, second, third] = (await allAsked(opened, 3)) as [Asked, Asked, Asked];
    const names = [first, second, third].map(({ requested }) => requested.approvalId);
    expect([first, second, third].map(({ requested: { index, others, behind } }) => [index, others, behind])).toEqual([
      [0, [names[1], names[2]].sort(), null],
      [1, [names[0], names[2]].sort(), names[0]],
      [2, [names[0], names[1]].sort(), names[0]],
    ]);
    expect(await decide(opened, third, 'refuse', { reason: 'Not C.' })).toMatchObject({ notTaken: null });
    expect(await decide(opened, second, 'approve')).toMatchObject({ notTaken: null, stillNeeded: 0 });
    expect(await decide(opened, second, 'refuse')).toMatchObject({ notTaken: 'already_decided' });
    expect(await begun(opened)).toEqual({});
    await decide(opened, first, 'approve');
    const { history } = await end;
    expect(short(history).map(([, outcome, reason]) => [outcome, reason])).toEqual([
      ['ok', null],
      ['ok', null],
      ['policy_denied', 'approval_refused'],
    ]);
    expect(history.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(await begun(opened)).toEqual({ 'graph-update': 2 });
    expect(await requests(opened)).toHaveLength(3);
    expect(await opened.metric('sluice_approvals_requested_total', { tool: 'graph-update' })).toBe(3);
    expect(await opened.metric('sluice_approvals_decided_total', { decision: 'approve' })).toBe(2);
    expect(await unlike(opened)).toEqual([]);
  }, 60_000);

  it('run in their order where they are decided one by one, by what was asked at first', async () => {
    const { opened, end } = await running();
    const [first, second, third] = (await allAsked(opened, 3)) as [Asked, Asked, Asked];
    await decide(opened, first, 'approve');
    const again = await asked(opened, 4);
    expect(again.requested).toMatchObject({
      ...{ approvalId: second.requested.approvalId, behind: null, index: 1 },
      others: [first.requested.approvalId, third.requested.approvalId].sort(),
    });
    expect(await begun(opened)).toEqual({ 'graph-update': 1 });
    await decide(opened, second, 'approve');
    await asked(opened, 5);
    expect(await begun(opened)).toEqual({ 'graph-update': 2 });
    await decide(opened, third, 'approve');
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await begun(opened)).toEqual({ 'graph-update': 3 });
    expect(await opened.metric('sluice_approvals_requested_total', { tool: 'graph-update' })).toBe(3);
    expect(await unlike(opened)).toEqual([]);
  }, 60_000);

  it('are decided at once by the command that names one of them', async () => {
    const { opened, end } = await running();
    const [first] = (await allAsked(opened, 3)) as [Asked];
    const { environment } = opened.embedded.runtime;
    const { approvalId } = first.requested;
    expect((await inProcess(approvals, environment, 'list')).output).toContain('in one turn with a-');
    const said = await inProcess(approvals, environment, 'approve', approvalId, '--turn', '--as', 'user:ann', '--json');
    expect(said.code).toBe(0);
    expect(
      said.output
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { status: string }).status),
    ).toEqual(['taken', 'taken', 'taken']);
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await begun(opened)).toEqual({ 'graph-update': 3 });
  }, 60_000);

  it('are judged as if those before had succeeded, and asked about again where one did not', async () => {
    const states = "{ approvers: ['user:ann'], effects: [state_change, read_only] }";
    const { opened, end } = await running({ thought: 'Write', calls: [calls.analysis, calls.reset] }, states);
    const found = await allAsked(opened, 2);
    expect(found.map(({ requested: { tool, state } }) => [tool, state])).toEqual([
      [ids.analysis, 'analysis'],
      [ids.reset, 'results'],
    ]);
    await decide(opened, found[1] as Asked, 'approve');
    await decide(opened, found[0] as Asked, 'refuse');
    const again = await asked(opened, 3);
    await decide(opened, again, 'approve');
    expect(short((await end).history)).toEqual([
      ['complex-analysis', 'policy_denied', 'approval_refused', 'analysis'],
      ['reset-workflow', 'ok', null, 'undefined'],
    ]);
    expect(again.requested.approvalId).not.toBe(found[1]?.requested.approvalId);
    expect(again.requested).toMatchObject({ index: 1, state: 'analysis', behind: null });
    expect(await unlike(opened)).toEqual([]);
  }, 60_000);

  it('wait no more where their turn went on without them', async () => {
    const { opened, end } = await running();
    const [first, second] = (await allAsked(opened, 3)) as [Asked, Asked];
    const words = ['standing', 'give', '--tool', 'graph-update', '--session', 'session-1', '--until', '1h'];
    const given = await inProcess(approvals, opened.embedded.runtime.environment, ...words, '--as', 'user:bob');
    expect(given.code).toBe(0);
    await decide(opened, first, 'approve');
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect((await outcomes(opened)).slice(1)).toMatchObject(
      [1, 2].map(() => ({
        ...{ decision: 'expire', decidedBy: 'service:executor', notTaken: null },
        reason: 'Its turn went on, and the call needed no approval any more.',
      })),
    );
    expect(await decide(opened, second, 'refuse')).toMatchObject({ notTaken: 'already_decided' });
    const list = await inProcess(approvals, opened.embedded.runtime.environment, 'list');
    expect(list.output).toContain('No call waits for an approval.');
    expect(await begun(opened)).toEqual({ 'graph-update': 3 });
    expect(await unlike(opened)).toEqual([]);
  }, 60_000);
});
