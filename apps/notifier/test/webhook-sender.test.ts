import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NotifyReceiver } from '@sluice/core';
import { make } from '@sluice/contracts';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../../../test/harness/eventually.js';
import { connections } from '../src/receiver.js';
import { WebhookSender } from '../src/senders/webhook-sender.js';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const came: { readonly at: number; readonly answer: () => void }[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    new Webhook(secret).verify(body, request.headers as Record<string, string>);
    came.push({ at: Number(request.headers['webhook-timestamp']), answer: () => response.writeHead(204).end() });
  });
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

it('a webhook that waits for a connection is signed once it has one: its time to be answered begins there', async () => {
  let now = Date.now();
  const runtime = { environment: { secret: () => secret }, clock: { now: () => now } };
  const host = `127.0.0.1:${String(port)}`;
  const sender = new WebhookSender([host], runtime as unknown as ConstructorParameters<typeof WebhookSender>[1]);
  const receiver: NotifyReceiver & { readonly kind: 'webhook' } = {
    ...{ kind: 'webhook', id: 'one', url: `http://${host}/`, events: ['run.ended'], secretEnv: 'ONE' },
    ...{ include: [], retryMs: 1_000 },
  };
  const record = make.notification({
    ...{ notificationId: 'evt_1', subscription: 'one', event: 'run.ended', requestId: 'r', sessionId: 's' },
    ...{ tenantId: null, subject: 'r', outcome: 'answer', at: now, stage: 0, data: '{}' },
  });
  const signal = new AbortController().signal;
  const notify = { privateHosts: [host], subscriptions: [] };
  const began = Math.floor(now / 1_000);
  const sent = Array.from({ length: connections + 1 }, () => sender.send({ record, receiver, notify }, signal));
  const all = await eventually(
    () => came,
    ({ length }) => length === connections,
  );
  expect(all.map(({ at }) => at)).toEqual(Array.from({ length: connections }, () => began));
  // Each before it has taken its time.
  now += 60_000;
  all[0]?.answer();
  await eventually(
    () => came,
    ({ length }) => length > connections,
  );
  expect(came.at(-1)?.at).toBe(began + 60);
  for (const { answer } of came.slice(1)) answer();
  await Promise.all(sent);
  await sender.close();
});
