import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '@sluice/core';
import type { BusLog, ConsumerObserver } from '../port.js';
import { runAfterCommit } from '../processing/after-commit.js';
import type { Finished } from '../processing/handling.js';
import type { Position } from '../processing/position.js';
import { backOff, pause } from '../processing/retry.js';
import { EarlyOffset } from './early-offset.js';
import { isConcurrent, isPassing } from './failure.js';
import { encodeCarried, encodeFinished } from './finished-set.js';
import type { Range } from './finished-set.js';
import type { Names } from './names.js';
import { produceBatchesOf, sizeOf } from './produce-batches.js';
import type { OffsetCommit } from './producing/requests.js';
import type { TransactionalProducer } from './producing/transactional-producer.js';
import type { TransactionSlots } from './transaction-slots.js';

/** Output bytes of one transaction, unless a single record’s outputs have more. */
const transactionBytes = 512 * 1024;
/** How long what leaves nothing but an offset waits for a transaction to go with, milliseconds. */
const idleMs = 1_000;
/** So many records that leave nothing wait for it at most. */
const silentAtOnce = 64;
const concurrentWaitMs = 2;
/** The markers of a transaction take milliseconds; after so many waits it is told that something is wrong. */
const unusualWaits = 1_000;
const brokerRetry = { initialMs: 50, maxMs: 2_000 };

/** A finished record with the part of the log it accounts for: itself and the control records up to `past`. */
interface Done {
  readonly finished: Finished;
  readonly past: number;
  /** Of its outputs. */
  readonly bytes: number;
}

export interface CommitsOptions {
  readonly producer: TransactionalProducer;
  readonly transactions: TransactionSlots;
  readonly position: Position;
  /** What the partition carries so far. */
  readonly carried: string;
  readonly names: Names;
  readonly group: string;
  /** Names on the broker. */
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly log: BusLog;
  readonly observer: ConsumerObserver | undefined;
  readonly explain: (error: unknown) => Fault;
  readonly committed: (records: number) => void;
  /** The transaction failed or nobody knows how it ended: nothing of what is held may be sent again (point 6). */
  readonly lost: (error: unknown) => void;
}

/**
 * Puts the finished records of one partition on the log: outputs of many and the offset in one transaction (DESIGN,
 * ideas 1, 3, 6). It runs as soon as something is finished, it is not running and there is room for one more transaction, in the order in
 * which things finished. A record that leaves nothing waits a moment for one that does: to pass over it once more costs nothing.
 */
export class Commits {
  readonly #queue: Done[] = [];
  readonly #dropped = new AbortController();
  readonly #early: EarlyOffset;
  #running: Promise<void> | undefined;
  #wanted = false;
  #committed: number;
  #carried: string;
  #idle: NodeJS.Timeout | undefined;
  #trouble: string | undefined;
  #waitingBytes = 0;
  /** When the transaction under way, or the last one, began. */
  #began = performance.now();

  constructor(private readonly options: CommitsOptions) {
    const { producer, position, lost } = options;
    const failed = (error: unknown): void => {
      if (!this.#dropped.signal.aborted) lost(error);
    };
    this.#early = new EarlyOffset({ producer, failed });
    this.#committed = position.prefix;
    this.#carried = options.carried;
  }

  /** Why nothing can be committed now, though it goes on trying. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Output bytes that are finished and not yet on their way. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** A record is being handled that is the only one, up to `past`, and will soon leave something: its transaction begins meanwhile. */
  expect(past: number): void {
    if (this.#dropped.signal.aborted || this.#running !== undefined || this.#queue.length > 0) return;
    const { producer, transactions } = this.options;
    if (producer.hasEpochs && transactions.isIdle) this.#early.begin(this.#offsetAt(past, []));
  }

  /** A record is finished, and what of the log follows it, up to `past`, is no record. */
  add(finished: Finished, past: number): void {
    if (this.#dropped.signal.aborted) return;
    const bytes = finished.outputs.reduce((sum, output) => sum + sizeOf(output), 0);
    const mayWait = this.#isSilent(finished) && this.#queue.length < silentAtOnce;
    this.#queue.push({ finished, past, bytes });
    this.#waitingBytes += bytes;
    if (mayWait) this.#soon();
    else this.#start();
  }

  /** Commits what is finished now, whatever it is. */
  hurry(): void {
    if (this.#queue.length > 0) this.#start();
  }

  /** Commits where it stands even if nothing is new: it fails if somebody else has taken the partition over. */
  prove(): void {
    this.#wanted = true;
    this.#start();
  }

  /** The position moved over what is no record: that is committed too, soon, else the group would seem to lag for ever. */
  moved(): void {
    if (this.options.position.prefix !== this.#committed) this.#soon();
  }

  /** Resolves when all that is finished is on the log, or the broker fails and so cannot be waited for. */
  async settle(): Promise<void> {
    if (this.#isBehind) this.prove();
    while (this.#running !== undefined && this.#trouble === undefined && !this.#dropped.signal.aborted) {
      await Promise.race([this.#running, pause(10, this.#dropped.signal)]);
    }
  }

  /** Resolves when no transaction is under way any more, however it ended. */
  async over(): Promise<void> {
    await this.#running;
    await this.#early.drop();
  }

  /** Forgets what is not being committed: it is repeated by the next owner. */
  drop(): void {
    this.#dropped.abort();
    clearTimeout(this.#idle);
    this.#queue.length = 0;
  }

  get #isBehind(): boolean {
    return this.#queue.length > 0 || this.options.position.prefix !== this.#committed;
  }

  #isSilent({ outputs, afterCommit, carried }: Finished): boolean {
    const before = this.#queue.at(-1)?.finished.carried ?? this.#carried;
    return outputs.length === 0 && afterCommit.length === 0 && carried === before;
  }

  #soon(): void {
    this.#idle ??= setTimeout(() => {
      this.#idle = undefined;
      if (this.#isBehind) this.prove();
    }, idleMs);
  }

  #start(): void {
    if (!this.#dropped.signal.aborted) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#queue.length > 0 || this.#wanted) {
        // What finishes in the same turn of the event loop goes together.
        await new Promise(setImmediate);
        await this.options.transactions.run(() => this.#commit(this.#take()), this.#dropped.signal);
        if (this.#dropped.signal.aborted) return;
      }
    } catch (error) {
      this.options.observer?.transaction(false, performance.now() - this.#began);
      if (!this.#dropped.signal.aborted) this.options.lost(error);
    } finally {
      this.#running = undefined;
    }
  }

  async #commit(batch: readonly Done[]): Promise<void> {
    const { producer, position, names, group, log, committed } = this.options;
    for (const { finished, past } of batch) position.finish(finished.offset, past);
    // Of what waited some is on its way: there is room to go on meanwhile.
    committed(0);
    this.#carried = batch.at(-1)?.finished.carried ?? this.#carried;
    this.#wanted = false;
    const prefix = position.prefix;
    this.#began = performance.now();
    const offset = this.#offsetAt(prefix, position.ranges);
    if (!(await this.#early.take(offset))) await this.#sendOffset(offset);
    const outputs = batch.flatMap(({ finished }) => finished.outputs);
    await producer.send(produceBatchesOf(outputs, names));
    await producer.commit();
    this.options.observer?.transaction(true, performance.now() - this.#began);
    position.saved();
    this.#committed = prefix;
    this.#trouble = undefined;
    const records = batch.map(({ finished }) => finished);
    if (!this.#dropped.signal.aborted) {
      committed(batch.length);
      this.moved();
    }
    runAfterCommit(records, group, log);
  }

  #offsetAt(offset: number, ranges: readonly Range[]): OffsetCommit {
    const { groupId, topic, partition } = this.options;
    return {
      groupId,
      topic,
      partition,
      offset,
      metadata: encodeFinished(offset, ranges) + encodeCarried(this.#carried),
    };
  }

  /**
   * The offset goes first: what is in the way (the markers of the transaction before, a broker that is away) is mostly met
   * here, where the request can be sent again as it is for as long as it takes.
   */
  async #sendOffset(offset: OffsetCommit): Promise<void> {
    for (let attempt = 1, waits = 1; ;) {
      try {
        await this.options.producer.sendOffset(offset);
        return;
      } catch (error) {
        if (this.#dropped.signal.aborted) throw error;
        if (isConcurrent(error)) {
          if (waits++ % unusualWaits === 0) this.#report(error);
          await delay(concurrentWaitMs);
          continue;
        }
        if (!isPassing(error)) throw error;
        this.#report(error);
        if (!(await pause(backOff(attempt++, brokerRetry), this.#dropped.signal))) throw error;
      }
    }
  }

  #report(error: unknown): void {
    const { message } = this.options.explain(error);
    if (this.#trouble === undefined) {
      this.options.log('warn', `${message} Finished work is kept and tried again.`, { group: this.options.group });
    }
    this.#trouble = message;
  }

  /** The oldest ones, up to the transaction’s size; at least one if there is one. */
  #take(): readonly Done[] {
    let bytes = 0;
    let count = 0;
    for (const { bytes: more } of this.#queue) {
      if (count > 0 && bytes + more > transactionBytes) break;
      bytes += more;
      count++;
    }
    this.#waitingBytes -= bytes;
    return this.#queue.splice(0, count);
  }
}
