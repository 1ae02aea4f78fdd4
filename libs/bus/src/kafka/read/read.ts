import { Fault } from '@sluice/core';
import type { Codec, Topic } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import type { BusLog, Incoming, ReadOptions } from '../../port.js';
import { backOff, pause } from '../../processing/retry.js';
import { openStored } from '../../processing/stored.js';
import type { Stored } from '../../processing/stored.js';
import { clusterOf } from '../kafkajs/cluster.js';
import type { Cluster } from '../kafkajs/cluster.js';
import type { Clients } from '../kafkajs/clients.js';
import { cursorsAt, fetchNext, moveIntoRange } from './fetch.js';
import type { Cursor } from './fetch.js';
import type { Names } from '../names.js';

const waitMs = 100;
const retry = { initialMs: 50, maxMs: 2_000 };
/** How long a reading that is to end puts up with a broker that is away, milliseconds. A follower goes on for ever. */
const patienceMs = 30_000;

interface ReaderOptions {
  readonly clients: Clients;
  readonly names: Names;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly log: BusLog;
  /** Aborted when the bus closes: followers end then. */
  readonly closed: AbortSignal;
  readonly explain: (error: unknown) => Fault;
}

/**
 * Reads without a group: committed records only, those of a partition in their order, over partitions by their times.
 */
export class Reader {
  private shared: Cluster | undefined;
  private readonly followers = new Set<Cluster>();
  private readonly asking = new Set<Promise<unknown>>();

  constructor(private readonly options: ReaderOptions) {}

  /** Where it begins and ends is asked at the call. */
  read<T extends Topic>(topics: readonly T[], options: ReadOptions): AsyncIterable<Incoming<T>> {
    const { clients, closed } = this.options;
    // A follower’s fetch waits on its connection, where no other request must queue behind it.
    const cluster = options.follow ? clusterOf(clients()) : (this.shared ??= clusterOf(clients()));
    if (options.follow) this.followers.add(cluster);
    const ending = options.signal === undefined ? closed : AbortSignal.any([options.signal, closed]);
    const reading = new Reading({ ...this.options, asking: this.asking }, cluster, options, ending);
    const begun = reading.begin(topics);
    // A caller that iterates gets the error; one that does not has asked for nothing.
    begun.catch(() => undefined);
    const done = async (): Promise<void> => {
      if (!this.followers.delete(cluster)) return;
      await cluster.disconnect();
    };
    // Only records of the topics asked for are fetched; the compiler cannot follow that through the codec.
    return reading.records(begun, done) as AsyncIterable<Incoming<T>>;
  }

  async close(): Promise<void> {
    const clusters = [...this.followers, ...(this.shared === undefined ? [] : [this.shared])];
    this.followers.clear();
    // kafkajs would connect again for a question that is under way.
    await Promise.allSettled(this.asking);
    await Promise.all(clusters.map((cluster) => cluster.disconnect()));
  }
}

class Reading {
  private failingSince: number | undefined;

  constructor(
    private readonly options: ReaderOptions & { readonly asking: Set<Promise<unknown>> },
    private readonly cluster: Cluster,
    private readonly wanted: ReadOptions,
    private readonly ending: AbortSignal,
  ) {}

  /** Undefined if it ended before the broker answered. */
  begin(topics: readonly Topic[]): Promise<readonly Cursor[] | undefined> {
    return this.patiently(() => cursorsAt(this.cluster, this.options.names, topics, this.wanted.from));
  }

  async *records(
    begun: Promise<readonly Cursor[] | undefined>,
    done: () => Promise<void>,
  ): AsyncGenerator<Incoming, void, undefined> {
    try {
      const cursors = (await begun) ?? [];
      yield* this.upToEnd(cursors);
      while (this.wanted.follow && !this.ending.aborted) {
        const fresh = cursors.flatMap(({ fetched }) => fetched.splice(0));
        fresh.sort((one, other) => one.timestamp - other.timestamp);
        for (const stored of fresh) yield* this.open(stored);
        if (fresh.length === 0) await this.fetch(cursors);
      }
    } finally {
      await done();
    }
  }

  /** What was on the log at the call, the oldest first. */
  private async *upToEnd(cursors: readonly Cursor[]): AsyncGenerator<Incoming, void, undefined> {
    while (!this.ending.aborted) {
      const starving = cursors.filter(({ fetched, next, end }) => fetched.length === 0 && next < end);
      if (starving.length > 0) {
        await this.fetch(starving);
        continue;
      }
      const oldest = oldestOf(cursors);
      if (oldest === undefined) return;
      const stored = oldest.fetched.shift();
      if (stored !== undefined) yield* this.open(stored);
    }
  }

  private async *open(stored: Stored): AsyncGenerator<Incoming, void, undefined> {
    if (this.ending.aborted || this.wanted.ofKey?.(stored.key) === false) return;
    if (stored.timestamp >= (this.wanted.before ?? Infinity)) return;
    const opened = await this.patiently(async () => openStored(this.options.codec, stored));
    if (opened === undefined) return;
    const { message, fault } = opened;
    const { codec } = this.options;
    const { topic: from, value } = stored;
    // A copy: the value is a part of all that one fetch brought, which a holder of the Avro must not keep alive.
    if (message !== null)
      yield { ...message, avro: copied(codec.avro(from, value)), writer: codec.writer(from, value) };
    else if (this.wanted.onUndecodable === undefined) throw fault;
    else {
      const { topic, partition, offset } = stored;
      this.wanted.onUndecodable({ topic, partition, offset }, fault.message);
    }
  }

  private async fetch(cursors: readonly Cursor[]): Promise<void> {
    await this.patiently(async () => {
      try {
        await fetchNext(this.cluster, cursors, { waitMs, clock: this.options.clock });
      } catch (error) {
        const follows = this.wanted.follow === true;
        if (!(await moveIntoRange(this.cluster, cursors, error, follows))) throw error;
      }
    });
  }

  /** Tries until it works, the patience is at its end, or the reading is; undefined then. */
  private async patiently<T>(work: () => Promise<T>): Promise<T | undefined> {
    for (let attempt = 1; !this.ending.aborted; attempt++) {
      try {
        const result = await this.ask(work, attempt);
        this.failingSince = undefined;
        return result;
      } catch (error) {
        if (this.ending.aborted) return undefined;
        const fault = error instanceof Fault ? error : this.options.explain(error);
        this.failingSince ??= performance.now();
        const patient = this.wanted.follow === true || performance.now() - this.failingSince < patienceMs;
        if (!fault.retryable || !patient) throw fault;
        if (attempt === 3) this.options.log('warn', `${fault.message} The reading goes on when it is back.`, {});
        if (!(await pause(backOff(attempt, retry), this.ending))) return undefined;
      }
    }
    return undefined;
  }

  private async ask<T>(work: () => Promise<T>, attempt: number): Promise<T> {
    const { asking } = this.options;
    // The brokers may have changed places since the attempt before.
    const asked = attempt === 1 ? work() : this.lookAgain().then(work);
    asking.add(asked);
    try {
      return await asked;
    } finally {
      asking.delete(asked);
    }
  }

  private async lookAgain(): Promise<void> {
    await this.cluster.connect();
    await this.cluster.refreshMetadata();
  }
}

/** The cursor with the oldest record of those that were on the log at the call. */
function oldestOf(cursors: readonly Cursor[]): Cursor | undefined {
  let oldest: Cursor | undefined;
  for (const cursor of cursors) {
    const head = cursor.fetched[0];
    if (head === undefined || head.offset >= cursor.end) continue;
    if (oldest === undefined || head.timestamp < (oldest.fetched[0]?.timestamp ?? Infinity)) oldest = cursor;
  }
  return oldest;
}

function copied(avro: Buffer | null): Buffer | null {
  return avro === null ? null : Buffer.from(avro);
}
