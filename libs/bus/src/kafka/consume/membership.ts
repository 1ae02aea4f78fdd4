import { Fault } from '@sluice/core';
import type { Consumer as KafkaConsumer, EachBatchPayload, Kafka } from 'kafkajs';
import { pause } from '../../processing/retry.js';
import { clientRetry, consumerRetry } from '../kafkajs/clients.js';
import { brokerFault, isRetriable } from '../kafkajs/failure.js';
import { generationOf } from '../kafkajs/generations.js';
import type { Timeouts } from '../options.js';
import { reportingOutOfRange } from '../kafkajs/out-of-range.js';
import type { OutOfRange } from '../kafkajs/out-of-range.js';
import type { Member } from '../produce/requests.js';

/**
 * How long a fetch waits for records, milliseconds. It answers at once when there are some; paused partitions come
 * back after at most so long.
 */
const fetchWaitMs = 100;
/**
 * What a fetch brings of one partition, bytes: what is read waits in memory. It is a little more than the largest
 * batch that the bus writes (produce-batches.ts), since a broker makes an exception for a larger one only for one
 * partition of a fetch.
 */
const fetchBytes = 544 * 1024;
/** How often it is looked whether kafkajs’s loop still lives, in a session timeout. */
const looksInSession = 2;
/**
 * After so many looks without a sign of life in between (three session timeouts), the loop has died without saying
 * so. Looks are counted, not time: a process that stood still itself, or got no processor, has heard nothing and yet
 * knows nothing.
 */
const silentLooks = 3 * looksInSession;

/** Numbers of partitions by their topic. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

interface MembershipOptions {
  readonly client: Kafka;
  readonly brokers: readonly string[];
  /** For what is said. */
  readonly group: string;
  /** Names on the broker. */
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly timeouts: Timeouts;
  /** What crashes after it must not come back. */
  readonly stopping: AbortSignal;
  /** The group gave out its partitions: numbers by topic, and as whom it knows this process now. */
  readonly assigned: (assignment: Assignment, member: Member) => void;
  /**
   * Must not wait for anything: it holds up every partition of the broker, and the heartbeats (README, points 10,
   * 11).
   */
  readonly received: (payload: EachBatchPayload) => void;
  /** A batch that kafkajs keeps to itself, of control records and aborted ones. */
  readonly passed: (topic: string, partition: number, first: number, last: number) => void;
  /** It holds up the broker’s partitions as well, so it must not take long. */
  readonly outOfRange: OutOfRange;
  /** Called once: it goes on by itself no more. */
  readonly died: (fault: Fault) => void;
}

/** Which partition kafkajs is to hear about. */
interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * This process in its group. kafkajs fetches and keeps the membership; where it stops for no good reason, it is
 * started again.
 */
export class Membership {
  private readonly consumer: KafkaConsumer;
  private readonly signs = new Set<() => void>();
  private readonly watch: NodeJS.Timeout;
  private fetching = false;
  private left = false;
  private heardAt = performance.now();
  /** Looks since then. */
  private looks = 0;
  private countedAt = performance.now();
  private _trouble: string | undefined;

  constructor(private readonly options: MembershipOptions) {
    const { client, groupId, timeouts, stopping } = options;
    this.consumer = reportingOutOfRange(client, options.outOfRange).consumer({
      groupId,
      sessionTimeout: timeouts.sessionMs,
      rebalanceTimeout: timeouts.sessionMs,
      heartbeatInterval: Math.ceil(timeouts.sessionMs / 10),
      maxWaitTimeInMs: fetchWaitMs,
      maxBytesPerPartition: fetchBytes,
      readUncommitted: false,
      allowAutoTopicCreation: false,
      retry: { ...consumerRetry, restartOnFailure: () => Promise.resolve(!stopping.aborted) },
    });
    this.watch = setInterval(() => this.watchLoop(), timeouts.sessionMs / looksInSession);
    stopping.addEventListener('abort', () => clearInterval(this.watch), { once: true });
  }

  /** Since the group last counted on this process, milliseconds. */
  get heartbeatAgeMs(): number {
    return performance.now() - this.countedAt;
  }

  /** Why it cannot go on now, though it goes on trying. */
  get trouble(): string | undefined {
    const { group, timeouts } = this.options;
    if (this._trouble !== undefined || this.heartbeatAgeMs <= timeouts.sessionMs) return this._trouble;
    const seconds = Math.round(this.heartbeatAgeMs / 1_000);
    return `The group ${group} has not answered a heartbeat for ${seconds} s; its partitions go to others, or wait.`;
  }

  async join(): Promise<void> {
    this.listen();
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [...this.options.topics], fromBeginning: true });
    await this.run();
  }

  /** Leaves the group, so that the others need not wait for the session to time out. */
  async leave(): Promise<void> {
    this.left = true;
    await this.consumer.disconnect();
  }

  /** Resolves with the next sign that the group still counts on this process. */
  isMember(): Promise<void> {
    return new Promise((resolve) => this.signs.add(resolve));
  }

  seek(place: TopicPartition, offset: number): void {
    this.steer(() => this.consumer.seek({ ...place, offset: String(offset) }));
  }

  pause({ topic, partition }: TopicPartition): void {
    this.steer(() => this.consumer.pause([{ topic, partitions: [partition] }]));
  }

  resume({ topic, partition }: TopicPartition): void {
    this.steer(() => this.consumer.resume([{ topic, partitions: [partition] }]));
  }

  private run(): Promise<void> {
    return this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => {
        this.options.received(payload);
        return Promise.resolve();
      },
    });
  }

  private listen(): void {
    const consumer = this.consumer;
    const { events } = consumer;
    const heard = (): void => {
      this.heardAt = performance.now();
      this.looks = 0;
    };
    const counted = (): void => {
      heard();
      this.countedAt = this.heardAt;
    };
    consumer.on(events.FETCH_START, heard);
    // Before the next fetch it may have to look for a broker for long: it lives as long as its requests end, in
    // whatever way.
    consumer.on(events.REQUEST, heard);
    consumer.on(events.REQUEST_TIMEOUT, heard);
    const isMember = (): void => {
      for (const sign of this.signs) sign();
      this.signs.clear();
    };
    consumer.on(events.HEARTBEAT, () => {
      counted();
      this._trouble = undefined;
      isMember();
    });
    consumer.on(events.REBALANCING, () => void (this.fetching = false));
    consumer.on(events.GROUP_JOIN, ({ payload }) => {
      counted();
      this.fetching = true;
      const { memberId, memberAssignment } = payload;
      const member = { memberId, generation: generationOf(memberId) };
      // kafkajs was joining when it was asked to leave, and heard only half of it.
      if (this.left) setImmediate(() => void this.leave());
      else this.options.assigned(memberAssignment, member);
      isMember();
    });
    consumer.on(events.START_BATCH_PROCESS, ({ payload: { topic, partition, batchSize, firstOffset, lastOffset } }) => {
      if (batchSize === 0) this.options.passed(topic, partition, Number(firstOffset), Number(lastOffset));
    });
    consumer.on(events.CRASH, ({ payload: { error, restart } }) => this.crashed(error, restart));
  }

  private crashed(error: Error, restart: boolean): void {
    const { group, brokers, stopping, died } = this.options;
    this.fetching = false;
    const fault = brokerFault(`The consumer of ${group} stopped`, brokers, error);
    this._trouble = fault.message;
    if (restart || stopping.aborted) return;
    if (isRetriable(error)) void this.runAgain();
    else died(fault);
  }

  /** kafkajs stops for good when no broker knows the group’s coordinator, as while one starts. */
  private async runAgain(): Promise<void> {
    const { stopping, died } = this.options;
    try {
      if (await pause(clientRetry.maxRetryTime, stopping)) await this.run();
    } catch (error) {
      died(this.dead('it cannot be started again', error));
    }
  }

  /** Between a crash and the restart kafkajs has no group to steer; joining again steers everything from the start. */
  private steer(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (this.fetching) this.options.died(this.dead('kafkajs ended it without saying so', error));
    }
  }

  private watchLoop(): void {
    if (!this.fetching || ++this.looks <= silentLooks) return;
    const silentMs = performance.now() - this.heardAt;
    this.options.died(this.dead(`it has asked for nothing for ${Math.round(silentMs / 1_000)} s`));
  }

  private dead(why: string, cause?: unknown): Fault {
    const { group } = this.options;
    return new Fault('storage', `The consumer of ${group} is dead: ${why}. Restart the process.`, false, { cause });
  }
}
