import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';

import { anyone, configured } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { sluice } from '../harness/program.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { eventOf, startReceiver } from './receiver.js';
import type { Receiver } from './receiver.js';

type Json = Readonly<Record<string, unknown>>;

describe('subscriptions over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let receiver: Receiver;
  let status = 204;
  beforeAll(async () => {
    receiver = await startReceiver(() => status);
    const notify = `notify: { private_hosts: ['${receiver.host}'] }`;
    system = await startSystem(`${configured(anyone)}\n${notify}\n`, new ScriptedModel(inOrder()));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    await receiver.close();
  });

  const ask = async (method: string, path: string, body?: object): Promise<{ status: number; body: Json }> => {
    const headers = {
      ...localHeaders(system.embedded.runtime),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${gateway.url}/v1/subscriptions${path}`, { method, headers, ...sent });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  /** Waits until the notifier delivers to the subscription, or no longer does. */
  const delivering = async (id: string, is: boolean): Promise<void> => {
    const { metrics } = system.embedded.runtime;
    await eventually(
      () => metrics.registry.getSingleMetricAsString('sluice_notification_oldest_seconds'),
      (text) => text.includes(`subscription="${id}"`) === is,
    );
  };
  const list = async (): Promise<readonly Json[]> => (await ask('GET', '')).body['subscriptions'] as readonly Json[];

  it('are sent what happens once they are made, without a restart, and nothing once they are deleted', async () => {
    expect(await list()).toEqual([]);
    await system.ask({ group: [], requestId: 'before' });
    const desk = { name: 'desk', url: receiver.url('/desk'), events: ['run.ended'] };
    for (const bad of [
      { ...desk, name: 'a b' },
      { ...desk, url: 'http://10.0.0.1/x' },
      { ...desk, url: 'https://10.0.0.1/x' },
      { ...desk, url: 'https://user:pw@example.org/' },
      { ...desk, events: [] },
      { ...desk, events: ['run.begun'] },
      { ...desk, agents: ['no-agent'] },
    ])
      expect((await ask('POST', '', bad)).status).toBe(400);
    const made = await ask('POST', '', desk);
    expect([made.status, made.body]).toEqual([
      201,
      { name: 'desk', id: expect.stringMatching(/^http-[0-9a-f]{10}$/), secret: expect.stringMatching(/^whsec_/) },
    ]);
    expect((await ask('POST', '', desk)).status).toBe(409);
    const [listed] = await list();
    expect(listed).toMatchObject({ name: 'desk', made_by: 'http', kind: 'webhook', events: ['run.ended'] });
    expect(JSON.stringify(await list())).not.toContain('whsec_');

    const { id } = made.body as { id: string };
    await delivering(id, true);
    const command = (...words: readonly string[]) =>
      sluice(['notify', ...words, '--json'], { SLUICE_DATA: system.embedded.runtime.environment.dataFolder }).ended;
    const { output: listedToo } = await command('list');
    expect(JSON.parse(listedToo)).toEqual({
      subscriptions: [expect.objectContaining({ name: 'desk', id, made_by: 'http', unset: [], behind: 0 })],
    });
    // The command has the secret from where the notifier has it.
    const { output: tried } = await command('test', 'desk', '--event', 'run.failed');
    expect(JSON.parse(tried)).toMatchObject({ subscription: 'desk', kind: 'webhook', status: 204 });
    const [trial] = await receiver.until('/desk', 1);
    expect(trial && eventOf(trial, String(made.body['secret'])).type).toBe('sluice.run.failed');
    await system.ask({ group: [], requestId: 'run-1' });
    const [, first] = await receiver.until('/desk', 2);
    expect(first && eventOf(first, String(made.body['secret'])).subject).toBe('run-1');

    // Both secrets sign for a day, so that a receiver can change over.
    const renewed = await ask('POST', '/desk/secret');
    expect(renewed.status).toBe(200);
    expect(renewed.body['secret']).not.toBe(made.body['secret']);
    const requestIds: string[] = [];
    const second = await eventually(
      async () => {
        const requestId = `run-${String(requestIds.length + 2)}`;
        requestIds.push(requestId);
        await system.ask({ group: [], requestId });
        return receiver.at('/desk').at(-1);
      },
      (one) => one?.headers['webhook-signature']?.includes(' ') === true,
    );
    for (const { body } of [made, renewed])
      expect(second && eventOf(second, String(body['secret'])).type).toBe('sluice.run.ended');

    expect((await ask('PATCH', '/desk', { outcomes: ['incomplete'], retry_seconds: 1 })).body).toMatchObject({
      ...{ name: 'desk', outcomes: ['incomplete'], url: desk.url },
    });
    expect((await ask('PATCH', '/desk', { outcomes: ['*'] })).body).toMatchObject({ outcomes: null });
    expect((await ask('PATCH', '/desk', { agents: ['default'], include: ['answer'] })).body).toMatchObject({
      ...{ agents: ['default'], include: ['answer'], retry_seconds: 1 },
    });
    expect((await ask('PATCH', '/desk', { include: [] })).body).toMatchObject({ agents: ['default'], include: [] });
    expect((await ask('PATCH', '/desk', { agents: ['*'] })).body).toMatchObject({ agents: null });
    expect((await ask('PATCH', '/desk', { agents: ['defalt'] })).body).toMatchObject({
      error: { message: expect.stringContaining('did you mean `default`') },
    });
    expect((await ask('PATCH', '/other', {})).status).toBe(404);
    const subjects = (): readonly unknown[] =>
      receiver.at('/desk').map(({ body }) => (JSON.parse(body) as Json)['subject']);
    await eventually(subjects, (sent) => requestIds.every((requestId) => sent.includes(requestId)));
    status = 503;
    await system.ask({ group: [], requestId: 'run-late' });
    const deliveries = await eventually(
      async () => (await ask('GET', '/desk/deliveries')).body,
      ({ attempts, dead_letters: dead }) =>
        (dead as Json[]).length > 0 && (attempts as Json[]).some(({ subject }) => subject === 'run-late'),
    );
    expect(deliveries).toMatchObject({
      attempts: expect.arrayContaining([
        expect.objectContaining({ event: 'run.ended', subject: 'run-1', failure: null }),
        expect.objectContaining({ subject: 'run-late', failure: 'failed' }),
      ]),
      dead_letters: [{ code: 'retries_exhausted' }],
    });
    status = 204;
    const [dead] = deliveries['dead_letters'] as readonly { id: string }[];
    const again = await fetch(`${gateway.url}/v1/dead-letters/${dead?.id ?? ''}/redrive`, {
      ...{ method: 'POST', headers: localHeaders(system.embedded.runtime) },
    });
    expect(again.status).toBe(200);
    await eventually(subjects, (sent) => sent.filter((subject) => subject === 'run-late').length > 1);

    expect((await ask('DELETE', '/desk')).body).toEqual({ name: 'desk', status: 'deleted' });
    expect((await ask('DELETE', '/desk')).status).toBe(404);
    await delivering(id, false);
    const count = receiver.all.length;
    await system.ask({ group: [], requestId: 'run-after' });
    expect(receiver.all.length).toBe(count);
    expect(await list()).toEqual([]);
  }, 120_000);
});
