import { Fault } from '@sluice/core';
import type { NotifySettings, NotifySubscription } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Notification } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import type { Runtime } from '@sluice/host';
import { DeliveryError, Receiver } from './receiver.js';
import { vouchKey } from './wanted.js';
import { cloudEventOf, signedHeaders } from './webhook.js';

interface Subscribed {
  readonly notify: NotifySettings;
  readonly subscription: NotifySubscription;
}

/** Delivers what one subscription is to be sent, under the configuration in force at each attempt. */
export class Delivery {
  private receiver: Receiver | undefined;
  private hosts = '';
  /** When what is under way happened, by its position. */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly id: string,
    private readonly runtime: Runtime,
  ) {}

  /** Handles a record of agent.notifications: it is through once the receiver has it. */
  async deliver(message: Incoming, context: HandlerContext): Promise<readonly Outgoing[]> {
    if (message.topic !== topics.notifications || message.record.subscription !== this.id) return [];
    const { record } = message;
    const subscribed = this.subscribed();
    // It was taken out of the configuration.
    if (subscribed === null) return [];
    const { ledger, metrics, clock } = this.runtime;
    if ((await ledger.find(vouchKey(record))) === undefined)
      throw new Fault('signature_invalid', 'No notifier wrote this notification, or that was over a week ago.', false);
    const place = `${String(message.partition)}/${String(message.offset)}`;
    this.waiting.set(place, record.at);
    const { signal } = context;
    // Another instance has the record then; further attempts have the same signal.
    if (context.attempt === 1) signal.addEventListener('abort', () => this.waiting.delete(place), { once: true });
    const send = () => this.send(record, subscribed, signal);
    try {
      await (context.aside === undefined ? send() : context.aside(send));
    } catch (error) {
      throw this.fault(error, record, trustedTimeOf(message) + subscribed.subscription.retryMs);
    }
    this.waiting.delete(place);
    context.afterCommit(() => {
      metrics.notifications.inc({ subscription: this.id, event: record.event });
      metrics.notificationDelay.observe({ subscription: this.id }, Math.max(0, clock.now() - record.at) / 1_000);
    });
    return [];
  }

  /** A record is a dead letter now. */
  givenUp({ partition, offset }: { readonly partition: number; readonly offset: number }): void {
    this.waiting.delete(`${String(partition)}/${String(offset)}`);
  }

  /** How long the oldest event that is under way has not been received, milliseconds. */
  get oldestMs(): number {
    const now = this.runtime.clock.now();
    return Math.max(0, ...[...this.waiting.values()].map((at) => now - at));
  }

  async close(): Promise<void> {
    await this.receiver?.close();
  }

  private subscribed(): Subscribed | null {
    const { notify } = this.runtime.configurations.current().configuration;
    const subscription = notify?.subscriptions.find(({ id }) => id === this.id);
    return notify === undefined || subscription === undefined ? null : { notify, subscription };
  }

  private async send(record: Notification, { notify, subscription }: Subscribed, signal: AbortSignal): Promise<void> {
    const webhook = cloudEventOf(record, notify.baseUrl);
    const { environment, clock } = this.runtime;
    const headers = signedHeaders(webhook, secretsOf(subscription, environment.secret), clock.now());
    await this.receiverFor(notify).send(subscription.url, { headers, body: webhook.body }, signal);
  }

  /** Another one where other private hosts may be reached since; the former ends with what it sends. */
  private receiverFor({ privateHosts }: NotifySettings): Receiver {
    const hosts = privateHosts.join(' ');
    if (this.receiver === undefined || hosts !== this.hosts) {
      void this.receiver?.close();
      this.receiver = new Receiver(privateHosts);
      this.hosts = hosts;
    }
    return this.receiver;
  }

  private fault(error: unknown, { event, subject }: Notification, until: number): unknown {
    if (!(error instanceof DeliveryError)) return error;
    const { failure, message } = error;
    this.runtime.metrics.notificationFailures.inc({ subscription: this.id, reason: failure });
    const sentence = `The subscription ${this.id} was not sent ${event} of ${subject}: ${message}`;
    if (failure === 'gone') return new Fault('receiver_gone', sentence, false, { cause: error });
    return new Fault('receiver_unreachable', sentence, true, { cause: error, until });
  }
}

/** The secrets that sign, the present one first. Throws DeliveryError that names the variable, and never the value. */
export function secretsOf(
  { secretEnv, previousSecretEnv }: Pick<NotifySubscription, 'secretEnv' | 'previousSecretEnv'>,
  secret: (variable: string) => string | undefined,
): readonly string[] {
  const variables = [secretEnv, ...(previousSecretEnv === undefined ? [] : [previousSecretEnv])];
  return variables.map((variable) => secretIn(variable, secret));
}

function secretIn(variable: string, secret: (variable: string) => string | undefined): string {
  let value: string | undefined;
  try {
    value = secret(variable);
  } catch (error) {
    // The file that holds it cannot be read, or has nothing in it.
    throw new DeliveryError('secret', (error as Error).message, { cause: error });
  }
  if (value === undefined || value === '')
    throw new DeliveryError('secret', `The variable ${variable} with its secret is not set.`);
  const text = value.replace(/^whsec_/, '');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text && bytes.byteLength >= 24 && bytes.byteLength <= 64) return value;
  const found = `The variable ${variable} holds no secret of 24 to 64 bytes in base64.`;
  throw new DeliveryError('secret', `${found} Make one with: sluice notify secret`);
}
