import type { Topic } from '@sluice/contracts';
import { skipUndecodable } from '@sluice/bus';
import type { Incoming, LogReader } from '@sluice/bus';

/** A record that may stand on the log: not before `since`, under one of the keys, and of the kind that `is` says. */
export interface Sought {
  readonly topics: readonly Topic[];
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly keys: readonly string[];
  is(candidate: Incoming): Promise<boolean>;
}

interface Waiting {
  readonly sought: Sought;
  found(is: boolean): void;
  failed(error: unknown): void;
}

/** Looks records up on the log, for all who ask at a time in one reading. */
export class OnLog {
  private waiting: Waiting[] = [];
  private isReading = false;

  constructor(private readonly log: LogReader) {}

  has(sought: Sought): Promise<boolean> {
    return new Promise((found, failed) => {
      this.waiting.push({ sought, found, failed });
      if (!this.isReading) void this.readOn();
    });
  }

  private async readOn(): Promise<void> {
    this.isReading = true;
    // Those who ask in the same turn of the event loop come along.
    await new Promise(setImmediate);
    while (this.waiting.length > 0) {
      const all = new Set(this.waiting.splice(0));
      try {
        await this.read(all);
        for (const { found } of all) found(false);
      } catch (error) {
        for (const { failed } of all) failed(error);
      }
    }
    this.isReading = false;
  }

  /** Takes out those that are found. */
  private async read(all: Set<Waiting>): Promise<void> {
    const byKey = new Map<string, Waiting[]>();
    for (const one of all) for (const key of one.sought.keys) byKey.set(key, [...(byKey.get(key) ?? []), one]);
    const topics = [...new Set([...all].flatMap(({ sought }) => sought.topics))];
    const time = [...all].reduce((least, { sought }) => Math.min(least, sought.since), Infinity);
    const options = { from: { time }, ofKey: (key: string) => byKey.has(key), ...skipUndecodable };
    for await (const message of this.log.read(topics, options)) {
      for (const one of byKey.get(message.key) ?? []) {
        const { since, topics: wanted, is } = one.sought;
        if (!all.has(one) || message.timestamp < since || !wanted.includes(message.topic)) continue;
        if (!(await is(message as Incoming))) continue;
        one.found(true);
        all.delete(one);
      }
      if (all.size === 0) return;
    }
  }
}
