import { randomBytes } from 'node:crypto';
import { Fault, subscriptionsDocument as place } from '@sluice/core';
import type { Documents, NotifyReceiver, NotifySubscription } from '@sluice/core';

/** A subscription that was made over HTTP, with the secrets that sign. */
export interface StoredSubscription extends Omit<NotifySubscription, 'secretEnv' | 'previousSecretEnv' | 'secrets'> {
  /** Names it to people; its id names its consumer group. */
  readonly name: string;
  readonly secret: string;
  /** The former secret, and until when it signs too; null where none does. */
  readonly previous: { readonly secret: string; readonly until: number } | null;
  readonly createdBy: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Each is a consumer of its own. */
export const mostStored = 50;
/** Writers that may be ahead of one, each time. */
const tries = 20;
/** How long a former secret signs beside its successor. */
const previousMs = 24 * 3_600_000;

export class StoredSubscriptions {
  constructor(private readonly documents: Pick<Documents, 'find' | 'put'>) {}

  async all(): Promise<readonly StoredSubscription[]> {
    return (await this.read()).subscriptions;
  }

  /**
   * Writes what `change` makes of them, which may be asked several times; null changes nothing. Resolves with what
   * `change` said last.
   */
  async change(
    change: (all: readonly StoredSubscription[]) => readonly StoredSubscription[] | null,
  ): Promise<readonly StoredSubscription[] | null> {
    for (let attempt = 0; attempt < tries; attempt++) {
      const { version, subscriptions } = await this.read();
      const changed = change(subscriptions);
      if (changed === null) return null;
      if (await this.documents.put(place, version + 1, JSON.stringify(changed), null)) return changed;
    }
    throw new Fault('ledger_unreachable', 'The subscriptions are changed by too many at once.', true);
  }

  private async read(): Promise<{ readonly version: number; readonly subscriptions: readonly StoredSubscription[] }> {
    const found = await this.documents.find(place);
    const subscriptions = found === undefined ? [] : (JSON.parse(found.text) as readonly StoredSubscription[] | null);
    // Nothing is written over what cannot be read.
    if (subscriptions === null)
      throw new Fault('content_unreachable', 'No key here opens the subscriptions that were made over HTTP.', true);
    return { version: found?.version ?? 0, subscriptions };
  }
}

export function newSubscriptionSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export function newSubscriptionId(): string {
  return `http-${randomBytes(5).toString('hex')}`;
}

/** With a new secret; the former one signs too for a day. */
export function withNewSecret(one: StoredSubscription, secret: string, now: number): StoredSubscription {
  return { ...one, secret, previous: { secret: one.secret, until: now + previousMs } };
}

/** As the notifier delivers to it. */
export function receiverOf(one: StoredSubscription, now: number): NotifyReceiver & { readonly kind: 'webhook' } {
  const { name: _, secret, previous, createdBy: __, createdAt: ___, ...subscription } = one;
  const former = previous !== null && now < previous.until ? [previous.secret] : [];
  return { kind: 'webhook', ...subscription, secretEnv: '', secrets: [secret, ...former] };
}
