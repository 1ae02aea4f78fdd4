import { receiversOf } from '@sluice/core';
import type { Configuration, NotifyReceiver } from '@sluice/core';
import { receiverOf, StoredSubscriptions } from '@sluice/notify';
import type { StoredSubscription } from '@sluice/notify';
import type { Runtime } from '@sluice/host';

/** How often subscriptions that were made over HTTP are read, milliseconds. */
const lookEveryMs = 1_000;

/** All that are notified: those of the configuration in force, and those that were made over HTTP. */
export class Receivers {
  private readonly subscriptions: StoredSubscriptions;
  private stored: readonly StoredSubscription[] = [];
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private readonly followers: (() => void)[] = [];

  constructor(private readonly runtime: Runtime) {
    this.subscriptions = new StoredSubscriptions(runtime.documents);
  }

  async start(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => {
      this.reading = this.look();
    }, lookEveryMs);
    this.runtime.configurations.onChange(() => this.changed());
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.reading;
  }

  /** Called now and whenever others are notified. */
  onChange(follow: () => void): void {
    this.followers.push(follow);
    follow();
  }

  all(configuration: Configuration = this.runtime.configurations.current().configuration): readonly NotifyReceiver[] {
    const { notify } = configuration;
    const configured = receiversOf(notify);
    if (notify === undefined) return configured;
    const now = this.runtime.clock.now();
    return [...configured, ...this.stored.map((one) => receiverOf(one, now))];
  }

  /** Since when those that were made over HTTP are there, by their ids. */
  storedSince(): ReadonlyMap<string, number> {
    return new Map(this.stored.map(({ id, createdAt }) => [id, createdAt]));
  }

  private async look(): Promise<void> {
    try {
      const before = JSON.stringify(this.stored);
      this.stored = await this.subscriptions.all();
      if (JSON.stringify(this.stored) !== before) this.changed();
    } catch (error) {
      // Those that were read last go on.
      this.runtime.log.warn({ error: (error as Error).message }, 'subscriptions over HTTP cannot be read now');
    }
  }

  private changed(): void {
    for (const follow of this.followers) follow();
  }
}
