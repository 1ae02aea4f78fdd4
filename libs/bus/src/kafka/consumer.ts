import type { Codec } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import type { Admin, EachBatchPayload, Kafka } from 'kafkajs';
import type { BusLog, Consumer, Outgoing, PartitionLag, Standing, Subscription } from '../port.js';
import type { HandlingOptions } from '../processing/handling.js';
import { pause } from '../processing/retry.js';
import { RetryLog } from '../processing/retry-log.js';
import { Slots } from '../processing/slots.js';
import type { Clients } from './clients.js';
import { consumerRetry } from './clients.js';
import { brokerFault, within } from './failure.js';
import { HeldBytes } from './held-bytes.js';
import { Membership } from './membership.js';
import type { Names } from './names.js';
import type { Timeouts } from './options.js';
import { Partition } from './partition.js';
import { TruncationCheck } from './log-truncation.js';
import { boundsOf, takeOver } from './takeover.js';
import { TransactionSlots } from './transaction-slots.js';

const defaultInFlight = 1_000;
/** Payload bytes in work at a time. */
const inFlightBytes = 16 * 1024 * 1024;
/** How long the broker may take to say where its partitions end, milliseconds. */
const askMs = 5_000;
/** Beside an orderly stop: longer than a fetch and a request that time out. */
const leaveMs = 15_000;

export interface ConsumerOptions {
  readonly subscription: Subscription;
  readonly clients: Clients;
  readonly names: Names;
  readonly brokers: readonly string[];
  readonly timeouts: Timeouts;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly log: BusLog;
  readonly emit: (messages: readonly Outgoing[]) => void;
  /** Called once, however it ends. */
  readonly ended: () => void;
}

/** Joins the group. Throws Fault('storage') if the broker cannot be reached. */
export async function joinGroup(options: ConsumerOptions): Promise<GroupConsumer> {
  const consumer = new GroupConsumer(options);
  try {
    await consumer.start();
    return consumer;
  } catch (error) {
    await consumer.stop(0);
    throw brokerFault(`The group ${options.subscription.group} cannot be joined`, options.brokers, error);
  }
}

/**
 * One group’s consumer in this process: each partition that the group gave it has an owner that does the work. A session
 * is in order within a partition: lanes are a partition’s own, because over topics and partitions the group may give a
 * session’s records to several processes anyway.
 */
export class GroupConsumer implements Consumer {
  readonly failed: Promise<Error>;
  readonly #slots: Slots;
  readonly #held = new HeldBytes(inFlightBytes, () => this.#partitions.size);
  readonly #transactions = new TransactionSlots(() => this.#partitions.size);
  readonly #stopping = new AbortController();
  readonly #partitions = new Map<string, Partition>();
  readonly #membership: Membership;
  readonly #admin: Admin;
  /** For the partitions’ producers, apart from the consumer’s client: clients share the offsets they remember (point 13). */
  readonly #writers: Kafka;
  readonly #handling: HandlingOptions;
  #stopped: Promise<void> | undefined;
  #tellFailure: (error: Error) => void = () => undefined;

  constructor(private readonly options: ConsumerOptions) {
    const { subscription, clients, names, brokers, timeouts } = options;
    this.failed = new Promise((resolve) => (this.#tellFailure = resolve));
    this.#slots = new Slots(subscription.maxInFlight ?? defaultInFlight);
    const retries = new RetryLog(subscription.group, options.log, options.clock);
    this.#handling = { ...options, retries, stopping: this.#stopping.signal };
    this.#writers = clients();
    const client = clients();
    this.#admin = client.admin({ retry: consumerRetry });
    this.#membership = new Membership({
      client,
      brokers,
      group: subscription.group,
      groupId: names.group(subscription.group),
      topics: subscription.topics.map((topic) => names.topic(topic)),
      timeouts,
      stopping: this.#stopping.signal,
      assigned: (assignment) => this.#assign(assignment),
      received: (payload) => this.#receive(payload),
      outOfRange: async (topic, partition) => this.#partitions.get(`${topic}/${partition}`)?.outOfRange(),
      passed: (topic, partition, first, last) => this.#partitions.get(`${topic}/${partition}`)?.passed(first, last),
      died: (fault) => this.#fail(fault),
    });
  }

  get inFlight(): number {
    return this.#slots.taken;
  }

  get standing(): Standing {
    const held = [...this.#partitions.values()].filter(({ tenure }) => tenure !== undefined);
    return { partitions: held.length, heartbeatAgeMs: this.#membership.heartbeatAgeMs, trouble: this.trouble };
  }

  /** Why it cannot go on now, though it goes on trying. */
  get trouble(): string | undefined {
    const stuck = [...this.#partitions.values()].map(({ trouble }) => trouble);
    return this.#membership.trouble ?? stuck.find((trouble) => trouble !== undefined);
  }

  async lag(): Promise<readonly PartitionLag[]> {
    const held = [...this.#partitions.values()];
    const topics = [...new Set(held.map(({ topic }) => topic))];
    const late = (): Error => new Error(`The broker has not answered for ${askMs} ms.`);
    const ends = new Map(
      await within(askMs, late, Promise.all(topics.map(async (topic) => [topic, await this.#endsOf(topic)] as const))),
    );
    return held.flatMap(({ source, topic, partition, tenure }) => {
      const end = ends.get(topic)?.get(partition);
      if (tenure === undefined || end === undefined) return [];
      return [{ topic: source, partition, records: tenure.unfinishedBelow(end) }];
    });
  }

  async #endsOf(topic: string): Promise<ReadonlyMap<number, number>> {
    const ends = await this.#admin.fetchTopicOffsets(topic);
    return new Map(ends.map(({ partition, high }) => [partition, Number(high)]));
  }

  async start(): Promise<void> {
    await this.#admin.connect();
    await this.#membership.join();
  }

  stop(drainMs: number): Promise<void> {
    this.#stopped ??= this.#stop(drainMs);
    return this.#stopped;
  }

  async #stop(drainMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#begunToEnd();
    const partitions = [...this.#partitions.values()];
    for (const partition of partitions) partition.stopReading();
    const deadline = new AbortController();
    const tenures = partitions.flatMap(({ tenure }) => (tenure === undefined ? [] : [tenure]));
    await Promise.race([Promise.all(tenures.map((tenure) => tenure.idle())), pause(drainMs, deadline.signal)]);
    deadline.abort();
    await Promise.all(tenures.map((tenure) => tenure.commits.settle()));
    await this.#leave();
    this.options.ended();
  }

  #receive({ batch, isStale, isRunning, resolveOffset }: EachBatchPayload): void {
    const partition = this.#partitions.get(`${batch.topic}/${batch.partition}`);
    // What is not resolved is read again, from where the takeover seeks to (point 3).
    if (!isRunning() || isStale() || partition === undefined) return;
    const last = batch.lastOffset();
    if (partition.receive(batch.messages, Number(last))) resolveOffset(last);
  }

  /** The group gave out its partitions anew: what is new is taken over, what stays is kept, what went is dropped. */
  #assign(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.options.subscription.observer?.rebalanced();
    const gone = new Set(this.#partitions.keys());
    for (const [name, numbers] of Object.entries(assignment)) {
      for (const number of numbers) {
        const key = `${name}/${number}`;
        gone.delete(key);
        const there = this.#partitions.get(key);
        if (there !== undefined) there.retained();
        else this.#open(key, name, number);
      }
    }
    for (const key of gone) {
      const partition = this.#partitions.get(key);
      this.#partitions.delete(key);
      void partition?.close('The partition moved to another consumer, which repeats this record.');
    }
  }

  #open(key: string, name: string, partition: number): void {
    const { subscription, names, codec, log, timeouts, brokers } = this.options;
    const source = names.topicOf(name);
    if (source === undefined) return;
    const { group } = subscription;
    const place = { topic: name, partition };
    const steering = {
      seek: (offset: number) => this.#membership.seek(place, offset),
      pause: () => this.#membership.pause(place),
      resume: () => this.#membership.resume(place),
    };
    steering.pause();
    if (this.#stopping.signal.aborted) return;
    const ours = {
      kafka: this.#writers,
      admin: this.#admin,
      group: names.group(group),
      topic: name,
      partition,
      transactionalId: names.partitionWriter(group, source, partition),
      transactionTimeoutMs: timeouts.transactionMs,
      truncation: new TruncationCheck(),
    };
    this.#partitions.set(
      key,
      new Partition({
        source,
        topic: name,
        partition,
        group,
        groupId: names.group(group),
        names,
        codec,
        log,
        slots: this.#slots,
        held: this.#held,
        transactions: this.#transactions,
        handling: this.#handling,
        observer: subscription.observer,
        steering,
        takeOver: () => takeOver(ours),
        bounds: () => boundsOf(this.#admin, name, partition),
        isMember: () => this.#membership.isMember(),
        explain: (error) => brokerFault(`The group ${group} cannot go on with ${name}/${partition}`, brokers, error),
        failed: (error) => this.#fail(error instanceof Error ? error : new Error(String(error))),
      }),
    );
  }

  #fail(error: Error): void {
    if (this.#stopping.signal.aborted) return;
    this.#begunToEnd();
    this.#stopped = this.#leave().finally(() => this.options.ended());
    this.#tellFailure(error);
  }

  #begunToEnd(): void {
    this.#stopping.abort();
    this.#slots.close();
  }

  /** Gives up what is left, and leaves the group, so that nobody waits for the session to time out. */
  async #leave(): Promise<void> {
    const { log, subscription } = this.options;
    const why = 'The consumer gives this record up; it is repeated later.';
    const late = (): Error => new Error('The broker does not answer.');
    const closing = [...this.#partitions.values()].map((partition) => partition.close(why));
    this.#partitions.clear();
    try {
      await within(leaveMs, late, Promise.all([...closing, this.#membership.leave()]));
      await within(leaveMs, late, this.#admin.disconnect());
    } catch (error) {
      log('warn', 'The group could not be left; it notices by itself after the session timeout.', {
        group: subscription.group,
        error: String(error),
      });
    }
  }
}
