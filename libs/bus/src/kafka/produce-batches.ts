import type { Message, TopicMessages } from 'kafkajs';
import type { Encoded } from '../processing/outputs.js';
import type { Names } from './names.js';

/** Of one partition in one send, bytes, unless it is a single record: kafkajs makes one batch of them, and a broker refuses batches above 1,048,588. */
const sendBytes = 512 * 1024;
/** What a record’s own framing takes at most, bytes. */
const framing = 64;

/**
 * The records in sends that a broker takes, in their order. The bytes are counted by topic: the records of a
 * partition’s sessions mostly go to one partition anyway, and a topic’s sum is never less than a partition’s.
 */
export function produceBatchesOf(records: readonly Encoded[], names: Names): readonly (readonly TopicMessages[])[] {
  const sends: TopicMessages[][] = [];
  let open = new Map<string, { bytes: number; messages: Message[] }>();
  const close = (): void => {
    if (open.size > 0) sends.push([...open].map(([topic, { messages }]) => ({ topic, messages })));
    open = new Map();
  };
  for (const record of records) {
    const topic = names.topic(record.topic);
    const bytes = sizeOf(record);
    const there = open.get(topic);
    if (there !== undefined && there.bytes + bytes > sendBytes) close();
    const target = open.get(topic) ?? { bytes: 0, messages: [] };
    target.bytes += bytes;
    target.messages.push(messageOf(record));
    open.set(topic, target);
  }
  close();
  return sends;
}

/** What a record takes in a batch, bytes; rather too many than too few. */
export function sizeOf({ key, value, headers }: Encoded): number {
  let bytes = framing + value.byteLength + Buffer.byteLength(key);
  for (const [name, text] of Object.entries(headers)) bytes += 10 + Buffer.byteLength(name) + Buffer.byteLength(text);
  return bytes;
}

function messageOf({ key, value, headers }: Encoded): Message {
  return { key, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength), headers: { ...headers } };
}
