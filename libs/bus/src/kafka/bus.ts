import { createCodec, topics as wire } from '@sluice/contracts';
import type { Codec, RecordOf, Topic } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import type { Admin } from 'kafkajs';
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
import { encodeAll, OutputRefused } from '../processing/outputs.js';
import type { Encoded } from '../processing/outputs.js';
import { consumerRetry } from './kafkajs/clients.js';
import type { Clients } from './kafkajs/clients.js';
import { joinGroup } from './consume/consumer.js';
import type { GroupConsumer } from './consume/consumer.js';
import { Emitter } from './produce/emitter.js';
import { brokerFault, within } from './kafkajs/failure.js';
import { Names } from './names.js';
import { timeoutsOf } from './options.js';
import type { KafkaBusOptions, Timeouts } from './options.js';
import { retryUntilThere } from './retry-until-there.js';
import { Publisher } from './produce/publisher.js';
import { Reader } from './read/read.js';
import { groupLag } from './admin/group-lag.js';
import { identityOf } from './admin/identity.js';
import { confluentRegistry } from './admin/registry.js';
import type { ConfluentRegistry } from './admin/registry.js';
import type { TopicFinding, TopicThere } from './admin/findings.js';
import { TopicWatch } from './admin/topic-watch.js';
import { TopicLimits } from './produce/topic-limits.js';
import { applyRetention, offsetsWarning } from './admin/retention.js';
import { createTopics } from './admin/topics.js';

/** How long a failed publish makes the bus unhealthy if nothing is published after it, milliseconds. */
const troubleMs = 5_000;
/** How long a check waits for the broker, milliseconds. */
const checkMs = 5_000;

const notInTime = (): Error => new Error(`It has not answered for ${checkMs} ms.`);

/** The log on Kafka. Payloads are Confluent’s wire format; JSON is read too. */
export interface KafkaBus extends Bus {
  /** Puts bytes on the log as they are, for producers that bring their own encoding. */
  appendRaw(topic: Topic, key: string, value: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<void>;
  /** Emitted records that could not be sent. */
  readonly lostEmits: number;
  /** What of the topics is not as Sluice needs it, as it was when it was last looked at. */
  readonly findings: readonly TopicFinding[];
  /** The topics, as they were then; none if this user may not see their settings. */
  readonly topicsThere: ReadonlyMap<Topic, TopicThere>;
  /** What an operator should know of the broker’s settings, as sentences; none if all is well. */
  warnings(): Promise<readonly string[]>;
  identity(): Promise<LogIdentity>;
  /** Gives topics that are there the retention of the options; returns what was otherwise, as sentences. */
  applyRetention(): Promise<readonly string[]>;
}

/** The bus on clients that the caller makes; see `openKafkaBus`. */
export async function busOn(clients: Clients, options: KafkaBusOptions): Promise<KafkaBus> {
  const timeouts = timeoutsOf(options);
  const names = new Names(options.prefix);
  const { brokers, log = () => undefined, signal = new AbortController().signal } = options;
  const registry = confluentRegistry(options.registry, names, options.clientId);
  const admin = clients().admin({ retry: consumerRetry });
  const patience = { log, signal };
  try {
    await retryUntilThere(async () => {
      try {
        await admin.connect();
        await createTopics(admin, names, options.topics);
      } catch (error) {
        throw error instanceof RangeError ? error : brokerFault('The log cannot be opened', brokers, error);
      }
    }, patience);
    const codec = await retryUntilThere(() => createCodec(registry), patience);
    const limits = new TopicLimits(names, () => void watch.look());
    const watch = new TopicWatch({ admin, names, topics: options.topics, limits, log });
    await watch.look();
    return new OpenBus({ clients, options, timeouts, names, registry, admin, codec, log, limits, watch });
  } catch (error) {
    await admin.disconnect();
    throw error;
  }
}

interface Parts {
  readonly clients: Clients;
  readonly options: KafkaBusOptions;
  readonly timeouts: Timeouts;
  readonly names: Names;
  readonly registry: ConfluentRegistry;
  readonly admin: Admin;
  readonly codec: Codec;
  readonly log: BusLog;
  readonly limits: TopicLimits;
  readonly watch: TopicWatch;
}

class OpenBus implements KafkaBus {
  private readonly consumers = new Map<string, GroupConsumer | null>();
  private readonly closed = new AbortController();
  private readonly publisher: Publisher;
  private readonly emitter: Emitter;
  private readonly reader: Reader;

  constructor(private readonly parts: Parts) {
    const { names, options, timeouts, clients, log } = parts;
    this.publisher = new Publisher({
      ...parts,
      transactionalId: names.publisher(options.instance),
      transactionTimeoutMs: timeouts.transactionMs,
      explain: this.explain('The log could not be written'),
    });
    this.emitter = new Emitter(clients, names, parts.limits, log);
    this.reader = new Reader({
      ...parts,
      clock: options.clock,
      closed: this.closed.signal,
      explain: this.explain('The log could not be read'),
    });
  }

  get lostEmits(): number {
    return this.emitter.lost;
  }

  get findings(): readonly TopicFinding[] {
    return this.parts.watch.findings;
  }

  get topicsThere(): ReadonlyMap<Topic, TopicThere> {
    return this.parts.watch.there;
  }

  durable(): Promise<void> {
    return Promise.resolve();
  }

  async publish(messages: readonly Outgoing[]): Promise<void> {
    this.assertOpen();
    let encoded: readonly Encoded[];
    try {
      encoded = encodeAll(this.parts.codec, messages, this.parts.limits);
    } catch (error) {
      if (error instanceof OutputRefused) throw new Fault('invalid_request', error.message, false, { cause: error });
      throw error;
    }
    if (encoded.length > 0) await this.publisher.add(encoded);
  }

  async appendRaw(topic: Topic, key: string, value: Uint8Array, headers = {}): Promise<void> {
    this.assertOpen();
    await this.publisher.add([{ topic, key, value, headers }]);
  }

  async warnings(): Promise<readonly string[]> {
    const { admin, names } = this.parts;
    try {
      const offsets = await within(checkMs, notInTime, offsetsWarning(admin, names));
      const { unknown } = this.parts.watch;
      const settings =
        unknown === undefined ? [] : [`Whether the topics are as they must be could not be found out: ${unknown}`];
      return [...settings, ...(offsets === null ? [] : [offsets])];
    } catch (error) {
      return [`Whether the broker keeps committed offsets for long enough could not be found out: ${String(error)}`];
    }
  }

  async identity(): Promise<LogIdentity> {
    this.assertOpen();
    const { admin, names } = this.parts;
    try {
      return await within(checkMs, notInTime, identityOf(admin, names));
    } catch (error) {
      throw this.explain('Which cluster it is cannot be read')(error);
    }
  }

  async applyRetention(): Promise<readonly string[]> {
    const { admin, names, options } = this.parts;
    try {
      const changed = await applyRetention(admin, names, options.topics);
      return changed.map(
        ({ topic, setting, is, wanted }) => `${names.topic(topic)}: ${setting} was ${is}, is ${wanted}`,
      );
    } catch (error) {
      throw this.explain('The topics could not be changed')(error);
    }
  }

  async subscribe(subscription: Subscription): Promise<Consumer> {
    this.assertOpen();
    const { group } = subscription;
    if (this.consumers.has(group)) {
      throw new Error(
        `The group ${group} has a consumer in this process already. Stop it first, or use another group.`,
      );
    }
    this.consumers.set(group, null);
    const ended = (): void => void this.consumers.delete(group);
    try {
      const { options } = this.parts;
      const consumer = await joinGroup({
        ...this.parts,
        subscription,
        brokers: options.brokers,
        clock: options.clock,
        emit: (messages) => this.emit(messages),
        ended,
      });
      this.consumers.set(group, consumer);
      return consumer;
    } catch (error) {
      ended();
      throw error;
    }
  }

  read<T extends Topic>(topics: readonly T[], options: ReadOptions): AsyncIterable<Incoming<T>> {
    this.assertOpen();
    return this.reader.read(topics, options);
  }

  async decode<T extends Topic>(topic: T, value: Uint8Array): Promise<RecordOf<T>> {
    return this.parts.codec.decode(topic, value);
  }

  async groupLag(group: string, topics: readonly Topic[]): Promise<readonly PartitionLag[]> {
    this.assertOpen();
    const { admin, names } = this.parts;
    try {
      return await within(checkMs, notInTime, groupLag(admin, names, group, topics));
    } catch (error) {
      throw this.explain(`The lag of the group ${group} cannot be read`)(error);
    }
  }

  get checks(): Bus['checks'] {
    return {
      broker: () => this.checkBroker(),
      registry: () => this.parts.registry.check(),
      topics: () => this.parts.watch.check(),
    };
  }

  async check(): Promise<void> {
    await this.checkBroker();
    await this.parts.registry.check();
    await this.parts.watch.check();
    const stuck = [...this.consumers.values()].find((consumer) => consumer?.trouble !== undefined)?.trouble;
    if (stuck !== undefined) throw new Fault('storage', stuck, true);
  }

  /** It answers, and what was published last did not fail. */
  private async checkBroker(): Promise<void> {
    this.assertOpen();
    const { admin, names } = this.parts;
    const explain = this.explain('The log cannot be used');
    try {
      await within(checkMs, notInTime, admin.fetchTopicMetadata({ topics: [names.topic(wire.config)] }));
    } catch (error) {
      throw explain(error);
    }
    const failed = this.publisher.trouble;
    if (failed !== undefined && performance.now() - failed.at < troubleMs)
      throw new Fault('storage', failed.reason, true);
  }

  async close(): Promise<void> {
    if (this.closed.signal.aborted) return;
    this.closed.abort();
    this.parts.watch.close();
    await Promise.all([...this.consumers.values()].map(async (consumer) => consumer?.stop(0)));
    await Promise.all([this.publisher.close(), this.emitter.close(), this.reader.close()]);
    await this.parts.admin.disconnect();
  }

  private emit(messages: readonly Outgoing[]): void {
    if (this.closed.signal.aborted) return;
    try {
      this.emitter.add(encodeAll(this.parts.codec, messages, this.parts.limits));
    } catch (error) {
      this.emitter.lose(messages.length, error);
    }
  }

  private explain(doing: string): (error: unknown) => Fault {
    return (error) => brokerFault(doing, this.parts.options.brokers, error);
  }

  private assertOpen(): void {
    if (this.closed.signal.aborted) throw new Fault('storage', 'The log was closed by this process.', false);
  }
}
