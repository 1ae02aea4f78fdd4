import type { Topic } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import type { KafkaMessage } from 'kafkajs';
import { backOff, pause } from '../../processing/retry.js';
import { isStaleGeneration, within } from '../kafkajs/failure.js';
import type { Ownership } from './acquire.js';
import { PartitionOwner } from './partition-owner.js';
import type { PartitionOwnerOptions } from './partition-owner.js';

const retry = { initialMs: 100, maxMs: 10_000 };
/** After owning the partition this long, the back-off for the next loss starts over, milliseconds. */
const steadyMs = 30_000;
/**
 * How long the broker may take to say where the log begins and ends, and how long it is let be before it is asked
 * again, milliseconds.
 */
const boundsMs = 2_000;
const againMs = 100;

/** What the partition does to kafkajs’s consumer. */
interface Steering {
  seek(offset: number): void;
  pause(): void;
  resume(): void;
}

export interface PartitionOptions extends Omit<PartitionOwnerOptions, keyof Ownership | 'lost' | 'steer'> {
  readonly acquire: () => Promise<Ownership>;
  /** Where the log begins and ends. */
  readonly bounds: () => Promise<{ readonly beginning: number; readonly end: number }>;
  readonly steering: Steering;
  /** Resolves with the next sign that the group still counts this consumer among its members. */
  readonly isMember: () => Promise<void>;
  readonly explain: (error: unknown) => Fault;
}

/**
 * An assigned partition: acquired, worked on and, after a failure, acquired again until the group assigns it to
 * another consumer.
 */
export class Partition {
  private readonly closed = new AbortController();
  private readonly working: Promise<void>;
  private _owner: PartitionOwner | undefined;
  private paused = true;
  private _trouble: string | undefined;
  private losses = 0;
  private lost: (error: unknown) => void = () => undefined;

  /** kafkajs’s consumer must have this partition paused. */
  constructor(private readonly options: PartitionOptions) {
    this.working = this.work().catch(options.failed);
  }

  /** The topic, as the wire and as the broker name it, and the number in it. */
  get source(): Topic {
    return this.options.source;
  }

  get topic(): string {
    return this.options.topic;
  }

  get partition(): number {
    return this.options.partition;
  }

  get trouble(): string | undefined {
    return this._owner?.trouble ?? this._trouble;
  }

  get owner(): PartitionOwner | undefined {
    return this._owner;
  }

  /** False if these records are not wanted now: kafkajs is to read them again once it knows from where. */
  receive(messages: readonly KafkaMessage[], last: number): boolean {
    if (this._owner === undefined) return false;
    this._owner.receive(messages, last);
    this.steer();
    return true;
  }

  passed(first: number, last: number): void {
    this._owner?.passed(first, last);
  }

  /** The log has nothing where it was to be read: retention was faster, it was cut back, or its leader is behind. */
  async outOfRange(): Promise<void> {
    const owner = this._owner;
    if (owner === undefined) return;
    try {
      const late = (): Error => new Error(`The broker has not said for ${boundsMs} ms where the log ends.`);
      const { beginning, end } = await within(boundsMs, late, this.options.bounds());
      if (owner !== this._owner) return;
      if (end < owner.cursor) {
        // Records in work may have been cut off the log, and new ones would count as finished: acquire the partition
        // again to find out.
        this.stopReading();
        this.lost(new Fault('storage', `Its log ends at ${end}, and was read up to ${owner.cursor}.`, true));
        return;
      }
      this.options.steering.seek(Math.max(beginning, owner.cursor));
    } catch (error) {
      if (!this.closed.signal.aborted) this.options.log('warn', this.options.explain(error).message, this.place);
    }
    await pause(againMs, this.closed.signal);
  }

  /**
   * The partition stays after a rebalance, and no other consumer owned it in between: its lanes are kept (README,
   * point 5). kafkajs has forgotten how far it read and, after a crash, what was paused.
   */
  retained(): void {
    this.paused = true;
    this.options.steering.pause();
    if (this._owner === undefined) return;
    this.options.steering.seek(this._owner.cursor);
    this.steer();
  }

  /** Reads nothing more. */
  stopReading(): void {
    this.paused = true;
    this.options.steering.pause();
  }

  /**
   * Gives the partition up; its next owner repeats uncommitted work. Resolves when no acquisition is under way any
   * more.
   */
  async close(why: string): Promise<void> {
    this.closed.abort();
    this.lost(this.closed.signal.reason);
    await Promise.all([this.drop(why), this.working]);
  }

  private async work(): Promise<void> {
    for (;;) {
      const ownership = await this.acquire();
      if (ownership === undefined) return;
      const began = performance.now();
      const error = await this.hold(ownership);
      if (this.closed.signal.aborted) return;
      await this.drop('The partition was lost; its next owner repeats this record.');
      this.options.steering.pause();
      this.paused = true;
      if (performance.now() - began > steadyMs) this.losses = 0;
      this.report(error);
      // A consumer that is no longer a member must not fence the partition’s present owner (README, point 6).
      if (!(await this.orClosed(this.options.isMember()))) return;
      if (!(await pause(backOff(++this.losses, retry), this.closed.signal))) return;
    }
  }

  /** Works until the ownership is lost; resolves with why. */
  private hold(ownership: Ownership): Promise<unknown> {
    return new Promise((lost) => {
      const { steering } = this.options;
      this.lost = lost;
      this._owner = new PartitionOwner({ ...this.options, ...ownership, lost, steer: () => this.steer() });
      steering.seek(this._owner.cursor);
      this.steer();
    });
  }

  private async acquire(): Promise<Ownership | undefined> {
    for (let attempt = 1; !this.closed.signal.aborted; attempt++) {
      try {
        const ownership = await this.options.acquire();
        this._trouble = undefined;
        if (!this.closed.signal.aborted) return ownership;
      } catch (error) {
        if (this.closed.signal.aborted) return undefined;
        // A rebalance is under way; until it ends, the partition may belong to another consumer (README, point 6).
        if (!isStaleGeneration(error)) this.report(error);
        else if (!(await this.orClosed(this.options.isMember()))) return undefined;
        if (!(await pause(backOff(attempt, retry), this.closed.signal))) return undefined;
      }
    }
    return undefined;
  }

  /** Pauses and resumes by how much was read ahead (README, point 10). */
  private steer(): void {
    const { steering, handling } = this.options;
    const wanted = this._owner === undefined || this._owner.congested || handling.stopping.aborted;
    if (wanted === this.paused) return;
    this.paused = wanted;
    if (wanted) steering.pause();
    else steering.resume();
  }

  private async drop(why: string): Promise<void> {
    const owner = this._owner;
    this._owner = undefined;
    owner?.end(why);
    // A transaction under way may still commit: wait for it before the offset is read.
    await owner?.commits.over();
  }

  private async orClosed(sign: Promise<void>): Promise<boolean> {
    const { signal } = this.closed;
    const closed = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    if (!signal.aborted) await Promise.race([sign, closed]);
    return !signal.aborted;
  }

  private report(error: unknown): void {
    const { log, explain } = this.options;
    const { message, retryable } = explain(error);
    if (retryable) log('warn', `The partition is acquired again. ${message}`, this.place);
    else log('error', `The partition waits. ${message}`, this.place);
    this._trouble = message;
  }

  private get place() {
    const { group, topic, partition } = this.options;
    return { group, topic, partition };
  }
}
