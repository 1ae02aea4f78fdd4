import type { Finished } from '../../processing/handling.js';
import type { Position } from '../../processing/position.js';
import { pause } from '../../processing/retry.js';
import { encodeCarried, encodeFinished, encodeWriter } from './finished-set.js';
import type { Range } from './finished-set.js';
import { sizeOf } from '../../processing/outputs.js';
import type { PartitionOffset } from '../produce/requests.js';

/** How long what leaves nothing but an offset waits for a transaction to go with, milliseconds. */
const idleMs = 1_000;
/** How often it is looked whether all that is finished is on the log, milliseconds. */
const settleMs = 5;
/** So many records that leave nothing wait for it at most. */
const silentAtOnce = 64;

/** A finished record with the part of the log it accounts for: itself and the control records up to `past`. */
export interface Done {
  readonly finished: Finished;
  readonly past: number;
  /** Of its outputs. */
  readonly bytes: number;
}

/** The transactions of the consumer, as one partition sees them. */
export interface SharedTransactions {
  /** The error that the transactions have not got past; undefined if there is none. */
  readonly trouble: string | undefined;
  /** The partition has something to commit. */
  ask(commits: Commits): void;
  /** A record of the partition will soon leave something. */
  expect(commits: Commits, past: number): void;
  /** The partition was dropped: nothing waits for it any more. */
  dropped(): void;
}

export interface CommitsOptions {
  readonly transactions: SharedTransactions;
  /** The name of the consumer’s writer. */
  readonly writer: string;
  readonly position: Position;
  /** What the partition carries so far. */
  readonly carried: string;
  /** The topic’s name on the broker. */
  readonly topic: string;
  readonly partition: number;
  readonly committed: (records: number) => void;
  /** The broker refuses what is in it, and would again: nothing of what is held may be sent again. */
  readonly lost: (error: unknown) => void;
}

/**
 * The finished records of one partition, in the order in which they finished, until a transaction of the consumer
 * takes them along. It is asked for as soon as something is finished. A record that leaves nothing waits a moment for
 * one that does: to pass over it once more costs nothing.
 */
export class Commits {
  private readonly queue: Done[] = [];
  private readonly dropped = new AbortController();
  private isWanted = false;
  /** Of the transaction that has a part of it, and of those that wait for its end. */
  private isUnderWay = false;
  private readonly _waiting: (() => void)[] = [];
  private committed: number;
  private sent: number;
  private carried: string;
  private idle: NodeJS.Timeout | undefined;
  private _waitingBytes = 0;

  constructor(private readonly options: CommitsOptions) {
    this.committed = this.sent = options.position.prefix;
    this.carried = options.carried;
  }

  /** Names on the broker. */
  get topic(): string {
    return this.options.topic;
  }

  get partition(): number {
    return this.options.partition;
  }

  /** Why nothing can be committed now, though it goes on trying. */
  get trouble(): string | undefined {
    return this.options.transactions.trouble;
  }

  /** Records that are finished and not yet on their way. */
  get waiting(): number {
    return this.queue.length;
  }

  /** Output bytes that are finished and not yet on their way. */
  get waitingBytes(): number {
    return this._waitingBytes;
  }

  get isDropped(): boolean {
    return this.dropped.signal.aborted;
  }

  /** Whether a transaction is to take something along. */
  get hasWork(): boolean {
    return this.queue.length > 0 || this.isWanted;
  }

  /**
   * A record is being handled that is the only one, up to `past`, and will soon leave something: its transaction
   * begins meanwhile.
   */
  expect(past: number): void {
    if (!this.isDropped && this.queue.length === 0) this.options.transactions.expect(this, past);
  }

  /** A record is finished, and what of the log follows it, up to `past`, is no record. */
  add(finished: Finished, past: number): void {
    if (this.isDropped) return;
    const bytes = finished.outputs.reduce((sum, output) => sum + sizeOf(output), 0);
    const mayWait = this.isSilent(finished) && this.queue.length < silentAtOnce;
    this.queue.push({ finished, past, bytes });
    this._waitingBytes += bytes;
    if (mayWait) this.soon();
    else this.start();
  }

  /** Commits what is finished now, whatever it is. */
  hurry(): void {
    if (this.queue.length > 0) this.start();
  }

  /** Commits where it stands, even if nothing has finished. */
  flush(): void {
    if (this.isDropped) return;
    this.isWanted = true;
    this.start();
  }

  /**
   * The position moved over what is no record: that is committed too, soon, else the group would seem to lag for
   * ever.
   */
  moved(): void {
    if (this.options.position.prefix !== this.committed) this.soon();
  }

  /** Resolves when all that is finished is on the log, or the broker fails and so cannot be waited for. */
  async settle(): Promise<void> {
    if (this.isBehind) this.flush();
    while ((this.hasWork || this.isUnderWay) && this.trouble === undefined && !this.isDropped) {
      await pause(settleMs, this.dropped.signal);
    }
  }

  /** Resolves when no transaction has a part of it any more, or will be sent again with one. */
  async over(): Promise<void> {
    if (this.isUnderWay) await new Promise<void>((resolve) => this._waiting.push(resolve));
  }

  /** Forgets what is not being committed: it is repeated by the next owner. */
  drop(): void {
    if (this.isDropped) return;
    this.dropped.abort();
    clearTimeout(this.idle);
    this.queue.length = 0;
    this.isWanted = false;
    this.options.transactions.dropped();
  }

  lose(error: unknown): void {
    this.drop();
    this.options.lost(error);
  }

  /**
   * For a transaction: the oldest ones, up to `bytes`; one at least if it must. Undefined if there is nothing to do,
   * or no room.
   */
  take(bytes: number, atLeastOne: boolean): readonly Done[] | undefined {
    if (!this.hasWork || this.isDropped) return undefined;
    let taken = 0;
    let count = 0;
    for (const { bytes: more } of this.queue) {
      if (taken + more > bytes && !(atLeastOne && count === 0)) break;
      taken += more;
      count++;
    }
    if (count === 0 && !this.isWanted) return undefined;
    const { position, committed } = this.options;
    const batch = this.queue.splice(0, count);
    for (const { finished, past } of batch) position.finish(finished.offset, past);
    this.carried = batch.at(-1)?.finished.carried ?? this.carried;
    this._waitingBytes -= taken;
    this.isWanted = false;
    this.isUnderWay = true;
    // Of what waited some is on its way: there is room to go on meanwhile.
    committed(0);
    return batch;
  }

  /** Where it stands, with all that was taken. */
  standing(): PartitionOffset {
    const { prefix, ranges } = this.options.position;
    this.sent = prefix;
    return this.offsetAt(prefix, ranges);
  }

  offsetAt(offset: number, ranges: readonly Range[]): PartitionOffset {
    const { topic, partition, writer } = this.options;
    const metadata = encodeFinished(offset, ranges) + encodeCarried(this.carried) + encodeWriter(writer);
    return { topic, partition, offset, metadata };
  }

  /** The transaction that had `records` of it is over. */
  ended(records: number, isCommitted: boolean): void {
    this.isUnderWay = false;
    for (const resolve of this._waiting.splice(0)) resolve();
    if (!isCommitted) return;
    this.options.position.saved();
    this.committed = this.sent;
    if (this.isDropped) return;
    this.options.committed(records);
    this.moved();
  }

  private get isBehind(): boolean {
    return this.queue.length > 0 || this.options.position.prefix !== this.committed;
  }

  private isSilent({ outputs, afterCommit, carried }: Finished): boolean {
    const before = this.queue.at(-1)?.finished.carried ?? this.carried;
    return outputs.length === 0 && afterCommit.length === 0 && carried === before;
  }

  private soon(): void {
    if (this.isDropped) return;
    this.idle ??= setTimeout(() => {
      this.idle = undefined;
      if (this.isBehind) this.flush();
    }, idleMs);
  }

  private start(): void {
    if (!this.isDropped) this.options.transactions.ask(this);
  }
}
