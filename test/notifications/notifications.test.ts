import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@sluice/contracts';
import { run as runDeadLetters } from '../../apps/sluice/src/commands/dead-letters.js';
import { anyone, asked, configured, decide } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { eventOf, secretOf, startReceiver } from './receiver.js';
import type { Answers, Received, Receiver } from './receiver.js';

let system: TestSystem | undefined;
let receiver: Receiver | undefined;
afterEach(async () => {
  await system?.close();
  await receiver?.close();
  system = receiver = undefined;
});

const secrets: Record<string, string> = { ONE: secretOf('1'), TWO: secretOf('2') };
const secret = (variable: string): string | undefined => secrets[variable];
const all = 'events: [run.ended, run.failed, approval.waiting, approval.ended, dead_letter], secret_env: ONE';

/** All services, with these subscriptions (YAML, by name; `PATH` is their own place at the receiver). */
async function running(
  subscriptions: Readonly<Record<string, string>>,
  given: { answers?: Answers; turns?: readonly Said[]; configuration?: string } = {},
) {
  const opened = (receiver = await startReceiver(given.answers));
  const entries = Object.entries(subscriptions).map(
    ([name, text]) => `    ${name}: { url: '${opened.url(`/${name}`)}', ${text} }`,
  );
  const notify = `notify:
  base_url: https://sluice.example.org/
  private_hosts: ['${opened.host}']
  subscriptions:
${entries.join('\n')}
`;
  system = await startSystem(
    `${configured(anyone)}\n${given.configuration ?? ''}\n${notify}`,
    new ScriptedModel(inOrder(...(given.turns ?? []))),
    undefined,
    { secret },
  );
  return { system, receiver: opened };
}

const idsOf = (received: readonly Received[]): unknown[] => received.map(({ headers }) => headers['webhook-id']);

describe('webhooks', () => {
  it('say what happened, signed and as CloudEvents; of what was asked and answered only what is included', async () => {
    const { system, receiver } = await running(
      {
        plain: all,
        whole: 'events: [run.ended], include: [question, answer], secret_env: ONE',
        failures: 'events: [run.ended, run.failed], outcomes: [invalid_request], secret_env: ONE',
        others: 'events: [run.ended, run.failed], tenants: [acme], secret_env: ONE',
      },
      { turns: [{ calls: [calls.reset] }, { answer: 'Forty-two' }] },
    );
    const end = system.ask({ question: 'A private matter?', group: ['*'], state: 'analysis', requestId: 'run-1' });
    const waiting = await asked(system);
    await receiver.until('/plain', 1);
    await decide(system, waiting, 'approve');
    await end;
    await system.ask({ question: ' ', requestId: 'run-2' });

    const events = (await receiver.until('/plain', 5)).map((one) => eventOf(one, secrets['ONE'] ?? ''));
    const { approvalId } = waiting.requested;
    const ofRun = (id: string) => events.filter(({ data }) => data?.['request_id'] === id);
    expect(ofRun('run-1').map(({ type, subject }) => [type, subject])).toEqual([
      ['sluice.approval.waiting', approvalId],
      ['sluice.approval.ended', approvalId],
      ['sluice.run.ended', 'run-1'],
    ]);
    const [waits, decided, ended] = ofRun('run-1');
    expect(waits?.data).toMatchObject({
      ...{ tool: 'mcp__analysis__reset-workflow', requested_by: 'user:local', session_id: expect.any(String) },
      link: `https://sluice.example.org/approvals/${approvalId}`,
    });
    expect(decided?.data).toMatchObject({ outcome: 'approve', decided_by: 'user:ann' });
    expect(ended).toMatchObject({ specversion: '1.0', source: 'https://sluice.example.org' });
    expect(ended?.data).toMatchObject({ outcome: 'answer', link: 'https://sluice.example.org/runs/run-1' });
    expect(events.map((event) => event['sequence'])).toEqual(events.map((event) => event['sequence']).sort());
    expect(
      ofRun('run-2')
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['sluice.dead_letter', 'sluice.run.failed']);
    expect(events.find(({ type }) => type === 'sluice.dead_letter')?.data).toMatchObject({
      ...{ dead_letter: '0/0', outcome: 'invalid_request', topic: topics.requests, service: 'filter' },
      tenant: null,
    });
    // Nothing of the question, the answer, the arguments.
    expect(JSON.stringify(receiver.at('/plain'))).not.toMatch(/private|Forty/);

    const [whole] = await receiver.until('/whole', 1);
    expect(whole && eventOf(whole, secrets['ONE'] ?? '').data).toMatchObject({
      ...{ question: 'A private matter?', answer: 'Forty-two' },
    });
    const [failed] = await receiver.until('/failures', 1);
    expect(failed && eventOf(failed, secrets['ONE'] ?? '').data).toMatchObject({ outcome: 'invalid_request' });
    // The same event has the same id wherever it goes.
    expect(idsOf(receiver.at('/plain'))).toEqual(expect.arrayContaining(idsOf([...receiver.at('/failures')])));
    expect(
      [receiver.at('/whole'), receiver.at('/failures'), receiver.at('/others')].map(({ length }) => length),
    ).toEqual([1, 1, 0]);
    // A webhook is counted once its receiver's answer is read, a moment after it came.
    await eventually(
      () => system.metric('sluice_notifications_total', { subscription: 'plain', kind: 'webhook' }),
      (count) => count === 5,
    );
    const written = await system.all('agent.notifications');
    expect(written).toHaveLength(7);

    // What only stands on the log, and no notifier wrote, goes nowhere.
    const forged = { ...written[0]?.record, notificationId: 'evt_forged', data: '{}' } as (typeof written)[0]['record'];
    await system.bus.publish([{ topic: topics.notifications, key: 'k', record: forged }]);
    await eventually(
      () => system.metric('sluice_dead_letters_total', { topic: topics.notifications, code: 'signature_invalid' }),
      (count) => count === 1,
    );
    // And no webhook tells of a webhook.
    expect(receiver.at('/plain')).toHaveLength(5);
  });

  it('go to the subscriptions of the agent whose run it is', async () => {
    const { system, receiver } = await running(
      { support: `${all}, agents: [support]`, others: `${all}, agents: [default]` },
      {
        turns: [{ calls: [calls.reset] }, { answer: 'Done' }, { answer: 'Yes' }],
        configuration: 'agents: { support: { description: Helps } }',
      },
    );
    const end = system.ask({ group: ['*'], state: 'analysis', requestId: 'run-1', agent: 'support' });
    await decide(system, await asked(system), 'approve');
    expect((await end).agent).toBe('support');
    expect((await system.ask({ group: [], requestId: 'run-2' })).agent).toBe(null);
    expect((await system.ask({ group: [], requestId: 'run-3', agent: 'nosuch' })).agent).toBe('nosuch');
    const sent = async (path: string, count: number) =>
      (await receiver.until(path, count)).map((one) => {
        const { type, data } = eventOf(one, secrets['ONE'] ?? '');
        return [type, data?.['request_id'], data?.['agent']];
      });
    expect(await sent('/support', 3)).toEqual([
      ['sluice.approval.waiting', 'run-1', 'support'],
      ['sluice.approval.ended', 'run-1', 'support'],
      ['sluice.run.ended', 'run-1', 'support'],
    ]);
    expect(await sent('/others', 1)).toEqual([['sluice.run.ended', 'run-2', 'default']]);
  });

  it('are tried again, become dead letters, and are sent again from there with the same id', async () => {
    let status = 503;
    const { system, receiver } = await running(
      { flaky: 'events: [run.ended], secret_env: ONE, retry_seconds: 3' },
      { answers: () => status },
    );
    await system.ask({ group: [], requestId: 'run-1' });
    await receiver.until('/flaky', 2);
    const letters = await eventually(
      () => system.all('agent.dead-letters'),
      ({ length }) => length === 1,
    );
    expect(letters[0]?.record).toMatchObject({
      ...{ topic: topics.notifications, group: 'notifier.flaky', code: 'retries_exhausted' },
      ...{ lastFault: 'receiver_unreachable', reason: expect.stringContaining('answered 503') },
    });
    status = 200;
    const tries = receiver.at('/flaky').length;
    const { environment } = system.embedded.runtime;
    const redriven = await inProcess(runDeadLetters, environment, 'redrive', '0/0');
    expect([redriven.code, redriven.output]).toEqual([0, expect.stringContaining('0/0')]);
    const received = await receiver.until('/flaky', tries + 1);
    expect(new Set(idsOf(received)).size).toBe(1);
    await eventually(
      () => system.metric('sluice_notifications_total', { subscription: 'flaky' }),
      (count) => count === 1,
    );
    // One that takes none any more is not asked again.
    status = 410;
    await system.ask({ group: [], requestId: 'run-2' });
    const gone = await eventually(
      () => system.all('agent.dead-letters'),
      ({ length }) => length === 2,
    );
    expect(gone[1]?.record).toMatchObject({ code: 'receiver_gone', attempts: 1 });
  });

  it('go to others while one receiver does not answer, however many wait for it', async () => {
    const never = new Promise<number>(() => undefined);
    const { system, receiver } = await running(
      { slow: 'events: [run.ended], secret_env: ONE', fast: 'events: [run.ended], secret_env: ONE' },
      { answers: ({ path }) => (path === '/slow' ? never : 204) },
    );
    const runs = Array.from({ length: 150 }, (_, n) => `run-${String(n)}`);
    const began = performance.now();
    await Promise.all(runs.map((requestId) => system.ask({ group: [], requestId })));
    expect(await receiver.until('/fast', runs.length)).toHaveLength(runs.length);
    // Sixteen at a time, each cut off after 15 s.
    const rounds = 1 + Math.floor((performance.now() - began) / 15_000);
    expect(receiver.at('/slow').length).toBeLessThanOrEqual(16 * rounds);
    expect(await system.metric('sluice_records_in_flight', { consumer_group: 'notifier.slow' })).toBeLessThanOrEqual(
      100,
    );
    await eventually(
      () => system.metric('sluice_notification_oldest_seconds', { subscription: 'slow' }),
      (age) => age > 1,
    );
  }, 120_000);

  it('go to no place that a receiver redirects to', async () => {
    const { system, receiver } = await running(
      { here: 'events: [run.ended], secret_env: ONE' },
      { answers: () => 302 },
    );
    await system.ask({ group: [], requestId: 'run-1' });
    await eventually(
      () => system.metric('sluice_notification_failures_total', { subscription: 'here', reason: 'redirect' }),
      (count) => count > 0,
    );
    expect(receiver.all.every(({ path }) => path === '/here')).toBe(true);
  });

  it('are signed by the former secret too while receivers change over', async () => {
    const { system, receiver } = await running({
      changing: 'events: [run.ended], secret_env: TWO, previous_secret_env: ONE',
    });
    await system.ask({ group: [], requestId: 'run-1' });
    const [first] = await receiver.until('/changing', 1);
    if (first === undefined) throw new Error('Nothing came.');
    for (const known of ['ONE', 'TWO']) expect(eventOf(first, secrets[known] ?? '').subject).toBe('run-1');
    expect(() => eventOf(first, secretOf('3'))).toThrow(/No matching signature/);
  });

  it('begin with what happens from when their subscription is there', async () => {
    const { system, receiver } = await running({ first: 'events: [run.ended], secret_env: ONE' });
    await system.ask({ group: [], requestId: 'run-1' });
    await receiver.until('/first', 1);
    const { readFile, writeFile } = await import('node:fs/promises');
    const text = await readFile(system.configFile, 'utf8');
    await writeFile(system.configFile, `${text}    second: { url: '${receiver.url('/second')}', ${all} }\n`);
    await eventually(
      () => system.embedded.runtime.configurations.current().configuration.notify?.subscriptions.length,
      (count) => count === 2,
    );
    await system.ask({ group: [], requestId: 'run-2' });
    const received = await receiver.until('/second', 1);
    await sleep(300);
    expect(received.map((one) => eventOf(one, secrets['ONE'] ?? '').subject)).toEqual(['run-2']);
    expect(receiver.at('/second')).toHaveLength(1);
  });
});
