import { Fault } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { Codec, Topic } from '@sluice/contracts';
import type { BusLog, Consumer, Outgoing, PartitionLag, Standing, Subscription } from '../port.js';
import { keepsPartitionOrder, laneOf } from '../processing/carrying.js';
import { handleRecord } from '../processing/handling.js';
import type { HandlingOptions } from '../processing/handling.js';
import { Lanes } from '../processing/lanes.js';
import { pause } from '../processing/retry.js';
import { RetryLog } from '../processing/retry-log.js';
import { Revocation } from '../processing/revocation.js';
import { type Room, Slots } from '../processing/slots.js';
import { openStored } from '../processing/stored.js';
import type { Opened } from '../processing/stored.js';
import type { Append, StoredPosition } from './append.js';
import type { Commits } from './commits.js';
import type { Forget } from './forget.js';
import { Cursors } from './cursors.js';
import type { Fetch } from './fetch.js';
import { Flush } from './flush.js';
import type { RecentRecords } from './recent.js';
import { ReadRetry } from './retry-reads.js';
import { renewMs } from './lease.js';
import type { Lease } from './lease.js';
import type { Progress } from './progress.js';
import { patiently } from './store.js';
import type { Store } from './store.js';
import { Gate } from '../processing/gate.js';
import type { Wakeups } from './wake.js';

const defaultInFlight = 1_000;
/** Positions read from the log at once; between two pages the event loop goes round. */
const pageRecords = 256;
/** Records that may wait behind others of their session before reading pauses for everybody. */
const maxWaiting = 100_000;

interface ConsumerOptions {
  readonly subscription: Subscription;
  readonly store: Store;
  readonly commits: Commits;
  readonly fetch: Fetch;
  readonly append: Append;
  readonly forget: Forget;
  readonly recent: RecentRecords;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly log: BusLog;
  readonly wakeups: Wakeups;
  readonly lease: Lease;
  readonly progress: Progress;
  /** Room for the records at work of all consumers in this process. */
  readonly working: Slots;
  readonly emit: (messages: readonly Outgoing[]) => void;
  /** Called once, however it ends. */
  readonly ended: () => void;
}

/**
 * One group's consumer: one loop reads on and puts each record in its session's lane, each busy lane is a loop of its
 * own, and the flush puts what is finished on the log. Sessions are in order over all topics of the subscription.
 */
export class SqliteConsumer implements Consumer {
  readonly failed: Promise<Error>;
  private readonly slots: Slots;
  /** Absent where records are handled one after another anyway. */
  private readonly working: Room | undefined;
  private readonly lanes = new Lanes<StoredPosition>();
  /** What the record that finished last left, by topic; only one at a time is in work where that means anything. */
  private readonly carried = new Map<Topic, string>();
  private readonly cursors: Cursors;
  private readonly insist: ReadRetry;
  private readonly flush: Flush;
  private readonly handling: HandlingOptions;
  private readonly gate = new Gate();
  private readonly room = new Gate();
  private readonly stopping = new AbortController();
  private readonly revocations = new Set<Revocation>();
  private readonly loops = new Set<Promise<void>>();
  private readonly renewal: NodeJS.Timeout;
  private readonly unlisten: () => void;
  /** Lanes whose first record waits for its tenant’s turn. */
  private beginning = 0;
  private renewedAt = performance.now();
  private stopped: Promise<void> | undefined;
  private tellFailure: (error: Error) => void = () => undefined;

  constructor(private readonly options: ConsumerOptions) {
    const { subscription, progress } = options;
    this.failed = new Promise((resolve) => (this.tellFailure = resolve));
    this.slots = new Slots(subscription.maxInFlight ?? defaultInFlight);
    this.cursors = new Cursors(subscription.topics, options.fetch, progress);
    this.insist = new ReadRetry(subscription.group, options.log, this.stopping.signal);
    const retries = new RetryLog(subscription.group, options.log, options.clock);
    this.working = keepsPartitionOrder(subscription) ? undefined : options.working.ofService();
    this.handling = { ...options, working: this.working, retries, stopping: this.stopping.signal };
    this.flush = new Flush({
      ...options,
      group: subscription.group,
      watches: subscription.deadLetters === false,
      committed: (records) => {
        for (const { tenant } of records) this.slots.free(tenant);
        if (records.some(({ outputs }) => outputs.length > 0)) options.wakeups.notify();
      },
      failed: (error) => this.fail(error),
      observer: subscription.observer,
    });
    this.unlisten = options.wakeups.listen(this.gate.open);
    this.renewal = setInterval(() => void this.renew(), renewMs);
    if (keepsPartitionOrder(subscription))
      for (const topic of subscription.topics) subscription.taken?.({ topic, partition: 0 }, progress.carried(topic));
    this.keep(this.read());
  }

  get inFlight(): number {
    return this.slots.taken;
  }

  /** Its lease is its membership, and the log one partition. */
  get standing(): Standing {
    return { partitions: 1, heartbeatAgeMs: performance.now() - this.renewedAt, trouble: this.trouble };
  }

  /** Why it cannot go on now, though it goes on trying. */
  get trouble(): string | undefined {
    return this.flush.trouble ?? this.insist.trouble;
  }

  async lag(): Promise<readonly PartitionLag[]> {
    const { subscription, fetch, progress } = this.options;
    return patiently('The log could not be read', () =>
      subscription.topics.map((topic) => ({
        topic,
        partition: 0,
        records: progress.of(topic).unfinishedBelow(fetch.endOf(topic)),
      })),
    );
  }

  stop(drainMs: number): Promise<void> {
    this.stopped ??= this._stop(drainMs);
    return this.stopped;
  }

  private async _stop(drainMs: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    this.begunToEnd();
    const deadline = new AbortController();
    await Promise.race([Promise.all(this.loops), pause(drainMs, deadline.signal)]);
    deadline.abort();
    await this.flush.settle();
    this.giveUp();
    const { store, lease, log, subscription, ended } = this.options;
    try {
      await store.write('processLoss', () => lease.release());
    } catch (error) {
      log('warn', 'The lease could not be given back; it ends by itself in ten seconds.', {
        group: subscription.group,
        error: String(error),
      });
    }
    ended();
  }

  /** Reads on for as long as there is room, and begins what is first in its session. */
  private async read(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const places = await this.insist.until(() => this.cursors.next(pageRecords));
      if (places === null) return;
      if (places.length === 0) {
        await this.gate.wait();
        continue;
      }
      for (const place of places) {
        const opened = await this.open(place);
        if (opened === null) return;
        if (opened === 'trimmed') continue;
        const lane = this.laneOf(opened);
        if (this.lanes.enter(lane, place)) {
          const { tenant } = opened;
          const granted = this.slots.take(tenant);
          if (granted === false) return;
          this.keep(granted === true ? this.runLane(opened, lane, tenant) : this.begin(granted, place, lane, tenant));
        }
        while (this.lanes.waiting + this.beginning >= maxWaiting && !this.stopping.signal.aborted)
          await this.room.wait();
      }
      await new Promise(setImmediate);
    }
  }

  private laneOf({ session, stored }: Opened): string {
    return laneOf(session, stored, this.options.subscription);
  }

  /**
   * Reading goes on meanwhile: the records of other tenants may be further down the log. Only its place is kept until
   * then.
   */
  private async begin(granted: Promise<boolean>, place: StoredPosition, lane: string, tenant: string): Promise<void> {
    this.beginning++;
    const isGranted = await granted;
    this.beginning--;
    this.room.open();
    if (!isGranted) return;
    const opened = await this.open(place);
    if (opened === 'trimmed') this.slots.free(tenant);
    if (opened !== null) await this.runLane(opened, lane, tenant);
  }

  /** One lane's records, one after another in its tenant’s turn, until none waits. */
  private async runLane(first: Opened | 'trimmed', lane: string, tenant: string): Promise<void> {
    for (let opened: Opened | 'trimmed' | null = first; opened !== null;) {
      if (opened !== 'trimmed') {
        const revocation = new Revocation();
        this.revocations.add(revocation);
        const { topic } = opened.stored;
        const carried = this.carried.get(topic) ?? this.options.progress.carried(topic);
        const finished = await handleRecord(opened, this.handling, revocation, carried);
        this.revocations.delete(revocation);
        if (finished === null) return;
        this.carried.set(topic, finished.carried);
        this.flush.add({ ...finished, tenant });
      }
      const place = this.lanes.next(lane);
      this.room.open();
      if (place === undefined || !(await this.slots.take(tenant))) return;
      opened = await this.open(place);
      if (opened === 'trimmed') this.slots.free(tenant);
    }
  }

  private async open(place: StoredPosition): Promise<Opened | 'trimmed' | null> {
    const { fetch, codec, progress, recent } = this.options;
    const known = recent.find(place);
    if (known !== undefined) return known;
    return this.insist.until(() => {
      const stored = fetch.record(place);
      if (stored !== undefined) return recent.keep(place, openStored(codec, stored));
      progress.of(place.topic).finish(place.offset, place.offset + 1);
      return 'trimmed' as const;
    });
  }

  private async renew(): Promise<void> {
    const { store, lease, log, subscription } = this.options;
    try {
      await store.write('processLoss', () => lease.renew());
      this.renewedAt = performance.now();
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (!(error instanceof Fault)) this.fail(error as Error);
      else log('warn', `The lease could not be renewed. ${error.message}`, { group: subscription.group });
    }
  }

  /** A loop that ends with an error ends the consumer. */
  private keep(loop: Promise<void>): void {
    const kept = loop
      .catch((error: unknown) => this.fail(error instanceof Error ? error : new Error(String(error))))
      .finally(() => this.loops.delete(kept));
    this.loops.add(kept);
  }

  private fail(error: Error): void {
    if (this.stopping.signal.aborted) return;
    this.begunToEnd();
    this.giveUp();
    this.options.ended();
    this.tellFailure(error);
  }

  private begunToEnd(): void {
    this.stopping.abort();
    this.slots.close();
    this.working?.close();
    this.gate.open();
    this.room.open();
    clearInterval(this.renewal);
    this.unlisten();
  }

  private giveUp(): void {
    this.flush.drop();
    for (const revocation of this.revocations)
      revocation.revoke(new Error('The consumer gives this record up; it is repeated later.'));
  }
}
