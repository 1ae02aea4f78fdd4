import type { Topic } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { Stored } from '../../processing/stored.js';
import { unreadable } from '../kafkajs/compressed.js';

/**
 * What kafkajs read, as the bus keeps records. No key is the empty key, and no value is the empty value, which
 * nothing can be decoded from.
 */
export function storedOf(topic: Topic, partition: number, message: KafkaMessage, clock: Clock): Stored {
  const headers = message.headers === undefined ? {} : headersOf(message.headers);
  const why = unreadable(headers);
  return {
    topic,
    partition,
    offset: Number(message.offset),
    key: message.key?.toString('utf8') ?? '',
    value: message.value ?? Buffer.alloc(0),
    headers: why === undefined ? headers : {},
    timestamp: Number(message.timestamp),
    ...(isAppended(message) ? {} : { readAt: clock.now() }),
    ...(why === undefined ? {} : { unreadable: why }),
  };
}

/** The timestamp type of a record that has the broker’s time. */
const appended = 1;

/** Whether the time of the record is the broker’s. */
function isAppended(message: KafkaMessage): boolean {
  const { batchContext } = message as { readonly batchContext?: { readonly timestampType?: number } };
  return batchContext?.timestampType === appended;
}

/** A header that is given several times counts with its last value. */
function headersOf(headers: IHeaders): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, given] of Object.entries(headers)) {
    const value = Array.isArray(given) ? given.at(-1) : given;
    if (value !== undefined) texts[name] = value.toString('utf8');
  }
  return texts;
}
