import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue, NotificationEvent, NotifyReceiver, NotifySettings } from '@sluice/core';
import { SlackApi, trialMessage } from '@sluice/notify';
import { linkSecretOf, messageIdOf } from './senders/mail-sender.js';
import { mailFailure, mailTransport } from './senders/mail-server.js';
import { DeliveryError, secretOf } from './senders/sender.js';
import { slackFailure } from './senders/slack-failure.js';
import { secretsOf } from './senders/webhook-sender.js';
import type { Happened } from './events.js';
import { Receiver } from './receiver.js';
import { notificationOf } from './wanted.js';
import { cloudEventOf, signedHeaders } from './webhook.js';

type Kind<K extends NotifyReceiver['kind']> = NotifyReceiver & { readonly kind: K };

/** Where a trial comes from. */
interface Sender {
  readonly notify: NotifySettings;
  readonly secret: (variable: string) => string | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** What a receiver took. */
export interface Trial {
  /** The id of the event or of the mail, or the time stamp of the message. */
  readonly id: string;
  /** The status of a webhook’s answer; null for others. */
  readonly status: number | null;
  /** Where it went, for people. */
  readonly to: string;
}

/** Sends one event that did not happen to a receiver of webhooks, once. Throws DeliveryError. */
export async function tryWebhook(
  event: NotificationEvent,
  webhook: Kind<'webhook'>,
  { notify, secret, now, signal }: Sender,
): Promise<Trial> {
  const unsigned = cloudEventOf(notificationOf(trialOf(event, now), webhook, notify), notify.baseUrl);
  const headers = signedHeaders(unsigned, webhook.secrets ?? secretsOf(webhook, secret), now);
  const receiver = new Receiver(notify.privateHosts);
  try {
    const status = await receiver.send(webhook.url, { headers, body: unsigned.body }, signal);
    return { id: unsigned.id, status, to: webhook.url };
  } finally {
    await receiver.close();
  }
}

/**
 * Posts a message that asks for nothing, and does what deliveries do besides: looks who the bot is, and whether it may
 * read the channel, where a message is found again. Throws DeliveryError.
 */
export async function trySlack(channel: Kind<'slack'>, { notify, secret, now, signal }: Sender): Promise<Trial> {
  const token = secretOf(channel.tokenEnv, secret);
  const api = new SlackApi(notify.privateHosts);
  const call = async (method: string, body: JsonObject): Promise<JsonObject> => {
    try {
      return await api.call(method, { apiUrl: channel.apiUrl, token }, body, signal);
    } catch (error) {
      throw slackFailure(error, channel);
    }
  };
  try {
    const { team_id: workspace } = await call('auth.test', {});
    const { text, blocks } = trialMessage(notify.baseUrl ?? null);
    const message = { text, blocks: blocks as readonly JsonValue[] as JsonValue };
    const options = { unfurl_links: false, unfurl_media: false };
    const posted = await call('chat.postMessage', { channel: channel.channel, ...options, ...message });
    const oldest = String(Math.floor(now / 1_000));
    await call('conversations.history', { channel: String(posted['channel']), oldest, limit: 1 });
    const of = typeof workspace === 'string' ? ` of the workspace ${workspace}` : '';
    return { id: String(posted['ts']), status: null, to: `the channel ${channel.channel}${of}` };
  } finally {
    await api.close();
  }
}

/** Mails each address that nothing waits. Throws DeliveryError for the first one that is not taken. */
export async function tryMail(mail: Kind<'mail'>, { notify, secret, signal }: Sender): Promise<Trial> {
  const transport = mailTransport(secretOf(mail.serverEnv, secret), notify.privateHosts, mail);
  linkSecretOf(mail, secret);
  const id = randomUUID();
  const lines = [
    'Sluice can mail you that a call waits for an approval.',
    'No call waits: a person tried whether it can.',
    ...(notify.baseUrl === undefined ? [] : ['', `The console lists what waits: ${notify.baseUrl}/approvals`]),
  ];
  const said = { from: mail.from, subject: 'A trial of Sluice', text: lines.join('\n') };
  try {
    for (const [place, to] of mail.to.entries()) {
      signal.throwIfAborted();
      const messageId = messageIdOf(`${id}.${String(place)}`, mail);
      await transport.sendMail({ ...said, to, messageId }).catch((error: unknown) => {
        const { failure, message } = mailFailure(error, mail);
        throw new DeliveryError(failure, `${to}: ${message}`, { cause: error });
      });
    }
    return { id, status: null, to: mail.to.join(', ') };
  } finally {
    transport.close();
  }
}

function trialOf(event: NotificationEvent, at: number): Happened {
  return {
    ...{ id: `evt_test_${randomUUID()}`, event, subject: 'test', requestId: 'test', sessionId: 'test', at, stage: 0 },
    ...{ tenantId: null, agent: null, outcome: '', page: '/', texts: {} },
    data: { test: true, request_id: 'test' },
  };
}
