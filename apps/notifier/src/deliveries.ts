import { groupOfSubscription, topics } from '@sluice/contracts';
import type { Consumer } from '@sluice/bus';
import { reportDeadLetter } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { observerOf, watchConsumer } from '@sluice/host';
import { Delivery } from './delivery.js';
import type { Receivers } from './receivers.js';

/** Deliveries of one subscription in work at a time, those that wait for another attempt among them. */
const maxInFlight = 100;
const retry = { initialMs: 1_000, maxMs: 15 * 60_000, attempts: 20 };
const lookEveryMs = 1_000;
/** Before a consumer that could not be started is tried again, milliseconds. */
const againMs = 5_000;

interface Running {
  readonly consumer: Consumer;
  readonly close: () => Promise<void>;
}

/**
 * A consumer of agent.notifications for each subscription, in a group of its own: how far each receiver is, and what
 * is tried again, is in no way of the others. They follow the configuration.
 */
export class Deliveries {
  private readonly running = new Map<string, Running>();
  private changing: Promise<void> = Promise.resolve();
  private again: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly runtime: Runtime,
    private readonly receivers: Receivers,
  ) {}

  start(): void {
    this.receivers.onChange(() => this.follow());
    this.runtime.health.add({ name: 'notifications', check: () => this.check() });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.again);
    await this.changing;
    await Promise.all([...this.running.values()].map(({ close }) => close()));
    this.running.clear();
  }

  private follow(): void {
    if (this.isClosed) return;
    clearTimeout(this.again);
    this.changing = this.changing.then(() => this.change());
  }

  private async change(): Promise<void> {
    const ids = new Set(this.receivers.all().map(({ id }) => id));
    try {
      for (const [id, { close }] of this.running) {
        if (ids.has(id)) continue;
        this.running.delete(id);
        await close();
      }
      for (const id of ids) if (!this.isClosed && !this.running.has(id)) this.running.set(id, await this.subscribe(id));
    } catch (error) {
      this.runtime.log.error(
        { error: (error as Error).message },
        'the deliveries of a subscription could not be started or stopped; trying again',
      );
      if (!this.isClosed) this.again = setTimeout(() => this.follow(), againMs);
    }
  }

  private async subscribe(id: string): Promise<Running> {
    const { bus, environment, metrics } = this.runtime;
    const group = groupOfSubscription(id);
    const delivery = new Delivery(id, this.runtime, this.receivers);
    const consumer = await bus.subscribe({
      ...{ group, topics: [topics.notifications], maxInFlight, retry },
      observer: observerOf(group, this.runtime),
      handle: (message, context) => delivery.deliver(message, context),
      afterDead: (dead) => {
        delivery.givenUp(dead);
        reportDeadLetter(dead, this.runtime);
      },
    });
    void consumer.failed.then((error) =>
      this.runtime.fail(new Error(`The group ${group} can no longer work: ${error.message}`, { cause: error })),
    );
    const unwatch = watchConsumer(group, consumer, this.runtime);
    const age = (): void => metrics.notificationAge.set({ subscription: id }, delivery.oldestMs / 1_000);
    age();
    const timer = setInterval(() => {
      age();
      void delivery.write();
    }, lookEveryMs);
    return {
      consumer,
      close: async () => {
        clearInterval(timer);
        unwatch();
        metrics.notificationAge.remove({ subscription: id });
        await consumer.stop(environment.drainMs);
        await delivery.close();
      },
    };
  }

  private check(): Promise<void> {
    for (const [id, { consumer }] of this.running)
      if (consumer.standing.trouble !== undefined)
        return Promise.reject(new Error(`Deliveries to ${id} stand: ${consumer.standing.trouble}`));
    return Promise.resolve();
  }
}
