import { randomBytes, randomUUID } from 'node:crypto';
import type { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import type { EachMessagePayload, Kafka, Producer } from 'kafkajs';
import type { AgentResponse, Cancellation } from '../generated/records.js';
import { Following } from './following.js';
import type { NewRequest, Received, Topic } from './records.js';

export interface BusOptions {
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  /** What stands before every topic and subject (`SLUICE_PREFIX`). */
  readonly prefix?: string | undefined;
  /** The credential that goes along with requests, or what gives it; none where no identity is configured. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
}

/** Which run a request is. */
export interface Published {
  readonly request_id: string;
  readonly session_id: string;
}

interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
}

const requests = 'agent.requests';
const cancellations = 'agent.cancellations';

/** Sluice over Kafka: requests go out, steps and responses come back, as typed Avro. Call `close` at the end. */
export class SluiceBus {
  private readonly prefix: string;
  private producer: Promise<Producer> | null = null;

  constructor(private readonly options: BusOptions) {
    this.prefix = options.prefix ?? '';
  }

  /**
   * Publishes a request. An id that it leaves out is made here; send the same ids again where an attempt may have
   * arrived.
   */
  async publish(request: NewRequest, headers: Readonly<Record<string, string>> = {}): Promise<Published> {
    const request_id = request.request_id ?? randomUUID();
    const session_id = request.session_id ?? request_id;
    await this.send(requests, session_id, { ...request, request_id, session_id }, headers);
    return { request_id, session_id };
  }

  /** Asks that a run be cancelled; its response says whether it was. */
  cancel(
    { request_id, session_id }: Published,
    reason = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const record: Cancellation = {
      request_id,
      session_id,
      reason,
      asked_at: Date.now(),
      must_exist: false,
      outcome: null,
    };
    return this.send(cancellations, session_id, record, headers);
  }

  /** Publishes a request and waits for its response. */
  async ask(request: NewRequest, options: { readonly signal?: AbortSignal } = {}): Promise<AgentResponse> {
    const request_id = request.request_id ?? randomUUID();
    const session_id = request.session_id ?? request_id;
    const records = await this.follow(['agent.responses'], options);
    try {
      await this.publish({ ...request, request_id, session_id });
      for await (const { key, record } of records)
        if (key === session_id && record.request_id === request_id) return record;
      throw new Error('The topic of responses ended.');
    } finally {
      await records.return();
    }
  }

  /**
   * The records that these topics get from now on, without a group’s offsets; resolves once what is published then is
   * among them. Leave the loop, call `return` or abort the signal to end it.
   */
  async follow<T extends Topic>(
    topics: readonly T[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Following<Received<T>>> {
    signal?.throwIfAborted();
    const ends = await this.endsOf(topics);
    const consumer = this.options.kafka.consumer({ groupId: `${this.prefix}follow-${randomUUID()}` });
    const following = new Following<Received<T>>(consumer, signal);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: topics.map((topic) => this.named(topic)) });
      consumer.on(consumer.events.CRASH, ({ payload }) => following.fail(payload.error));
      await consumer.run({
        autoCommit: false,
        eachMessage: (payload) => this.received<T>(payload, (received) => following.add(received)),
      });
      for (const end of ends) consumer.seek(end);
    } catch (error) {
      await following.return().catch(() => undefined);
      throw error;
    }
    return following;
  }

  /**
   * Reads these topics as a member of a consumer group and commits behind each record that `handle` is done with, so
   * that a system that restarts misses nothing; a record may come twice. Resolves with the function that ends it.
   */
  async consume<T extends Topic>(
    topics: readonly T[],
    options: { readonly groupId: string; readonly fromBeginning?: boolean },
    handle: (received: Received<T>) => void | Promise<void>,
  ): Promise<() => Promise<void>> {
    const { groupId, fromBeginning = true } = options;
    const consumer = this.options.kafka.consumer({ groupId: `${this.prefix}${groupId}` });
    await consumer.connect();
    await consumer.subscribe({ topics: topics.map((topic) => this.named(topic)), fromBeginning });
    await consumer.run({ eachMessage: (payload) => this.received<T>(payload, handle) });
    return () => consumer.disconnect();
  }

  async close(): Promise<void> {
    const producer = await this.producer?.catch(() => null);
    this.producer = null;
    await producer?.disconnect();
  }

  private named(topic: Topic): string {
    return `${this.prefix}${topic}`;
  }

  private async send(
    topic: Topic,
    key: string,
    record: object,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { registry, token } = this.options;
    const credential = typeof token === 'function' ? await token() : token;
    const name = this.named(topic);
    // The services register the schemas when they start.
    const value = await registry.encode(await registry.getLatestSchemaId(`${name}-value`), record);
    const all = {
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      ...headers,
    };
    await (await this.connected()).send({ topic: name, messages: [{ key, value, headers: all }] });
  }

  private async connected(): Promise<Producer> {
    this.producer ??= (async () => {
      // The place of a key is murmur2’s, as Java has it.
      const { Partitioners } = await import('kafkajs');
      const producer = this.options.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await producer.connect();
      return producer;
    })();
    try {
      return await this.producer;
    } catch (error) {
      this.producer = null;
      throw error;
    }
  }

  private async received<T extends Topic>(
    { topic, partition, message }: EachMessagePayload,
    handle: (received: Received<T>) => void | Promise<void>,
  ): Promise<void> {
    const { key, value, offset } = message;
    if (value === null) return;
    // Requests may be JSON, which begins with a brace; Avro begins with a zero byte.
    const isJson = value[0] === '{'.charCodeAt(0);
    const record: unknown = isJson ? JSON.parse(value.toString()) : await this.options.registry.decode(value);
    const named = topic.slice(this.prefix.length) as T;
    await handle({ topic: named, partition, offset, key: key?.toString() ?? null, record } as Received<T>);
  }

  /**
   * Where the partitions end now. A group that begins at the latest record looks that up later, and could miss a
   * record.
   */
  private async endsOf(topics: readonly Topic[]): Promise<readonly Position[]> {
    const admin = this.options.kafka.admin();
    await admin.connect();
    try {
      const ends: Position[] = [];
      for (const topic of topics) {
        const name = this.named(topic);
        for (const { partition, offset } of await admin.fetchTopicOffsets(name))
          ends.push({ topic: name, partition, offset });
      }
      return ends;
    } finally {
      await admin.disconnect();
    }
  }
}
