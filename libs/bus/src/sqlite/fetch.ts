import type { DatabaseSync } from 'node:sqlite';
import type { Topic } from '@sluice/contracts';
import type { Stored } from '../processing/stored.js';
import type { StoredPosition, TopicIds } from './append.js';
import type { Tail } from './tail.js';

export interface Fetch {
  /** The sequence number the next record will get, read from the file now. */
  end(): number;
  /** The same as far as this process has heard of it, for who is woken by what it has not heard. */
  knownEnd(): number;
  /** The offset the next record of the topic will get. */
  endOf(topic: Topic): number;
  /** The first offset whose record the log took at `time` or later; the topic's end if there is none. */
  offsetAt(topic: Topic, time: number): number;
  /**
   * The first `limit` records at or after the cursors (an offset a topic) and below sequence number `before`, in
   * append order.
   */
  places(cursors: ReadonlyMap<Topic, number>, before: number, limit: number): readonly StoredPosition[];
  /** Undefined if it was trimmed away. */
  record(place: StoredPosition): Stored | undefined;
}

export function fetcher(database: DatabaseSync, ids: TopicIds, tail: Tail): Fetch {
  const endOf = database.prepare('SELECT next_offset FROM topics WHERE id = ?');
  const offsetAt = database.prepare(
    'SELECT offset FROM records WHERE topic = ? AND timestamp >= ? ORDER BY offset LIMIT 1',
  );
  const places = database.prepare(
    'SELECT seq, offset, timestamp FROM records WHERE topic = ? AND offset >= ? AND seq < ? ORDER BY offset LIMIT ?',
  );
  const record = database.prepare('SELECT timestamp, key, headers, value FROM records WHERE seq = ?');
  const idOf = (topic: Topic): number => ids.get(topic) as number;

  const fetch: Fetch = {
    end: () => tail.read().seq,
    knownEnd: () => tail.known().seq,
    endOf: (topic) => endOf.get(idOf(topic))?.['next_offset'] as number,
    offsetAt: (topic, time) =>
      (offsetAt.get(idOf(topic), time)?.['offset'] as number | undefined) ?? fetch.endOf(topic),
    places: (cursors, before, limit) => {
      const found: StoredPosition[] = [];
      const { offsets } = tail.known(before);
      for (const [topic, cursor] of cursors) {
        // Most topics have nothing new, and most of what is new was written here: the file is not asked for those.
        const end = offsets.get(topic) as number;
        if (cursor >= end) continue;
        const written = tail.from(topic, cursor, end, limit);
        if (written !== undefined) {
          found.push(...written.filter(({ seq }) => seq < before));
          continue;
        }
        // Commits may come between the topics' queries; what is below `before` was there for all of them.
        for (const row of places.all(idOf(topic), cursor, before, limit)) {
          const [offset, seq, timestamp] = [row['offset'], row['seq'], row['timestamp']] as [number, number, number];
          found.push({ topic, offset, seq, timestamp });
        }
      }
      if (cursors.size > 1) found.sort((a, b) => a.seq - b.seq);
      return found.slice(0, limit);
    },
    record: ({ topic, offset, seq }) => {
      const row = record.get(seq);
      if (row === undefined) return undefined;
      const headers = row['headers'] === null ? {} : (JSON.parse(row['headers'] as string) as Record<string, string>);
      return {
        topic,
        partition: 0,
        offset,
        key: row['key'] as string,
        value: row['value'] as Uint8Array,
        headers,
        timestamp: row['timestamp'] as number,
      };
    },
  };
  return fetch;
}
