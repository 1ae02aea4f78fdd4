import { randomUUID } from 'node:crypto';
import type { NotificationEvent, NotifySettings, NotifySubscription } from '@sluice/core';
import { secretsOf } from './senders/webhook-sender.js';
import type { Happened } from './events.js';
import { Receiver } from './receiver.js';
import { notificationOf } from './wanted.js';
import { cloudEventOf, signedHeaders } from './webhook.js';

/** Where a trial comes from. */
interface Sender {
  readonly secret: (variable: string) => string | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Sends one event that did not happen to a subscription, once; resolves with the status. Throws DeliveryError. */
export async function sendTrial(
  event: NotificationEvent,
  { notify, subscription }: { readonly notify: NotifySettings; readonly subscription: NotifySubscription },
  { secret, now, signal }: Sender,
): Promise<{ readonly id: string; readonly status: number }> {
  const webhook = cloudEventOf(notificationOf(trialOf(event, now), subscription, notify), notify.baseUrl);
  const headers = signedHeaders(webhook, secretsOf(subscription, secret), now);
  const receiver = new Receiver(notify.privateHosts);
  try {
    const status = await receiver.send(subscription.url, { headers, body: webhook.body }, signal);
    return { id: webhook.id, status };
  } finally {
    await receiver.close();
  }
}

function trialOf(event: NotificationEvent, at: number): Happened {
  return {
    ...{ id: `evt_test_${randomUUID()}`, event, subject: 'test', requestId: 'test', sessionId: 'test', at, stage: 0 },
    ...{ tenantId: null, outcome: '', page: '/', texts: {} },
    data: { test: true, request_id: 'test' },
  };
}
