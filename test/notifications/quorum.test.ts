import { afterEach, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import { asked, configured, decide, outcomes } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { eventOf, secretOf, startReceiver } from './receiver.js';
import type { Receiver } from './receiver.js';
import { botToken, startSlack } from './slack-server.js';
import type { Slack } from './slack-server.js';

let system: TestSystem | undefined;
let receiver: Receiver | undefined;
let slack: Slack | undefined;
afterEach(async () => {
  await system?.close();
  await receiver?.close();
  await slack?.close();
  system = receiver = slack = undefined;
});

const key = secretOf('1');
const approval = `
    approvers: ['user:ann', 'user:bob']
    rules: { twice: { tools: [reset-workflow], quorum: 2, escalate: { after_seconds: 6, to: ['user:boss'] } } }`;

it('says that one approval of several counted: in the message, also once others may decide, and by a webhook', async () => {
  const opened = (receiver = await startReceiver());
  const channel = (slack = await startSlack());
  const notify = `notify:
  private_hosts: ['${opened.host}', '${channel.host}']
  subscriptions: { desk: { url: '${opened.url('/desk')}', events: [approval.counted], secret_env: ONE } }
  slack: { ops: { channel: C1, api_url: '${channel.url}', token_env: TOKEN } }
`;
  const model = new ScriptedModel(inOrder({ calls: [calls.reset] }, { answer: 'Done' }));
  const running = (system = await startSystem(`${configured(approval)}\n${notify}`, model, undefined, {
    secret: (name) => ({ ONE: key, TOKEN: botToken })[name],
  }));
  const end = running.ask({ group: ['*'], state: 'analysis', requestId: 'run-1' });
  const first = await asked(running);
  const says = (...parts: readonly string[]) =>
    channel.until(([message]) => parts.every((part) => JSON.stringify(message ?? null).includes(part)));
  await says('2 persons have to approve', 'may decide: user:ann, user:bob');

  expect(await decide(running, first, 'approve')).toMatchObject({ notTaken: null, stillNeeded: 1 });
  const [counted] = await says('1 of 2 approved, by user:ann');
  expect(counted?.text).toBe('A call of reset-workflow waits for an approval: 1 of 2 approved, by user:ann.');
  expect(JSON.stringify(counted?.blocks)).not.toContain('persons have to approve');
  const [sent] = await opened.until('/desk', 1);
  expect(sent && eventOf(sent, key)).toMatchObject({
    ...{ type: 'sluice.approval.counted', subject: first.requested.approvalId },
    data: { approved_by: ['user:ann'], decided_by: 'user:ann', still_needed: 1 },
  });

  // Who copies the outcome onto the log, with another time and number, says nothing; nor does who makes one up.
  const [outcome] = await outcomes(running);
  if (outcome === undefined) throw new Error('There is an outcome.');
  const forged = [
    { ...outcome, at: outcome.at + 1, stillNeeded: 7 },
    { ...outcome, decidedBy: 'user:bob', approvedBy: ['user:ann', 'user:bob'] },
  ];
  await running.bus.publish(
    forged.map((one) => ({ topic: topics.approvals, key: one.sessionId, record: make.approval({ outcome: one }) })),
  );

  const [escalated] = await says('still waits', 'user:boss');
  expect(escalated?.text).toContain('1 of 2 approved, by user:ann');
  expect(await decide(running, first, 'approve', { decidedBy: 'user:boss' })).toMatchObject({ stillNeeded: 0 });
  expect((await end).error).toBeNull();
  await channel.until(([message]) => message?.text.startsWith('Approved') === true);
  expect(channel.messages).toHaveLength(1);
  expect(channel.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(1);
  expect(new Set(opened.at('/desk').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const one of opened.at('/desk')) expect(eventOf(one, key).data).toMatchObject({ still_needed: 1 });
  // What was copied onto the log is sent again, with the id that it had.
  const taken = { subscription: 'ops', kind: 'slack' };
  for (const event of ['approval.waiting', 'approval.counted', 'approval.ended'])
    await eventually(
      () => running.metric('sluice_notifications_total', { ...taken, event }),
      (count) => count >= 1,
    );
  expect(channel.problems).toEqual([]);
}, 60_000);
