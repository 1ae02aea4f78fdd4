import { madeOfRecord, maxPayloadBytes } from '@sluice/contracts';
import type { Codec, RecordOf, Topic } from '@sluice/contracts';
import type { Outgoing } from '../port.js';
import { noLimits } from './limits.js';
import type { Limits } from './limits.js';

/** The longest key, in bytes: with the largest payload and its headers it is still within a broker's default limit. */
const maxKeyBytes = 16_384;

/** A record ready for the log. */
export interface Encoded {
  readonly topic: Topic;
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** What the value was written from, if it is shared. */
  readonly record?: object;
}

/** An output that cannot go on the log as it is: too large, or not of its topic's shape, which is a defect. */
export class OutputRefused extends Error {
  override readonly name = 'OutputRefused';
  constructor(
    readonly code: 'output_too_large' | 'unexpected',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Throws OutputRefused, naming topic and size or mistake. */
export function encodeAll(codec: Codec, messages: readonly Outgoing[], limits: Limits = noLimits): readonly Encoded[] {
  return messages.map((message) => {
    const encoded = encode(codec, message.topic, message.key, message.record, message.headers);
    const bytes = encoded.value.byteLength;
    if (bytes > maxPayloadBytes) {
      throw new OutputRefused(
        'output_too_large',
        `The output to ${message.topic} has ${bytes} bytes, more than the ${maxPayloadBytes} a record may have. Make it smaller.`,
      );
    }
    const keyBytes = Buffer.byteLength(encoded.key);
    if (keyBytes > maxKeyBytes) {
      throw new OutputRefused(
        'output_too_large',
        `The key of the output to ${message.topic} has ${keyBytes} bytes, more than the ${maxKeyBytes} a key may have. Give it a shorter session id.`,
      );
    }
    const limit = limits.of(message.topic);
    const whole = wholeSizeOf(encoded);
    if (whole > limit) {
      throw new OutputRefused(
        'output_too_large',
        `The output to ${message.topic} has ${whole} bytes with its key and headers, more than the ${limit} that the topic takes. Make it smaller, or raise the topic’s max.message.bytes.`,
      );
    }
    return encoded;
  });
}

/** What a batch has around its records, and at most what a record has around what is in it, bytes. */
const framing = 64;

/** What a record takes in a batch, bytes; rather too many than too few. */
export function sizeOf({ key, value, headers }: Encoded): number {
  let bytes = framing + value.byteLength + Buffer.byteLength(key);
  for (const [name, text] of Object.entries(headers)) bytes += 10 + Buffer.byteLength(name) + Buffer.byteLength(text);
  return bytes;
}

/** What a record takes alone: the batch around it too. */
export function wholeSizeOf(record: Encoded): number {
  return sizeOf(record) + framing;
}

/** Without the measure: a dead letter is as large as what it tells of. */
export function encode<T extends Topic>(
  codec: Codec,
  topic: T,
  key: string,
  record: RecordOf<T>,
  headers: Readonly<Record<string, string>> = {},
): Encoded {
  if (typeof key !== 'string')
    throw new OutputRefused('unexpected', `The output to ${topic} has no key. Give it the session id.`);
  try {
    const encoded = { topic, key, value: codec.encode(topic, record), headers };
    return madeOfRecord(record) === undefined ? encoded : { ...encoded, record };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new OutputRefused('unexpected', `The output to ${topic} does not have the topic’s shape: ${what}`, {
      cause: error,
    });
  }
}
