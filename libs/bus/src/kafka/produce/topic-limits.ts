import type { Topic } from '@sluice/contracts';
import type { Limits } from '../../processing/limits.js';
import { causes } from '../kafkajs/failure.js';
import type { Names } from '../names.js';

/** A broker refused a batch for its size. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly retriable = false;

  constructor(
    readonly topic: string,
    readonly records: number,
    readonly bytes: number,
    cause: Error,
  ) {
    super(`${topic} does not take ${bytes} bytes at once (${cause.message}). Raise its max.message.bytes.`, { cause });
  }
}

/** MESSAGE_TOO_LARGE and RECORD_LIST_TOO_LARGE. */
export const tooLargeCodes: ReadonlySet<number> = new Set([10, 18]);

/**
 * How large the records of each topic may be. Its setting says so where this process may ask for it; what a broker
 * refuses says so too, so that no record is sent for ever that no broker takes.
 */
export class TopicLimits implements Limits {
  private set: ReadonlyMap<Topic, number> = new Map();
  private readonly learned = new Map<Topic, number>();
  private readonly single = new Set<Topic>();

  constructor(
    private readonly names: Names,
    /** Called when a broker refused what the settings allow: they may have changed. */
    private readonly surprised: () => void = () => undefined,
  ) {}

  of(topic: Topic): number {
    return Math.min(this.set.get(topic) ?? Infinity, this.learned.get(topic) ?? Infinity);
  }

  /** Of what is sent together, bytes; a record alone may have more. */
  together(topic: Topic): number {
    return this.single.has(topic) ? 0 : this.of(topic);
  }

  /** What the topics’ settings say now, of batches. What was learned before a setting changed is forgotten. */
  areSet(limits: ReadonlyMap<Topic, number>): void {
    for (const [topic, limit] of limits) {
      if (this.set.get(topic) === limit) continue;
      this.learned.delete(topic);
      this.single.delete(topic);
    }
    this.set = limits;
  }

  /** Learns from what a send failed with. True if the same records, one by one, may be taken. */
  learn(error: unknown): boolean {
    const refusal = causes(error).find((cause) => cause instanceof TooLarge);
    const topic = refusal === undefined ? undefined : this.names.topicOf(refusal.topic);
    if (refusal === undefined || topic === undefined) return false;
    this.surprised();
    if (refusal.records > 1) this.single.add(topic);
    else this.learned.set(topic, Math.min(this.of(topic), refusal.bytes - 1));
    return refusal.records > 1;
  }
}
