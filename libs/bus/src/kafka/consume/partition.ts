import type { Topic } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import type { KafkaMessage } from 'kafkajs';
import { backOff, pause } from '../../processing/retry.js';
import { isStale, within } from '../kafkajs/failure.js';
import type { Ownership } from './acquire.js';
import { Tenure } from './partition-owner.js';
import type { TenureOptions } from './partition-owner.js';

const retry = { initialMs: 100, maxMs: 10_000 };
/** A tenure that lasted so long was a success: the next loss is not held against it, milliseconds. */
const steadyMs = 30_000;
/** How long the broker may take to say where the log begins and ends, and how long it is let be before it is asked again, milliseconds. */
const boundsMs = 2_000;
const againMs = 100;

/** What the partition does to kafkajs’s consumer. */
export interface Steering {
  seek(offset: number): void;
  pause(): void;
  resume(): void;
}

export interface PartitionOptions extends Omit<TenureOptions, keyof Ownership | 'lost' | 'steer'> {
  readonly takeOver: () => Promise<Ownership>;
  /** Where the log begins and ends. */
  readonly bounds: () => Promise<{ readonly beginning: number; readonly end: number }>;
  readonly steering: Steering;
  /** Resolves with the next sign that the group still counts this consumer among its members. */
  readonly isMember: () => Promise<void>;
  readonly explain: (error: unknown) => Fault;
}

/** A partition that the group gave this consumer: taken over, worked on, lost and taken over again until it is given to another one. */
export class Partition {
  readonly #closed = new AbortController();
  readonly #working: Promise<void>;
  #tenure: Tenure | undefined;
  #paused = true;
  #trouble: string | undefined;
  #losses = 0;
  #lost: (error: unknown) => void = () => undefined;

  /** kafkajs’s consumer must have this partition paused. */
  constructor(private readonly options: PartitionOptions) {
    this.#working = this.#work().catch(options.failed);
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
    return this.#tenure?.trouble ?? this.#trouble;
  }

  get tenure(): Tenure | undefined {
    return this.#tenure;
  }

  /** False if these records are not wanted now: kafkajs is to read them again when it is told from where. */
  receive(messages: readonly KafkaMessage[], last: number): boolean {
    if (this.#tenure === undefined) return false;
    this.#tenure.receive(messages, last);
    this.#steer();
    return true;
  }

  passed(first: number, last: number): void {
    this.#tenure?.passed(first, last);
  }

  /** The log has nothing where it was to be read: retention was faster, it was cut back, or its leader is behind. */
  async outOfRange(): Promise<void> {
    const tenure = this.#tenure;
    if (tenure === undefined) return;
    try {
      const late = (): Error => new Error(`The broker has not said for ${boundsMs} ms where the log ends.`);
      const { beginning, end } = await within(boundsMs, late, this.options.bounds());
      if (tenure !== this.#tenure) return;
      if (end < tenure.cursor) {
        // What is in work may be on the log no more, and what comes instead would be taken for finished: the takeover says how it stands.
        this.stopReading();
        this.#lost(new Fault('storage', `Its log ends at ${end}, and was read up to ${tenure.cursor}.`, true));
        return;
      }
      this.options.steering.seek(Math.max(beginning, tenure.cursor));
    } catch (error) {
      if (!this.#closed.signal.aborted) this.options.log('warn', this.options.explain(error).message, this.#place);
    }
    await pause(againMs, this.#closed.signal);
  }

  /**
   * After a rebalance it is still here, and nobody else had it in between: its lanes are kept (point 5). kafkajs has forgotten how far it read and,
   * after a crash, what was paused.
   */
  retained(): void {
    this.#paused = true;
    this.options.steering.pause();
    if (this.#tenure === undefined) return;
    this.options.steering.seek(this.#tenure.cursor);
    this.#steer();
  }

  /** Reads nothing more. */
  stopReading(): void {
    this.#paused = true;
    this.options.steering.pause();
  }

  /** Gives it up; what was not committed is repeated by the next owner. Resolves when no takeover is under way any more. */
  async close(why: string): Promise<void> {
    this.#closed.abort();
    this.#lost(this.#closed.signal.reason);
    await Promise.all([this.#drop(why), this.#working]);
  }

  async #work(): Promise<void> {
    for (;;) {
      const ownership = await this.#takeOver();
      if (ownership === undefined) return;
      const began = performance.now();
      const error = await this.#hold(ownership);
      if (this.#closed.signal.aborted) return;
      await this.#drop('The partition was lost; this record is repeated by whoever has it next.');
      this.options.steering.pause();
      this.#paused = true;
      if (performance.now() - began > steadyMs) this.#losses = 0;
      this.#report(error);
      // One that the group has forgotten must not end what the owner that it has now has under way (point 6).
      if (!(await this.#orClosed(this.options.isMember()))) return;
      if (!(await pause(backOff(++this.#losses, retry), this.#closed.signal))) return;
    }
  }

  /** Works until the ownership is lost; resolves with why. */
  #hold(ownership: Ownership): Promise<unknown> {
    return new Promise((lost) => {
      const { steering } = this.options;
      this.#lost = lost;
      this.#tenure = new Tenure({ ...this.options, ...ownership, lost, steer: () => this.#steer() });
      steering.seek(this.#tenure.cursor);
      this.#steer();
    });
  }

  async #takeOver(): Promise<Ownership | undefined> {
    for (let attempt = 1; !this.#closed.signal.aborted; attempt++) {
      try {
        const ownership = await this.options.takeOver();
        this.#trouble = undefined;
        if (!this.#closed.signal.aborted) return ownership;
      } catch (error) {
        if (this.#closed.signal.aborted) return undefined;
        // The group gives out its partitions anew, and will say whose this one is; until then it may be somebody else’s (point 6).
        if (!isStale(error)) this.#report(error);
        else if (!(await this.#orClosed(this.options.isMember()))) return undefined;
        if (!(await pause(backOff(attempt, retry), this.#closed.signal))) return undefined;
      }
    }
    return undefined;
  }

  /** Pauses and resumes by how much was read ahead (point 10). */
  #steer(): void {
    const { steering, handling } = this.options;
    const wanted = this.#tenure === undefined || this.#tenure.congested || handling.stopping.aborted;
    if (wanted === this.#paused) return;
    this.#paused = wanted;
    if (wanted) steering.pause();
    else steering.resume();
  }

  async #drop(why: string): Promise<void> {
    const tenure = this.#tenure;
    this.#tenure = undefined;
    tenure?.end(why);
    // What is under way may yet be on the log: only then is it read how far it came.
    await tenure?.commits.over();
  }

  async #orClosed(sign: Promise<void>): Promise<boolean> {
    const { signal } = this.#closed;
    const closed = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    if (!signal.aborted) await Promise.race([sign, closed]);
    return !signal.aborted;
  }

  #report(error: unknown): void {
    const { log, explain } = this.options;
    const { message, retryable } = explain(error);
    if (retryable) log('warn', `The partition is taken over anew. ${message}`, this.#place);
    else log('error', `The partition waits. ${message}`, this.#place);
    this.#trouble = message;
  }

  get #place() {
    const { group, topic, partition } = this.options;
    return { group, topic, partition };
  }
}
