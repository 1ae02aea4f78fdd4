import { Fault } from '@sluice/core';
import type { Codec, Topic } from '@sluice/contracts';
import type { KafkaMessage } from 'kafkajs';
import { keepsPartitionOrder, laneOf } from '../../processing/carrying.js';
import { Gate } from '../../processing/gate.js';
import { handleRecord } from '../../processing/handling.js';
import type { HandlingOptions } from '../../processing/handling.js';
import { Lanes } from '../../processing/lanes.js';
import type { Position } from '../../processing/position.js';
import type { BusLog } from '../../port.js';
import { backOff, pause } from '../../processing/retry.js';
import { Revocation } from '../../processing/revocation.js';
import type { Slots } from '../../processing/slots.js';
import { openStored } from '../../processing/stored.js';
import type { Opened, Stored } from '../../processing/stored.js';
import { Commits } from '../commit/commits.js';
import type { CommitsOptions } from '../commit/commits.js';
import { isWithinLimit, reservedForCarried } from '../commit/finished-set.js';
import type { Range } from '../commit/finished-set.js';
import { FifoQueue } from './fifo-queue.js';
import type { HeldBytes } from './held-bytes.js';
import { storedOf } from '../read/stored-message.js';

/** Payload bytes that were read and wait to be looked at; beyond it the partition pauses. */
const maxReadAhead = 512 * 1024;
/** Output bytes that wait for their transaction; beyond it nothing more is looked at. */
const maxFinishedBytes = 512 * 1024;
/** Records that may wait for their tenant’s turn before nothing more is looked at. */
const maxWaiting = 1_000;
/** Records looked at before the event loop goes round. */
const batchRecords = 256;
/** A record whose predecessor took no longer, and left something, is expected to do so too; milliseconds. */
const quickMs = 20;
const registryRetry = { initialMs: 100, maxMs: 5_000 };

/** A record that is taken, and where the next one begins. */
interface Taken {
  readonly stored: Stored;
  past: number;
}

interface Work extends Taken {
  readonly opened: Opened;
}

export interface PartitionOwnerOptions extends Omit<CommitsOptions, 'committed'> {
  readonly position: Position;
  readonly source: Topic;
  readonly group: string;
  readonly log: BusLog;
  readonly codec: Codec;
  readonly slots: Slots;
  /** What is in work, or waits behind others of its session; without room there nothing more is looked at. */
  readonly held: HeldBytes;
  readonly handling: HandlingOptions;
  /** Whether the partition should be paused may have changed. */
  readonly steer: () => void;
  /** An unforeseen error, which acquiring the partition again would not mend. */
  readonly failed: (error: unknown) => void;
}

/**
 * Owns an assigned partition from its acquisition to its loss. Records come in, wait in their session’s lane, are
 * handled and committed. When ownership ends, uncommitted work is dropped (README, points 5, 6, 7, 10).
 */
export class PartitionOwner {
  readonly commits: Commits;
  private readonly position: Position;
  private readonly lanes = new Lanes<Work>();
  private readonly read = new FifoQueue<Taken>();
  /** Where no record is, and which the offset’s metadata has no room for yet. */
  private readonly gaps: Range[] = [];
  private readonly arrived = new Gate();
  private readonly room = new Gate();
  private readonly revocations = new Set<Revocation>();
  /** Loops that run: the one that takes, and one for each lane that has work. */
  private running = 0;
  private tellIdle: () => void = () => undefined;
  private readonly _idle = new Promise<void>((resolve) => (this.tellIdle = resolve));
  private readonly ended = new AbortController();
  private readonly stopping: AbortSignal;
  private _cursor: number;
  /** What the record that finished last left; only one at a time is in work where that means anything. */
  private carried: string;
  /** Bytes of the offset’s metadata that the finished set cannot have. */
  private readonly reserved: number;
  private readBytes = 0;
  private heldBytes = 0;
  /** Taken and not committed. */
  private unfinished = 0;
  /** Of those, the ones that are being handled, by their tenants: each holds a slot. */
  private readonly slots = new Map<string, number>();
  /** Lanes whose first record waits for its tenant’s turn. */
  private beginning = 0;
  private _trouble: string | undefined;
  /** The record that finished last was quick and left something. */
  private isQuick = false;

  constructor(private readonly options: PartitionOwnerOptions) {
    const { position, carried, handling } = options;
    this.position = position;
    this.carried = carried;
    this.reserved = keepsPartitionOrder(handling.subscription) ? reservedForCarried : 0;
    this._cursor = position.prefix;
    this.stopping = AbortSignal.any([handling.stopping, this.ended.signal]);
    this.stopping.addEventListener('abort', this.arrived.open);
    this.stopping.addEventListener('abort', this.room.open);
    this.commits = new Commits({ ...options, committed: (records) => this.committed(records) });
    const { taken } = handling.subscription;
    if (keepsPartitionOrder(handling.subscription))
      taken?.({ topic: options.source, partition: options.partition }, carried);
    this.keep(this.take());
  }

  /** The offset from which on nothing was read yet. */
  get cursor(): number {
    return this._cursor;
  }

  /** How many records below `end` are not finished. */
  unfinishedBelow(end: number): number {
    return this.position.unfinishedBelow(end);
  }

  get congested(): boolean {
    return this.readBytes > maxReadAhead;
  }

  get trouble(): string | undefined {
    return this.commits.trouble ?? this._trouble;
  }

  /** What was read: everything from the cursor up to and including `last`, of which `messages` are records. */
  receive(messages: readonly KafkaMessage[], last: number): void {
    const { source, partition, handling } = this.options;
    // Records delivered again after a rebalance are here already (README, point 5).
    const fresh = messages.filter(({ offset }) => Number(offset) >= this._cursor);
    if (last < this._cursor) return;
    this.pass(Number(fresh[0]?.offset ?? last + 1));
    fresh.forEach((message, index) => {
      const stored = storedOf(source, partition, message, handling.clock);
      // Control records follow the records they end and finish with the record before them (README, point 7).
      const past = Number(fresh[index + 1]?.offset ?? last + 1);
      if (this.position.unfinishedFrom(stored.offset) === stored.offset) {
        this.read.push({ stored, past });
        this.readBytes += stored.value.byteLength;
      } else this.pastGap(stored.offset, past);
    });
    this._cursor = last + 1;
    this.commits.moved();
    this.arrived.open();
  }

  /** Nothing but control records and aborted ones stands from `first` to `last`. */
  passed(first: number, last: number): void {
    if (first <= this._cursor) this.receive([], last);
  }

  /** Resolves when no handler runs any more; nothing new is begun once `stopping` has aborted. */
  idle(): Promise<void> {
    return this._idle;
  }

  /** Ends the ownership: handlers’ signals abort, and what they return is ignored. */
  end(why: string): void {
    if (this.ended.signal.aborted) return;
    this.ended.abort();
    this.commits.drop();
    for (const revocation of this.revocations) revocation.revoke(new Error(why));
    this.read.clear();
    const { slots, held } = this.options;
    for (const [tenant, count] of this.slots) for (let n = 0; n < count; n++) slots.free(tenant);
    this.slots.clear();
    held.forget(this.room.open);
    held.release(this.heldBytes);
  }

  /**
   * Merges a gap into the preceding queued record: a separate range would use up offset-metadata space (README, point
   * 9).
   */
  private pass(past: number): void {
    if (past <= this._cursor) return;
    const before = this.read.last;
    if (before === undefined) this.pastGap(this._cursor, past);
    else before.past = past;
  }

  /** Marks offsets without a record as finished, at once or when the offset’s metadata has room (README, point 9). */
  private pastGap(first: number, past: number): void {
    this.gaps.push({ first, past });
    this.passGaps();
  }

  private passGaps(): void {
    for (let gap = this.gaps[0]; gap !== undefined && this.fits(gap.past, this.unfinished); gap = this.gaps[0]) {
      this.position.finish(gap.first, gap.past);
      this.gaps.shift();
    }
  }

  /** Takes what was read, in order, and puts each record in its session’s lane. */
  private async take(): Promise<void> {
    for (let count = 1; !this.stopping.aborted; count++) {
      const taken = this.read.first;
      if (taken === undefined) {
        await this.arrived.wait();
        continue;
      }
      if (this.beginning >= maxWaiting) {
        await this.room.wait();
        continue;
      }
      if (!this.hasRoomFor(taken)) {
        this.commits.hurry();
        await this.room.wait();
        continue;
      }
      const { past } = taken;
      const opening = this.open(taken);
      const opened = opening instanceof Promise ? await opening : opening;
      if (opened === null || this.stopping.aborted) return;
      this.read.shift();
      this.readBytes -= taken.stored.value.byteLength;
      this.hold(taken.stored);
      this.unfinished++;
      this.options.steer();
      const work = { stored: taken.stored, past, opened };
      // There was room for what it had before it was opened.
      if (taken.past > past) this.pastGap(past, taken.past);
      if (this.lanes.enter(this.laneOf(work), work)) {
        // What comes behind it may be another tenant’s, whose turn is sooner.
        this.keep(this.begin(work));
      }
      if (count % batchRecords === 0) await new Promise(setImmediate);
    }
  }

  /**
   * The offset’s metadata must fit whichever record finishes first (README, point 9), and memory for what waits
   * before and after.
   */
  private hasRoomFor({ past }: Taken): boolean {
    const isWritten = this.commits.waitingBytes <= maxFinishedBytes;
    return isWritten && this.fits(past, this.unfinished + 1) && this.mayHoldMore();
  }

  private fits(past: number, unfinished: number): boolean {
    const span = Math.max(past, this.position.end) - this.position.prefix;
    return isWithinLimit(span, unfinished, this.reserved);
  }

  private mayHoldMore(): boolean {
    const { held } = this.options;
    if (held.hasRoom(this.heldBytes)) return true;
    held.whenThereIsRoom(this.room.open);
    return false;
  }

  private hold({ value }: Stored): void {
    this.heldBytes += value.byteLength;
    this.options.held.take(value.byteLength);
  }

  private release({ value }: Stored): void {
    this.heldBytes -= value.byteLength;
    this.options.held.release(value.byteLength);
  }

  private laneOf({ opened, stored }: Work): string {
    return laneOf(opened.session, stored, this.options.handling.subscription);
  }

  private async begin(work: Work): Promise<void> {
    this.beginning++;
    const granted = this.slot(work);
    const begins = granted instanceof Promise ? await granted : granted;
    this.beginning--;
    this.room.open();
    if (begins) await this.runLane(work);
  }

  /** One lane’s records, one after another in its tenant’s turn, until none waits. */
  private async runLane(first: Work): Promise<void> {
    const { handling, slots } = this.options;
    for (let work = first; ;) {
      const revocation = new Revocation();
      this.revocations.add(revocation);
      const began = performance.now();
      if (this.isQuick && this.isAlone(work)) this.commits.expect(work.past);
      const finished = await handleRecord(work.opened, handling, revocation, this.carried);
      this.revocations.delete(revocation);
      if (finished === null || this.ended.signal.aborted) return;
      this.isQuick = finished.outputs.length > 0 && performance.now() - began < quickMs;
      this.carried = finished.carried;
      this.commits.add(finished, work.past);
      this.release(work.stored);
      this.room.open();
      this.freed(work);
      slots.free(work.opened.tenant);
      const next = this.lanes.next(this.laneOf(work));
      if (next === undefined) return;
      if (!(await this.slot(next))) return;
      work = next;
    }
  }

  /**
   * Whether it is the only record that is claimed, and all before it is finished; unknown for partitions with state.
   */
  private isAlone({ stored }: Work): boolean {
    const { prefix, end } = this.position;
    return this.unfinished === 1 && prefix === stored.offset && end === prefix && this.reserved === 0;
  }

  /** A plain value where a slot is free, as nearly always. */
  private slot({ opened: { tenant } }: Work): boolean | Promise<boolean> {
    const granted = this.options.slots.take(tenant);
    return granted instanceof Promise
      ? granted.then((isGranted) => this.begins(isGranted, tenant))
      : this.begins(granted, tenant);
  }

  private begins(isGranted: boolean, tenant: string): boolean {
    if (!isGranted) return false;
    if (this.ended.signal.aborted) this.options.slots.free(tenant);
    else this.slots.set(tenant, (this.slots.get(tenant) ?? 0) + 1);
    return !this.ended.signal.aborted;
  }

  private freed({ opened: { tenant } }: Work): void {
    const left = (this.slots.get(tenant) ?? 0) - 1;
    if (left > 0) this.slots.set(tenant, left);
    else this.slots.delete(tenant);
  }

  private committed(records: number): void {
    this.unfinished -= records;
    this.passGaps();
    this.room.open();
  }

  /** Opens at once, or asks the registry until it answers; null when nothing new is to be begun. */
  private open({ stored }: Taken): Opened | Promise<Opened | null> {
    const { codec } = this.options;
    try {
      const opening = openStored(codec, stored);
      return opening instanceof Promise ? opening.catch((error: unknown) => this.openLater(stored, error)) : opening;
    } catch (error) {
      return this.openLater(stored, error);
    }
  }

  private async openLater(stored: Stored, first: unknown): Promise<Opened | null> {
    let error = first;
    for (let attempt = 1; ; attempt++) {
      if (!(error instanceof Fault && error.retryable)) throw error;
      this.report(error);
      if (!(await pause(backOff(attempt, registryRetry), this.stopping))) return null;
      try {
        const opened = await openStored(this.options.codec, stored);
        this._trouble = undefined;
        return opened;
      } catch (again) {
        error = again;
      }
    }
  }

  private report({ message }: Fault): void {
    const { log, group, topic, partition } = this.options;
    if (this._trouble === undefined) log('warn', `${message} The partition waits for it.`, { group, topic, partition });
    this._trouble = message;
  }

  private keep(loop: Promise<void>): void {
    this.running++;
    loop.then(this.left, this.broke);
  }

  private readonly left = (): void => {
    // Lanes are opened by the loop that takes, so what is over stays over.
    if (--this.running === 0) this.tellIdle();
  };

  private readonly broke = (error: unknown): void => {
    this.left();
    if (!this.ended.signal.aborted) this.options.failed(error);
  };
}
