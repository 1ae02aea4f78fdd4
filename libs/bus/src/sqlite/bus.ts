import { Fault } from '@sluice/core';
import type { Clock } from '@sluice/core';
import { createCodec } from '@sluice/contracts';
import type { Codec, RecordOf, Topic } from '@sluice/contracts';
import type { DatabaseSync } from 'node:sqlite';
import { writtenByServices } from '../port.js';
import type {
  Bus,
  BusLog,
  Consumer,
  Incoming,
  LogIdentity,
  Outgoing,
  PartitionLag,
  ReadOptions,
  Subscription,
} from '../port.js';
import { isKnownTenant } from '../processing/session.js';
import { Slots } from '../processing/slots.js';
import { encodeAll, OutputRefused } from '../processing/outputs.js';
import type { Encoded } from '../processing/outputs.js';
import { appender, topicIds } from './append.js';
import type { Append, TopicIds } from './append.js';
import { Commits } from './commits.js';
import { SqliteConsumer } from './consumer.js';
import { openDatabase } from './database.js';
import { emitter } from './emit.js';
import { fetcher } from './fetch.js';
import type { Fetch } from './fetch.js';
import { forgetter } from './forget.js';
import type { Forget } from './forget.js';
import { GroupAppend } from './group-append.js';
import { acquireLease, freeLeases, liveHolder } from './lease.js';
import type { Holder, LiveHolder } from './lease.js';
import { loadProgress, positionOf } from './progress.js';
import { readLog } from './read.js';
import { tableRegistry } from './registry.js';
import { retain } from './retain.js';
import type { Kept } from './retain.js';
import { RecentRecords } from './recent.js';
import { storageFault } from './storage-error.js';
import { patiently, Store } from './store.js';
import { Tail } from './tail.js';
import { trimTopic } from './trim.js';
import { Wakeups } from './wake.js';

/** How long a failed publish makes the bus unhealthy if nothing is published after it, milliseconds. */
const troubleMs = 5_000;
/** Records at work: they share this process’s thread and one file. */
const atWork = 64;
/** Where several tenants are: fewer at work are less in each other’s way, and get less done (docs/benchmarks.md). */
const shared = { limit: 4, forMs: 5_000, now: () => performance.now(), counts: isKnownTenant };

export interface SqliteBusOptions extends Holder {
  readonly clock: Clock;
  readonly log?: BusLog;
}

/** The log in one SQLite file. Several processes may use the file; a group has one consumer among them. */
export interface SqliteBus extends Bus {
  /** Puts bytes on the log as they are, for producers that bring their own encoding; returns the offset. */
  appendRaw(topic: Topic, key: string, value: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<number>;
  /**
   * Deletes the topic's oldest records, up to the first that the log took at `olderThan` (milliseconds since the
   * epoch) or later; returns how many.
   */
  trim(topic: Topic, olderThan: number): Promise<number>;
  /**
   * Deletes the topic’s oldest records that need not be kept, but none that a group has not finished; returns how
   * many.
   */
  retain(topic: Topic, kept: Kept): Promise<number>;
  /** The other process that consumes as the group now, null if there is none. */
  holderOf(group: string): Promise<LiveHolder | null>;
  identity(): Promise<LogIdentity>;
  /** Frees all leases: for a copy of a log, whose leases are of the original's processes. */
  freeLeases(): Promise<void>;
  /** The offsets of the topic that the group has not finished. */
  unfinished(group: string, topic: Topic): Promise<readonly number[]>;
}

/**
 * Opens the file, or makes it. `instance` names this process in messages, `isAlive` tells of a process of this host
 * whether it lives. Throws Fault('storage') with what to change.
 */
export async function openSqliteBus({
  file,
  ...options
}: SqliteBusOptions & { readonly file: string }): Promise<SqliteBus> {
  const database = await patiently(`The log ${file} cannot be used`, () => openDatabase(file));
  try {
    return await busOn(database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The bus on an open database, which it closes in the end. */
export async function busOn(database: DatabaseSync, options: SqliteBusOptions): Promise<SqliteBus> {
  const store = new Store(database);
  const ids = await store.write('powerLoss', () => topicIds(database));
  return new OpenBus(store, ids, await createCodec(tableRegistry(store)), options);
}

class OpenBus implements SqliteBus {
  private readonly append: Append;
  private readonly commits: Commits;
  private readonly forget: Forget;
  private readonly fetch: Fetch;
  private readonly recent: RecentRecords;
  private readonly tail: Tail;
  private readonly published: GroupAppend;
  private readonly emitted: GroupAppend;
  private readonly wakeups: Wakeups;
  private readonly log: BusLog;
  private readonly consumers = new Map<string, SqliteConsumer | null>();
  private readonly closed = new AbortController();
  private readonly working = new Slots(atWork, shared);
  private readonly emit: (messages: readonly Outgoing[]) => void;

  constructor(
    private readonly store: Store,
    private readonly ids: TopicIds,
    private readonly codec: Codec,
    private readonly options: SqliteBusOptions,
  ) {
    const { database } = store;
    const { clock, log = () => undefined } = options;
    const version = database.prepare('PRAGMA data_version');
    this.log = log;
    this.tail = new Tail(database, ids);
    this.recent = new RecentRecords(codec, clock);
    this.wakeups = new Wakeups(
      () => version.get()?.['data_version'] as number,
      () => this.forgetPast(),
    );
    this.append = appender(database, ids, clock, (record, place) => {
      this.recent.appended(record, place);
      this.tail.appended(place);
    });
    this.forget = forgetter(database, ids);
    this.fetch = fetcher(database, ids, this.tail);
    const appended = () => this.wakeups.notify();
    const heard = [this.recent, this.tail];
    this.commits = new Commits(store, {
      begins: () => heard.forEach((one) => one.begins()),
      committed: () => heard.forEach((one) => one.committed()),
    });
    this.published = new GroupAppend(this.commits, this.append, 'powerLoss', appended);
    this.emitted = new GroupAppend(this.commits, this.append, 'processLoss', appended);
    this.emit = emitter(codec, this.emitted, log);
  }

  async publish(messages: readonly Outgoing[]): Promise<void> {
    this.assertOpen();
    let encoded: readonly Encoded[];
    try {
      encoded = encodeAll(this.codec, messages);
    } catch (error) {
      if (error instanceof OutputRefused) throw new Fault('invalid_request', error.message, false, { cause: error });
      throw error;
    }
    if (encoded.length > 0) await this.published.add(encoded);
  }

  durable(): Promise<void> {
    return this.store.flush();
  }

  async appendRaw(topic: Topic, key: string, value: Uint8Array, headers = {}): Promise<number> {
    this.assertOpen();
    const [offset] = await this.published.add([{ topic, key, value, headers }]);
    return offset as number;
  }

  async subscribe(subscription: Subscription): Promise<Consumer> {
    this.assertOpen();
    const { group, topics } = subscription;
    if (this.consumers.has(group)) {
      throw new Error(
        `The group ${group} has a consumer in this process already. Stop it first, or use another group.`,
      );
    }
    this.consumers.set(group, null);
    try {
      const { database } = this.store;
      const { lease, progress } = await this.store.write('processLoss', () => ({
        lease: acquireLease(database, group, this.options, this.options.clock),
        progress: loadProgress(database, this.ids, group, topics),
      }));
      const consumer = new SqliteConsumer({
        subscription,
        store: this.store,
        commits: this.commits,
        fetch: this.fetch,
        recent: this.recent,
        append: this.append,
        forget: this.forget,
        codec: this.codec,
        clock: this.options.clock,
        log: this.log,
        wakeups: this.wakeups,
        lease,
        progress,
        working: this.working,
        emit: this.emit,
        ended: () => this.consumers.delete(group),
      });
      this.consumers.set(group, consumer);
      return consumer;
    } catch (error) {
      this.consumers.delete(group);
      throw error;
    }
  }

  read<T extends Topic>(topics: readonly T[], options: ReadOptions): AsyncIterable<Incoming<T>> {
    this.assertOpen();
    try {
      return readLog(topics, options, {
        fetch: this.fetch,
        recent: this.recent,
        codec: this.codec,
        wakeups: this.wakeups,
        closed: this.closed.signal,
      });
    } catch (error) {
      throw storageFault('The log could not be read', error);
    }
  }

  async decode<T extends Topic>(topic: T, value: Uint8Array): Promise<RecordOf<T>> {
    return this.codec.decode(topic, value);
  }

  async trim(topic: Topic, olderThan: number): Promise<number> {
    this.assertOpen();
    return this.removing(trimTopic(this.store, this.ids.get(topic) as number, olderThan));
  }

  async retain(topic: Topic, kept: Kept): Promise<number> {
    this.assertOpen();
    return this.removing(retain(this.store, this.ids.get(topic) as number, kept));
  }

  /** What is no longer on the log is read from nowhere. */
  private async removing(deleted: Promise<number>): Promise<number> {
    try {
      return await deleted;
    } finally {
      this.forgetPast();
    }
  }

  /** What is known of the log may no longer be so. */
  private forgetPast(): void {
    this.recent.clear();
    this.tail.changed();
  }

  async holderOf(group: string): Promise<LiveHolder | null> {
    this.assertOpen();
    return patiently('The log could not be read', () =>
      liveHolder(this.store.database, group, this.options, this.options.clock),
    );
  }

  async identity(): Promise<LogIdentity> {
    this.assertOpen();
    return patiently('The log could not be read', () => ({
      id: this.store.database.prepare('SELECT id FROM identity').get()?.['id'] as string,
      used: writtenByServices.some((topic) => this.fetch.endOf(topic) > 0),
    }));
  }

  async freeLeases(): Promise<void> {
    this.assertOpen();
    await this.store.write('powerLoss', () => freeLeases(this.store.database));
  }

  async unfinished(group: string, topic: Topic): Promise<readonly number[]> {
    this.assertOpen();
    return patiently('The log could not be read', () => {
      const position = positionOf(this.store.database, this.ids.get(topic) as number, group);
      const end = this.fetch.endOf(topic);
      const found: number[] = [];
      for (let at = position.unfinishedFrom(0); at < end; at = position.unfinishedFrom(at + 1)) found.push(at);
      return found;
    });
  }

  async groupLag(group: string, topics: readonly Topic[]): Promise<readonly PartitionLag[]> {
    this.assertOpen();
    return patiently('The log could not be read', () =>
      topics.map((topic) => {
        const position = positionOf(this.store.database, this.ids.get(topic) as number, group);
        return { topic, partition: 0, records: position.unfinishedBelow(this.fetch.endOf(topic)) };
      }),
    );
  }

  get checks(): Bus['checks'] {
    return { log: () => this.checkFile() };
  }

  async check(): Promise<void> {
    await this.checkFile();
    const stuck = [...this.consumers.values()]
      .map((consumer) => consumer?.trouble)
      .find((reason) => reason !== undefined);
    if (stuck !== undefined) throw new Fault('storage', stuck, true);
  }

  /** It can be read, and what was published last did not fail. */
  private async checkFile(): Promise<void> {
    this.assertOpen();
    await patiently('The log could not be read', () => this.fetch.end());
    const failed = this.published.trouble;
    if (failed !== undefined && performance.now() - failed.at < troubleMs)
      throw new Fault('storage', failed.reason, true);
  }

  async close(): Promise<void> {
    if (this.closed.signal.aborted) return;
    this.closed.abort();
    await Promise.all([...this.consumers.values()].map(async (consumer) => consumer?.stop(0)));
    await this.published.idle();
    await this.emitted.idle();
    await this.commits.idle();
    this.recent.clear();
    // The last connection to close takes the write-ahead log into the file.
    await this.store.close();
  }

  private assertOpen(): void {
    if (this.closed.signal.aborted) throw new Fault('storage', 'The log was closed by this process.', false);
  }
}
