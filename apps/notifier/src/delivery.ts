import { Fault } from '@sluice/core';
import type { NotifyReceiver, NotifySettings } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Notification } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import type { Runtime } from '@sluice/host';
import { DeliveryLog } from '@sluice/notify';
import type { Receivers } from './receivers.js';
import { DeliveryError } from './senders/sender.js';
import type { Sender } from './senders/sender.js';
import { MailSender } from './senders/mail-sender.js';
import { SlackSender } from './senders/slack-sender.js';
import { WebhookSender } from './senders/webhook-sender.js';
import { vouchKey } from './wanted.js';

interface Subscribed {
  readonly notify: NotifySettings;
  readonly receiver: NotifyReceiver;
}

/** Delivers what one subscription is to be sent, under the configuration in force at each attempt. */
export class Delivery {
  private sender: Sender | undefined;
  /** The kind of the sender, and the private hosts that it may reach. */
  private madeFor = '';
  private readonly log: DeliveryLog;
  /** When what is under way happened, by its position. */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly id: string,
    private readonly runtime: Runtime,
    private readonly receivers: Receivers,
  ) {
    this.log = new DeliveryLog(id, runtime.documents);
  }

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
      throw this.fault(error, record, subscribed.receiver, trustedTimeOf(message));
    }
    this.waiting.delete(place);
    this.note(record, null);
    context.afterCommit(() => {
      const of = { subscription: this.id, kind: subscribed.receiver.kind };
      metrics.notifications.inc({ ...of, event: record.event });
      metrics.notificationDelay.observe(of, Math.max(0, clock.now() - record.at) / 1_000);
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

  /** Keeps what was attempted, for people to look at. */
  write(): Promise<void> {
    return this.log.write(this.runtime.clock.now());
  }

  async close(): Promise<void> {
    await this.write();
    await this.sender?.close();
  }

  private subscribed(): Subscribed | null {
    const { notify } = this.runtime.configurations.current().configuration;
    const receiver = this.receivers.all().find(({ id }) => id === this.id);
    return notify === undefined || receiver === undefined ? null : { notify, receiver };
  }

  private send(record: Notification, { notify, receiver }: Subscribed, signal: AbortSignal): Promise<void> {
    return this.senderFor(receiver, notify).send({ record, receiver, notify }, signal);
  }

  /** Another one where other private hosts may be reached since; the former ends with what it sends. */
  private senderFor({ kind }: NotifyReceiver, { privateHosts }: NotifySettings): Sender {
    const wanted = [kind, ...privateHosts].join(' ');
    if (this.sender === undefined || wanted !== this.madeFor) {
      void this.sender?.close();
      this.sender = senderOf(kind, privateHosts, this.runtime);
      this.madeFor = wanted;
    }
    return this.sender;
  }

  private note({ notificationId, event, subject }: Notification, failure: string | null): void {
    this.log.note({ id: notificationId, event, subject, at: this.runtime.clock.now(), failure });
  }

  private fault(error: unknown, record: Notification, { kind, retryMs }: NotifyReceiver, at: number): unknown {
    const { event, subject } = record;
    if (!(error instanceof DeliveryError)) return error;
    const { failure, message } = error;
    this.note(record, failure);
    this.runtime.metrics.notificationFailures.inc({ subscription: this.id, kind, reason: failure });
    const sentence = `The subscription ${this.id} was not sent ${event} of ${subject}: ${message}`;
    if (failure === 'gone') return new Fault('receiver_gone', sentence, false, { cause: error });
    return new Fault('receiver_unreachable', sentence, true, { cause: error, until: at + retryMs });
  }
}

function senderOf(kind: NotifyReceiver['kind'], privateHosts: readonly string[], runtime: Runtime): Sender {
  const senders = { webhook: WebhookSender, slack: SlackSender, mail: MailSender };
  return new senders[kind](privateHosts, runtime) as Sender;
}
