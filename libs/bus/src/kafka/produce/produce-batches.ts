import { sizeOf } from '../../processing/outputs.js';
import type { Encoded } from '../../processing/outputs.js';
import type { Names } from '../names.js';
import type { TopicLimits } from './topic-limits.js';

/**
 * Of one partition in one send, bytes, unless it is a single record: they are one batch, and a broker refuses batches
 * above 1,048,588.
 */
const sendBytes = 512 * 1024;

/** Records for one topic, by its name on the broker. */
export interface TopicRecords {
  readonly topic: string;
  readonly records: readonly Encoded[];
}

/**
 * The records in sends that a broker takes, in their order. The bytes are counted by topic: the records of a
 * partition’s sessions mostly go to one partition anyway, and a topic’s sum is never less than a partition’s.
 */
export function produceBatchesOf(
  records: readonly Encoded[],
  names: Names,
  limits?: Pick<TopicLimits, 'together'>,
): readonly (readonly TopicRecords[])[] {
  const sends: TopicRecords[][] = [];
  let open = new Map<string, { bytes: number; records: Encoded[] }>();
  const close = (): void => {
    if (open.size > 0) sends.push([...open].map(([topic, { records: ofTopic }]) => ({ topic, records: ofTopic })));
    open = new Map();
  };
  for (const record of records) {
    const topic = names.topic(record.topic);
    const bytes = sizeOf(record);
    const there = open.get(topic);
    if (there !== undefined && there.bytes + bytes > Math.min(sendBytes, limits?.together(record.topic) ?? Infinity))
      close();
    const target = open.get(topic) ?? { bytes: 0, records: [] };
    target.bytes += bytes;
    target.records.push(record);
    open.set(topic, target);
  }
  close();
  return sends;
}
