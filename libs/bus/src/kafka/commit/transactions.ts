import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import type { BusLog, ConsumerObserver } from '../../port.js';
import { runAfterCommit } from '../../processing/after-commit.js';
import { backOff, pause } from '../../processing/retry.js';
import type { Commits, Done, SharedTransactions } from './commits.js';
import { EarlyOffset } from './early-offset.js';
import { isAbortable, isConcurrentTransactions, isFenced, isRetriable, isStaleGeneration } from '../kafkajs/failure.js';
import { decodeWriter } from './finished-set.js';
import { Gathering } from './gathering.js';
import type { GroupOffsets } from './group-offsets.js';
import type { Names } from '../names.js';
import { produceBatchesOf } from '../produce/produce-batches.js';
import type { Member, OffsetCommit, PartitionOffset } from '../produce/requests.js';
import type { TopicLimits } from '../produce/topic-limits.js';
import type { TransactionalProducer } from '../produce/transactional-producer.js';

/** Output bytes of one transaction, unless a single record’s outputs have more. */
const transactionBytes = 2 * 1024 * 1024;
const concurrentWaitMs = 2;
/** The markers of a transaction take milliseconds; after this many waits the delay is reported. */
const unusualWaits = 1_000;
/** How long to wait for the rebalance before the transaction is tried again, milliseconds. */
const staleMs = 2_000;
const brokerRetry = { initialMs: 50, maxMs: 2_000 };

interface TransactionsOptions {
  readonly producer: TransactionalProducer;
  readonly offsets: GroupOffsets;
  readonly names: Names;
  readonly limits: TopicLimits;
  readonly group: string;
  readonly log: BusLog;
  readonly observer: ConsumerObserver | undefined;
  readonly explain: (error: unknown) => Fault;
}

/** What of one partition goes with a transaction. */
interface Part {
  readonly commits: Commits;
  readonly records: readonly Done[];
}

/**
 * Writes the outputs and offsets of finished records, of all the consumer’s partitions, in one transaction after
 * another. A transaction costs three requests or more, whatever its size; records that finish while one is under way
 * go with the next. Offsets carry the member’s generation (KIP-447), so the coordinator refuses those of a member
 * that lost its partitions. A failed transaction is therefore sent again, by a re-initialised producer, for the
 * partitions that are still owned.
 */
export class Transactions implements SharedTransactions {
  private readonly asking = new Set<Commits>();
  private readonly gathering = new Gathering();
  private readonly early: EarlyOffset;
  private readonly closed = new AbortController();
  /** Whose offset went ahead last. */
  private expected: Commits | undefined;
  private running: Promise<void> | undefined;
  private member: Member | undefined;
  /** What the producer left open, or never began, must be ended before the next transaction. */
  private isUnclear = true;
  private wake = new AbortController();
  private _trouble: string | undefined;

  constructor(private readonly options: TransactionsOptions) {
    this.early = new EarlyOffset({ producer: options.producer, failed: () => (this.isUnclear = true) });
  }

  /** Why nothing can be committed now, though it goes on trying. */
  get trouble(): string | undefined {
    return this._trouble;
  }

  /** After a rebalance: revoked partitions are dropped, and no other consumer owned the retained ones in between. */
  joined(member: Member): void {
    this.member = member;
    this._trouble = undefined;
    this.stir();
  }

  /** A partition was dropped: nothing waits for it any more. */
  dropped(): void {
    this.stir();
  }

  /** The partition has something to commit. */
  ask(commits: Commits): void {
    if (this.closed.signal.aborted) return;
    this.asking.add(commits);
    this.gathering.more();
    this.running ??= this.run();
  }

  /**
   * A record of the partition will soon leave something, and nothing else is under way: its transaction begins
   * meanwhile.
   */
  expect(commits: Commits, past: number): void {
    const { producer } = this.options;
    if (this.running !== undefined || this.isUnclear || this.member === undefined || !producer.hasEpochs) return;
    if (this.early.begin(this.commitOf(this.member, [commits.offsetAt(past, [])]))) this.expected = commits;
  }

  /**
   * Resolves when no transaction is under way; every partition was dropped before. What is open is left to the next
   * owner.
   */
  async close(): Promise<void> {
    this.closed.abort();
    this.asking.clear();
    this.stir();
    await this.running;
    await this.early.drop();
  }

  private async run(): Promise<void> {
    while (this.asking.size > 0) {
      // What finishes in the same turn of the event loop goes together.
      await new Promise(setImmediate);
      await this.gathering.rest(() => this.finished);
      const parts = this.take();
      this.gathering.took(parts.reduce((sum, { records }) => sum + records.length, 0));
      if (parts.length > 0) await this.put(parts);
    }
    this.running = undefined;
  }

  /** Records that wait for a transaction. */
  private get finished(): number {
    let records = 0;
    for (const { waiting } of this.asking) records += waiting;
    return records;
  }

  /** Of each partition the oldest, up to the transaction’s size; at least one record if there is one. */
  private take(): readonly Part[] {
    const parts: Part[] = [];
    let room = transactionBytes;
    for (const commits of [...this.asking]) {
      if (room <= 0) break;
      this.asking.delete(commits);
      const taken = commits.take(room, parts.length === 0);
      if (taken !== undefined) {
        parts.push({ commits, records: taken });
        for (const { bytes } of taken) room -= bytes;
      }
      // Behind those that wait.
      if (commits.hasWork) this.asking.add(commits);
    }
    return parts;
  }

  /** Tries until the transaction committed, or none of its partitions is owned any more. */
  private async put(all: readonly Part[]): Promise<void> {
    let refusals = 0;
    for (let attempt = 1; ; attempt++) {
      const cleared = this.isUnclear && !this.closed.signal.aborted ? await this.clear() : undefined;
      const parts = all.filter(({ commits }) => !commits.isDropped);
      const member = this.member;
      if (parts.length === 0 || member === undefined) {
        this._trouble = undefined;
        this.end(all, []);
        return;
      }
      const began = performance.now();
      const error = cleared ?? (await this.attempt(parts, member));
      this.options.observer?.transaction(error === undefined, performance.now() - began);
      if (error === undefined) {
        this._trouble = undefined;
        this.end(all, parts);
        return;
      }
      // What keeps the producer from beginning again is nothing that is in the transaction.
      if (cleared !== undefined || mayPass(error) || this.options.limits.learn(error)) refusals = 0;
      else if (++refusals > 1) return this.refused(all, error);
      await this.wait(error, attempt, member);
    }
  }

  /** If one partition’s content is the cause, the others need not wait for it. */
  private async refused(all: readonly Part[], error: unknown): Promise<void> {
    const [first, ...others] = all;
    if (others.length > 0) {
      for (const part of all) await this.put([part]);
      return;
    }
    // While it is open, no reader sees the committed offset.
    await this.clear();
    this.end(all, []);
    first?.commits.lose(error);
  }

  /** Returns what it failed with; undefined if it is on the log. */
  private async attempt(parts: readonly Part[], member: Member): Promise<unknown> {
    const { producer, names, limits } = this.options;
    const due = this.commitOf(member, this.offsetsOf(parts));
    // Whatever happens from here on, the transaction is open until it has ended.
    this.isUnclear = true;
    try {
      if (!(await this.early.take(due))) await this.sendOffsets(due);
      const outputs = parts.flatMap(({ records }) => records.flatMap(({ finished }) => finished.outputs));
      await producer.send(produceBatchesOf(outputs, names, limits));
    } catch (error) {
      return error;
    }
    try {
      await producer.commit();
      this.isUnclear = false;
      return undefined;
    } catch (error) {
      return (await this.isOnLog(parts, due)) ? undefined : error;
    }
  }

  /**
   * The state of the producer’s last transaction is unknown: initialise the producer again, which aborts what was
   * open. Returns the error if that fails.
   */
  private async clear(): Promise<unknown> {
    try {
      await this.options.producer.connect();
      this.isUnclear = false;
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /**
   * EndTxn got no answer. The committed offset of a partition that this consumer still owns tells whether the
   * transaction committed (README, point 6). Also false if no owned partition is left, since then nothing would be
   * sent again.
   */
  private async isOnLog(parts: readonly Part[], { offsets }: OffsetCommit): Promise<boolean> {
    const sent = offsets.filter((offset) => parts.some((part) => part.records.length > 0 && isOf(offset, part)));
    for (let attempt = 1; ; attempt++) {
      const member = this.member;
      const kept = parts.filter(({ commits }) => !commits.isDropped);
      const owned = sent.filter((offset) => kept.some((part) => isOf(offset, part)));
      if (owned.length === 0) return false;
      try {
        const error = this.isUnclear ? await this.clear() : undefined;
        if (error !== undefined) throw error;
        const isThere = await this.committedOffsetMatches(owned);
        // If a partition was revoked and reassigned meanwhile, its writer id proves nothing: another consumer may
        // have committed in between.
        if (kept.some(({ commits }) => commits.isDropped)) continue;
        if (isThere === undefined) throw new PartitionsGone();
        return isThere;
      } catch (error) {
        await this.wait(error, attempt, member);
      }
    }
  }

  /** Whether the committed offsets are these; undefined if none of the partitions bears this consumer’s writer id. */
  private async committedOffsetMatches(offsets: readonly PartitionOffset[]): Promise<boolean | undefined> {
    for (const sent of offsets) {
      const { offset, metadata } = await this.options.offsets.settled(sent.topic, sent.partition);
      if (decodeWriter(metadata) !== decodeWriter(sent.metadata)) continue;
      return offset === sent.offset && metadata === sent.metadata;
    }
    return undefined;
  }

  /**
   * Includes the offset that was sent early for a partition that has nothing to commit after all: it is set back to
   * the committed one.
   */
  private offsetsOf(parts: readonly Part[]): OffsetCommit['offsets'] {
    const ahead = this.expected;
    this.expected = undefined;
    const all = parts.map(({ commits }) => commits);
    if (ahead !== undefined && !ahead.isDropped && !all.includes(ahead)) all.push(ahead);
    return all.map((commits) => commits.standing());
  }

  private commitOf(member: Member, offsets: OffsetCommit['offsets']): OffsetCommit {
    const { names, group } = this.options;
    return { groupId: names.group(group), member, offsets };
  }

  /** The offsets go first: what is in the way, as the markers of the transaction before, is mostly met here. */
  private async sendOffsets(due: OffsetCommit): Promise<void> {
    for (let waits = 1; ; waits++) {
      try {
        await this.options.producer.sendOffsets(due);
        return;
      } catch (error) {
        if (!isConcurrentTransactions(error) || this.closed.signal.aborted) throw error;
        if (waits % unusualWaits === 0) this.report(error);
        await delay(concurrentWaitMs);
      }
    }
  }

  /**
   * Those that went with the transaction are on the log; the others are forgotten, or have been put on it by
   * themselves.
   */
  private end(all: readonly Part[], committed: readonly Part[]): void {
    const { group, log } = this.options;
    for (const part of all) part.commits.ended(part.records.length, committed.includes(part));
    const finished = committed.flatMap(({ records }) => records.map((done) => done.finished));
    runAfterCommit(finished, group, log);
  }

  /** Waits for what may help: the rebalance after `member`, a broker that comes back, or that the work is dropped. */
  private async wait(error: unknown, attempt: number, member: Member | undefined): Promise<void> {
    if (isStaleGeneration(error) || error instanceof PartitionsGone) {
      if (this.member !== member || !(await pause(staleMs, this.wake.signal))) return;
      // The rebalance takes long: report it.
      this.report(error);
      return;
    }
    if (!isFenced(error)) this.report(error);
    await pause(backOff(attempt, brokerRetry), this.wake.signal);
  }

  /** Ends the wait that is under way, if one is. */
  private stir(): void {
    this.wake.abort();
    this.wake = new AbortController();
  }

  private report(error: unknown): void {
    const { log, group, explain } = this.options;
    const { message } = explain(error);
    if (this._trouble === undefined) log('warn', `${message} Finished work is kept and tried again.`, { group });
    this._trouble = message;
  }
}

/** All partitions of a transaction were reassigned, and this consumer has not seen the rebalance yet. */
class PartitionsGone extends Fault {
  constructor() {
    super(
      'storage',
      'The group has assigned the partitions to another consumer; this consumer has not seen the rebalance yet.',
      true,
    );
  }
}

function isOf({ topic, partition }: PartitionOffset, { commits }: Part): boolean {
  return topic === commits.topic && partition === commits.partition;
}

/** Whether the same transaction may succeed later; else once more at most, from the beginning. */
function mayPass(error: unknown): boolean {
  return (
    isStaleGeneration(error) ||
    isFenced(error) ||
    isConcurrentTransactions(error) ||
    isAbortable(error) ||
    isRetriable(error)
  );
}
