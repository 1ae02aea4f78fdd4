import type { Fault } from '@sluice/core';
import type { BusLog } from '../../port.js';
import type { Encoded } from '../../processing/outputs.js';
import type { Clients } from '../kafkajs/clients.js';
import { clusterOf } from '../kafkajs/cluster.js';
import type { Cluster } from '../kafkajs/cluster.js';
import { disconnectQuietly } from '../kafkajs/disconnect.js';
import type { Names } from '../names.js';
import { produceBatchesOf } from './produce-batches.js';
import { sizeOf } from '../../processing/outputs.js';
import { IdempotentProducer } from './idempotent-producer.js';
import type { TopicLimits } from './topic-limits.js';
import { TransactionalProducer } from './transactional-producer.js';

/** What is sent together, bytes, unless one caller’s records have more. */
const batchBytes = 512 * 1024;

interface PublisherOptions {
  readonly clients: Clients;
  readonly names: Names;
  readonly limits: TopicLimits;
  readonly transactionalId: string;
  readonly transactionTimeoutMs: number;
  readonly log: BusLog;
  readonly explain: (error: unknown) => Fault;
}

interface Waiting {
  readonly records: readonly Encoded[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Fault) => void;
}

/**
 * Publishes outside of any group: what is asked while a send is under way goes out with the next one. Several records
 * of one caller need a transaction to be all or none; single ones go through an idempotent producer, which is quicker.
 */
export class Publisher {
  private readonly waiting: Waiting[] = [];
  private transactional: Promise<TransactionalProducer> | undefined;
  private idempotent: Promise<IdempotentProducer> | undefined;
  private running: Promise<void> | undefined;
  private _trouble: { readonly reason: string; readonly at: number } | undefined;

  constructor(private readonly options: PublisherOptions) {}

  /** Why the last publish failed, and when, on the monotonic clock, milliseconds; undefined once one worked again. */
  get trouble(): { readonly reason: string; readonly at: number } | undefined {
    return this._trouble;
  }

  /**
   * Resolves when all records are on the log. Rejects with Fault('storage'): then none is, or the broker never said.
   */
  add(records: readonly Encoded[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = records.reduce((sum, record) => sum + sizeOf(record), 0);
      this.waiting.push({ records, bytes, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when all that was asked for has been tried. */
  async close(): Promise<void> {
    while (this.running !== undefined) await this.running;
    await this.dropProducers();
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      await new Promise(setImmediate);
      const batch = this.take();
      try {
        await this.send(batch);
        this._trouble = undefined;
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.options.limits.learn(error);
        const fault = this.options.explain(error);
        this._trouble = { reason: fault.message, at: performance.now() };
        for (const { reject } of batch) reject(fault);
        // How far it came is unknown: the next producer fences this one and with it what it left open.
        await this.dropProducers();
      }
    }
    this.running = undefined;
  }

  private async send(batch: readonly Waiting[]): Promise<void> {
    const sends = produceBatchesOf(
      batch.flatMap(({ records }) => records),
      this.options.names,
      this.options.limits,
    );
    if (batch.every(({ records }) => records.length === 1)) {
      this.idempotent ??= this.connect(new IdempotentProducer(this.cluster()));
      await (await this.idempotent).send(sends);
      return;
    }
    const { transactionalId, transactionTimeoutMs } = this.options;
    this.transactional ??= this.connect(
      new TransactionalProducer({ cluster: this.cluster(), transactionalId, transactionTimeoutMs }),
    );
    const producer = await this.transactional;
    await producer.send(sends);
    await producer.commit();
  }

  private async connect<T extends TransactionalProducer | IdempotentProducer>(producer: T): Promise<T> {
    try {
      await producer.connect();
      return producer;
    } catch (error) {
      await disconnectQuietly(producer, this.options.log);
      throw error;
    }
  }

  private cluster(): Cluster {
    return clusterOf(this.options.clients());
  }

  private async dropProducers(): Promise<void> {
    const producers = [this.transactional, this.idempotent].filter((producer) => producer !== undefined);
    this.transactional = undefined;
    this.idempotent = undefined;
    // One that could not even connect is closed already.
    const connected = (await Promise.allSettled(producers)).filter((one) => one.status === 'fulfilled');
    await Promise.all(connected.map(({ value }) => disconnectQuietly(value, this.options.log)));
  }

  /** The oldest ones, up to the batch’s size; at least one. */
  private take(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.waiting) {
      if (count > 0 && bytes + waiting.bytes > batchBytes) break;
      bytes += waiting.bytes;
      count++;
    }
    return this.waiting.splice(0, count);
  }
}
