import type { DatabaseSync } from 'node:sqlite';
import { allTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import type { Encoded } from '../processing/outputs.js';

export type TopicIds = ReadonlyMap<Topic, number>;

/** The numbers the file has for the topics; to be called in a transaction, because new topics are entered. */
export function topicIds(database: DatabaseSync): TopicIds {
  const insert = database.prepare('INSERT INTO topics (name) VALUES (?) ON CONFLICT DO NOTHING');
  const find = database.prepare('SELECT id FROM topics WHERE name = ?');
  return new Map(
    allTopics.map((topic) => {
      insert.run(topic);
      return [topic, find.get(topic)?.['id'] as number];
    }),
  );
}

/** Where a record stands: in its topic, and among all records of the log. */
export interface StoredPosition {
  readonly topic: Topic;
  readonly offset: number;
  readonly seq: number;
  /** When the log took it, milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Puts records at the end of the log and returns their offsets; to be called in a transaction. */
export type Append = (records: readonly Encoded[]) => readonly number[];

/**
 * Offsets and sequence numbers are read and written back once a transaction: other processes append too. `appended`
 * hears of each record; its transaction may still fail.
 */
export function appender(
  database: DatabaseSync,
  ids: TopicIds,
  clock: Clock,
  appended: (record: Encoded, place: StoredPosition) => void,
): Append {
  const readSeq = database.prepare('SELECT next_seq FROM log');
  const writeSeq = database.prepare('UPDATE log SET next_seq = ?');
  const readOffset = database.prepare('SELECT next_offset FROM topics WHERE id = ?');
  const writeOffset = database.prepare('UPDATE topics SET next_offset = ? WHERE id = ?');
  const insert = database.prepare(
    'INSERT INTO records (seq, topic, offset, timestamp, key, headers, value) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );

  return (records) => {
    if (records.length === 0) return [];
    const timestamp = clock.now();
    const nextOffsets = new Map<number, number>();
    let seq = readSeq.get()?.['next_seq'] as number;
    const offsets = records.map((record) => {
      const { topic, key, value, headers } = record;
      const id = ids.get(topic) as number;
      const offset = nextOffsets.get(id) ?? (readOffset.get(id)?.['next_offset'] as number);
      insert.run(seq, id, offset, timestamp, key, headersText(headers), value);
      appended(record, { topic, offset, seq: seq++, timestamp });
      nextOffsets.set(id, offset + 1);
      return offset;
    });
    writeSeq.run(seq);
    for (const [id, offset] of nextOffsets) writeOffset.run(offset, id);
    return offsets;
  };
}

function headersText(headers: Readonly<Record<string, string>>): string | null {
  return Object.keys(headers).length === 0 ? null : JSON.stringify(headers);
}
