import { setTimeout as sleep } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';
import type { Kafka, Producer } from 'kafkajs';
import type { Asked, Spoiled } from '../check/observed.ts';
import type { Random } from '../random.ts';
import { nextRun, requestOf } from './next-run.ts';

const waveMs = 300;
const wave = 6;
/** How much is asked for while a fault goes on and what was to be asked for at least is asked. */
const lastingWave = 2;
/**
 * With the largest results that its calls may have, a run's records are just below the megabyte that a record may
 * have, bytes. A longer question leaves no room for a call.
 */
const almostLargest = [700_000, 900_000] as const;
/** A broker that was killed on a busy machine takes minutes to come back. */
const patienceMs = 300_000;

/**
 * What is asked of the system, and what is put on its log to be refused. Publishes past the lines, as an upstream
 * system does.
 */
export class Load {
  readonly asked: Asked[] = [];
  readonly spoiled: Spoiled[] = [];
  private readonly producer: Producer;
  private readonly prefix: string;

  constructor(kafka: Kafka, prefix: string) {
    this.prefix = prefix;
    this.producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      idempotent: true,
      maxInFlightRequests: 1,
    });
  }

  open(): Promise<void> {
    return this.producer.connect();
  }

  close(): Promise<void> {
    return this.producer.disconnect();
  }

  /**
   * Asks for so many runs, a few at a time, and for fewer at a time until it is over. Some share a session, some are
   * asked for twice, and those of a wave come in any order.
   */
  async ask(least: number, random: Random, isOver: () => boolean = () => true, onlyCalls = false): Promise<void> {
    for (let left = least; left > 0 || !isOver(); left -= wave) {
      const length = left > 0 ? Math.min(wave, left) : lastingWave;
      const runs = Array.from({ length }, () => this.newRun(random, onlyCalls));
      const twice = runs.filter(({ repeated }) => repeated);
      await this.publish(random.shuffled([...runs, ...twice]));
      await sleep(waveMs);
    }
  }

  /** Asks for three runs whose records come close to the largest that there may be. */
  async askLarge(random: Random): Promise<void> {
    for (let count = 3; count > 0; count--) await this.insist(this.newRun(random), random.between(...almostLargest));
  }

  /** Puts bytes on the log as they are; returns where they stand. */
  async put(topic: string, key: string, value: Buffer): Promise<{ partition: number; offset: number }> {
    const [sent] = await this.producer.send({ topic: this.prefix + topic, messages: [{ key, value }] });
    return { partition: sent?.partition ?? -1, offset: Number(sent?.baseOffset ?? -1) };
  }

  private newRun(random: Random, onlyCalls = false): Asked {
    const run = nextRun(this.asked, random, onlyCalls);
    this.asked.push(run);
    return run;
  }

  private async publish(runs: readonly Asked[]): Promise<void> {
    // One by one: of several that go to different brokers, kafkajs 2.2.4 may lose some when one of these goes away.
    for (const run of runs) await this.insist(run);
  }

  /**
   * Asks until the broker has said that it has it, however long that one takes to come back; then it may have it
   * twice.
   */
  private async insist(run: Asked, longer?: number): Promise<void> {
    const message = { key: run.sessionId, value: requestOf(run, longer) };
    for (const until = Date.now() + patienceMs; ; await sleep(waveMs)) {
      try {
        await this.producer.send({ topic: this.prefix + run.topic, messages: [message] });
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
        const place = this.asked.findIndex(({ runId }) => runId === run.runId);
        this.asked[place] = { ...run, repeated: true };
      }
    }
  }
}
