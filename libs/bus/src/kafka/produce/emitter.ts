import { setTimeout as delay } from 'node:timers/promises';
import type { Message, Producer } from 'kafkajs';
import type { BusLog } from '../../port.js';
import type { Encoded } from '../../processing/outputs.js';
import type { Clients } from '../kafkajs/clients.js';
import { clientRetry } from '../kafkajs/clients.js';
import { disconnectQuietly } from '../kafkajs/disconnect.js';
import type { Names } from '../names.js';
import type { TopicLimits } from './topic-limits.js';
import { choosePartition } from './partitioner.js';
import { produceBatchesOf } from './produce-batches.js';
import { sizeOf } from '../../processing/outputs.js';

/** Progress that waits for the broker, at most, bytes; what comes beyond it is lost, as best effort may be. */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * What comes so soon after another goes with it, milliseconds: a call’s begin and its end are mostly one request,
 * beside the transaction.
 */
const lingerMs = 5;

/** Progress, best effort: sent soon, in batches, to the leader only; what cannot be sent is counted and forgotten. */
export class Emitter {
  private waiting: Encoded[] = [];
  private bytes = 0;
  private _lost = 0;
  private failing = false;
  private producer: Promise<Producer> | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly clients: Clients,
    private readonly names: Names,
    private readonly limits: TopicLimits,
    private readonly log: BusLog,
  ) {}

  /** Records that were emitted and never sent. */
  get lost(): number {
    return this._lost;
  }

  add(records: readonly Encoded[]): void {
    if (this.bytes > maxWaitingBytes) {
      this.lose(records.length, new Error('It comes faster than it can be sent.'));
      return;
    }
    this.waiting.push(...records);
    this.bytes += records.reduce((sum, record) => sum + sizeOf(record), 0);
    this.running ??= this.run();
  }

  /** Counts what is lost; the first of a row of losses is logged. */
  lose(records: number, error: unknown): void {
    this._lost += records;
    if (!this.failing) this.log('warn', 'Progress was lost.', { error: String(error) });
    this.failing = true;
  }

  async close(): Promise<void> {
    await this.running;
    await this.drop();
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      await delay(lingerMs);
      const records = this.waiting;
      this.waiting = [];
      this.bytes = 0;
      let sent = 0;
      try {
        this.producer ??= this.connect();
        const producer = await this.producer;
        for (const topics of produceBatchesOf(records, this.names, this.limits)) {
          const topicMessages = topics.map(({ topic, records: of }) => ({ topic, messages: of.map(messageOf) }));
          await producer.sendBatch({ acks: 1, topicMessages });
          sent += topics.reduce((sum, { records: of }) => sum + of.length, 0);
        }
        this.failing = false;
      } catch (error) {
        this.lose(records.length - sent, error);
        await this.drop();
      }
    }
    this.running = undefined;
  }

  private async connect(): Promise<Producer> {
    const producer = this.clients().producer({
      allowAutoTopicCreation: false,
      createPartitioner: () => choosePartition,
      retry: clientRetry,
    });
    await producer.connect();
    return producer;
  }

  private async drop(): Promise<void> {
    const [connected] = await Promise.allSettled([this.producer]);
    this.producer = undefined;
    // One that could not even connect was counted when it failed.
    if (connected.status === 'fulfilled' && connected.value !== undefined)
      await disconnectQuietly(connected.value, this.log);
  }
}

function messageOf({ key, value, headers }: Encoded): Message {
  return { key, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength), headers: { ...headers } };
}
