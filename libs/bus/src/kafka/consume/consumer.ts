import { randomBytes } from 'node:crypto';
import type { Codec } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import type { Admin, EachBatchPayload } from 'kafkajs';
import type { BusLog, Consumer, Outgoing, PartitionLag, Standing, Subscription } from '../../port.js';
import type { HandlingOptions } from '../../processing/handling.js';
import { pause } from '../../processing/retry.js';
import { RetryLog } from '../../processing/retry-log.js';
import { keepsPartitionOrder } from '../../processing/carrying.js';
import { Slots } from '../../processing/slots.js';
import type { Clients } from '../kafkajs/clients.js';
import { consumerRetry } from '../kafkajs/clients.js';
import { clusterOf } from '../kafkajs/cluster.js';
import type { Cluster } from '../kafkajs/cluster.js';
import { Confirmation } from './confirmation.js';
import { disconnectQuietly } from '../kafkajs/disconnect.js';
import { brokerFault, within } from '../kafkajs/failure.js';
import { decodeWriter, writerLength } from '../commit/finished-set.js';
import { GroupOffsets } from '../commit/group-offsets.js';
import { HeldBytes } from './held-bytes.js';
import { Membership } from './membership.js';
import type { Assignment } from './membership.js';
import type { Names } from '../names.js';
import type { Timeouts } from '../options.js';
import { Partition } from './partition.js';
import { TruncationCheck } from './log-truncation.js';
import type { TopicLimits } from '../produce/topic-limits.js';
import type { Member } from '../produce/requests.js';
import { TransactionalProducer } from '../produce/transactional-producer.js';
import { boundsOf, acquire } from './acquire.js';
import { Transactions } from '../commit/transactions.js';

const defaultInFlight = 1_000;
/** Payload bytes in work at a time. */
const inFlightBytes = 16 * 1024 * 1024;
/** Records at work: enough for a database that takes some milliseconds for each. */
const atWork = 64;
/** How long the broker may take to say where its partitions end, milliseconds. */
const askMs = 5_000;
/**
 * How long what is finished may take to be on the log when the consumer stops, milliseconds; what is not is repeated
 * by the next owner.
 */
const settleMs = 5_000;
/** Beside an orderly stop: longer than a fetch and a request that time out. */
const leaveMs = 15_000;

interface ConsumerOptions {
  readonly subscription: Subscription;
  readonly clients: Clients;
  readonly names: Names;
  readonly brokers: readonly string[];
  readonly timeouts: Timeouts;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly limits: TopicLimits;
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
 * One group’s consumer in this process: each partition that the group gave it has an owner that does the work. A
 * session is in order within a partition: lanes are a partition’s own, because over topics and partitions the group
 * may give a session’s records to several processes anyway.
 */
export class GroupConsumer implements Consumer {
  readonly failed: Promise<Error>;
  private readonly slots: Slots;
  /** Absent where records are handled one after another anyway. */
  private readonly working: Slots | undefined;
  private readonly held = new HeldBytes(inFlightBytes, () => this.partitions.size);
  private readonly stopping = new AbortController();
  /** Aborted when it leaves, after what there was to finish. */
  private readonly leaving = new AbortController();
  private readonly partitions = new Map<string, Partition>();
  /** Those that were abandoned, until nothing of them is under way. */
  private readonly closing = new Set<Promise<void>>();
  private readonly membership: Membership;
  private readonly admin: Admin;
  /**
   * For what is written, apart from the consumer’s client: clients share the offsets they remember (README, point
   * 13).
   */
  private readonly cluster: Cluster;
  /** The writer id: unique among all consumers that ever were. */
  private readonly writer = randomBytes((writerLength * 3) / 4).toString('base64url');
  private readonly producer: TransactionalProducer;
  private readonly offsets: GroupOffsets;
  private readonly transactions: Transactions;
  private readonly confirmation: Confirmation;
  /** The member id and generation since the last rebalance. */
  private member: Member | undefined;
  /** Writers of other consumers that were fenced since then. */
  private readonly fenced = new Map<string, Promise<void>>();
  private readonly handling: HandlingOptions;
  private stopped: Promise<void> | undefined;
  private tellFailure: (error: Error) => void = () => undefined;

  constructor(private readonly options: ConsumerOptions) {
    const { subscription, clients, names, brokers, timeouts } = options;
    this.failed = new Promise((resolve) => (this.tellFailure = resolve));
    this.slots = new Slots(subscription.maxInFlight ?? defaultInFlight);
    const retries = new RetryLog(subscription.group, options.log, options.clock);
    this.working = keepsPartitionOrder(subscription) ? undefined : new Slots(atWork);
    this.handling = { ...options, working: this.working, retries, stopping: this.stopping.signal };
    this.cluster = clusterOf(clients());
    this.producer = this.producerOf(this.writer);
    this.offsets = new GroupOffsets(this.cluster, names.group(subscription.group));
    this.transactions = new Transactions({
      ...options,
      producer: this.producer,
      offsets: this.offsets,
      group: subscription.group,
      observer: subscription.observer,
      explain: (error) => brokerFault(`The group ${subscription.group} cannot commit`, brokers, error),
    });
    this.confirmation = new Confirmation({
      isOurs: (key) => this.isOurs(key),
      confirmed: (member, lost) => this.confirmed(member, lost),
      failed: (error) => this.warn(brokerFault(`The group ${subscription.group} cannot go on`, brokers, error)),
      leaving: this.leaving.signal,
    });
    const client = clients();
    this.admin = client.admin({ retry: consumerRetry });
    this.membership = new Membership({
      client,
      brokers,
      group: subscription.group,
      groupId: names.group(subscription.group),
      topics: subscription.topics.map((topic) => names.topic(topic)),
      timeouts,
      stopping: this.stopping.signal,
      assigned: (assignment, member) => this.assign(assignment, member),
      received: (payload) => this.receive(payload),
      outOfRange: async (topic, partition) => this.partitions.get(`${topic}/${partition}`)?.outOfRange(),
      passed: (topic, partition, first, last) => this.partitions.get(`${topic}/${partition}`)?.passed(first, last),
      died: (fault) => this.fail(fault),
    });
  }

  get inFlight(): number {
    return this.slots.taken;
  }

  get standing(): Standing {
    const held = [...this.partitions.values()].filter(({ owner }) => owner !== undefined);
    return { partitions: held.length, heartbeatAgeMs: this.membership.heartbeatAgeMs, trouble: this.trouble };
  }

  /** Why it cannot go on now, though it goes on trying. */
  get trouble(): string | undefined {
    const stuck = [...this.partitions.values()].map(({ trouble }) => trouble);
    return this.membership.trouble ?? stuck.find((trouble) => trouble !== undefined);
  }

  async lag(): Promise<readonly PartitionLag[]> {
    const held = [...this.partitions.values()];
    const topics = [...new Set(held.map(({ topic }) => topic))];
    const late = (): Error => new Error(`The broker has not answered for ${askMs} ms.`);
    const ends = new Map(
      await within(askMs, late, Promise.all(topics.map(async (topic) => [topic, await this.endsOf(topic)] as const))),
    );
    return held.flatMap(({ source, topic, partition, owner }) => {
      const end = ends.get(topic)?.get(partition);
      if (owner === undefined || end === undefined) return [];
      return [{ topic: source, partition, records: owner.unfinishedBelow(end) }];
    });
  }

  private async endsOf(topic: string): Promise<ReadonlyMap<number, number>> {
    const ends = await this.admin.fetchTopicOffsets(topic);
    return new Map(ends.map(({ partition, high }) => [partition, Number(high)]));
  }

  async start(): Promise<void> {
    await this.admin.connect();
    await this.membership.join();
  }

  stop(drainMs: number): Promise<void> {
    this.stopped ??= this._stop(drainMs);
    return this.stopped;
  }

  private async _stop(drainMs: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    this.begunToEnd();
    const partitions = [...this.partitions.values()];
    for (const partition of partitions) partition.stopReading();
    const owners = partitions.flatMap(({ owner }) => (owner === undefined ? [] : [owner]));
    await atMost(drainMs, Promise.all(owners.map((owner) => owner.idle())));
    await atMost(settleMs, Promise.all(owners.map(({ commits }) => commits.settle())));
    await this.leave();
    this.options.ended();
  }

  private receive({ batch, isStale, isRunning, resolveOffset }: EachBatchPayload): void {
    const partition = this.partitions.get(`${batch.topic}/${batch.partition}`);
    // Unresolved records are fetched again, from where the acquisition seeks to (README, point 3).
    if (!isRunning() || isStale() || partition === undefined) return;
    const last = batch.lastOffset();
    if (partition.receive(batch.messages, Number(last))) resolveOffset(last);
  }

  /** After a rebalance: acquires new partitions, keeps retained ones, drops revoked ones. */
  private assign(assignment: Assignment, member: Member): void {
    this.options.subscription.observer?.rebalanced();
    this.member = member;
    this.fenced.clear();
    const given = new Map<string, { readonly name: string; readonly partition: number }>(
      Object.entries(assignment).flatMap(([name, numbers]) =>
        numbers.map((partition) => [`${name}/${partition}`, { name, partition }] as const),
      ),
    );
    for (const key of [...this.partitions.keys()]) if (!given.has(key)) void this.drop(key);
    const stayed = [...this.partitions.keys()];
    for (const key of stayed) this.partitions.get(key)?.retained();
    this.confirmation.given(member, stayed);
    for (const [key, { name, partition }] of given) if (!this.partitions.has(key)) this.open(key, name, partition);
  }

  private async drop(key: string): Promise<void> {
    const partition = this.partitions.get(key);
    this.partitions.delete(key);
    await (partition && this.close(partition, 'The partition moved to another consumer, which repeats this record.'));
  }

  private close(partition: Partition, why: string): Promise<void> {
    const closing = partition.close(why);
    this.closing.add(closing);
    return closing.finally(() => this.closing.delete(closing));
  }

  /** Partitions that another consumer owned in between are acquired again. */
  private confirmed(member: Member, lost: readonly string[]): void {
    for (const key of lost) void this.reopen(key, member);
    this.transactions.joined(member);
  }

  /**
   * An acquisition under way could commit late, in the same generation, and set the next one back: so one after the
   * other.
   */
  private async reopen(key: string, member: Member): Promise<void> {
    const partition = this.partitions.get(key);
    if (partition === undefined) return;
    partition.stopReading();
    await this.drop(key);
    if (this.member !== member || this.partitions.has(key)) return;
    this.open(key, partition.topic, partition.partition);
  }

  private async isOurs(key: string): Promise<boolean> {
    const there = this.partitions.get(key);
    if (there?.owner === undefined) return false;
    const { metadata } = await this.offsets.settled(there.topic, there.partition);
    return decodeWriter(metadata) === this.writer;
  }

  /** Once a rebalance: fencing a writer ends its transaction for all its partitions. */
  private fence(writer: string): Promise<void> {
    const begun = this.fenced.get(writer);
    if (begun !== undefined) return begun;
    const fencing = this.producerOf(writer).connect();
    this.fenced.set(writer, fencing);
    fencing.catch(() => this.fenced.delete(writer));
    return fencing;
  }

  private producerOf(writer: string): TransactionalProducer {
    const { names, subscription, timeouts } = this.options;
    return new TransactionalProducer({
      cluster: this.cluster,
      transactionalId: names.writer(subscription.group, writer),
      transactionTimeoutMs: timeouts.transactionMs,
    });
  }

  private memberNow(): Member {
    if (this.member === undefined) throw new Error('The group has not given out its partitions yet.');
    return this.member;
  }

  private open(key: string, name: string, partition: number): void {
    const { subscription, names, codec, log, brokers } = this.options;
    const source = names.topicOf(name);
    if (source === undefined) return;
    const { group } = subscription;
    const place = { topic: name, partition };
    const steering = {
      seek: (offset: number) => this.membership.seek(place, offset),
      pause: () => this.membership.pause(place),
      resume: () => this.membership.resume(place),
    };
    steering.pause();
    if (this.stopping.signal.aborted) return;
    const ours = {
      admin: this.admin,
      offsets: this.offsets,
      group: names.group(group),
      topic: name,
      partition,
      writer: this.writer,
      fence: (writer: string) => this.fence(writer),
      member: () => this.memberNow(),
      truncation: new TruncationCheck(),
    };
    this.partitions.set(
      key,
      new Partition({
        source,
        topic: name,
        partition,
        group,
        writer: this.writer,
        codec,
        log,
        slots: this.slots,
        held: this.held,
        transactions: this.transactions,
        handling: this.handling,
        steering,
        acquire: () => acquire(ours),
        bounds: () => boundsOf(this.admin, name, partition),
        isMember: () => this.membership.isMember(),
        explain: (error) => brokerFault(`The group ${group} cannot go on with ${name}/${partition}`, brokers, error),
        failed: (error) => this.fail(error instanceof Error ? error : new Error(String(error))),
      }),
    );
  }

  private fail(error: Error): void {
    if (this.stopping.signal.aborted) return;
    this.begunToEnd();
    this.stopped = this.leave().finally(() => this.options.ended());
    this.tellFailure(error);
  }

  private warn({ message }: Error): void {
    const { log, subscription } = this.options;
    log('warn', message, { group: subscription.group });
  }

  private begunToEnd(): void {
    this.stopping.abort();
    this.slots.close();
    this.working?.close();
  }

  /**
   * Abandons what is left and leaves the group, so that its partitions move at once instead of after the session
   * time-out.
   */
  private async leave(): Promise<void> {
    const { log, subscription } = this.options;
    const why = 'The consumer gives this record up; it is repeated later.';
    const late = (): Error => new Error('The broker does not answer.');
    this.leaving.abort();
    for (const partition of this.partitions.values()) void this.close(partition, why);
    const closing = [...this.closing];
    this.partitions.clear();
    try {
      await within(leaveMs, late, Promise.all([this.release(closing), this.membership.leave()]));
    } catch (error) {
      log('warn', 'The group could not be left; it notices by itself after the session timeout.', {
        group: subscription.group,
        error: String(error),
      });
    }
    await disconnectQuietly({ disconnect: () => within(leaveMs, late, this.admin.disconnect()) }, log);
  }

  /** kafkajs would connect again for a request that is under way. */
  private async release(closing: readonly Promise<void>[]): Promise<void> {
    await Promise.all([...closing, this.transactions.close()]);
    await disconnectQuietly(this.cluster, this.options.log);
  }
}

/** Waits for the work, but no longer, milliseconds. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, pause(ms, done.signal)]);
  done.abort();
}
