import type { DatabaseSync } from 'node:sqlite';
import type { Topic } from '@sluice/contracts';
import { Position } from '../processing/position.js';
import type { TopicIds } from './append.js';

/** What a group has finished, a position a topic. */
export interface Progress {
  of(topic: Topic): Position;
  /** What the topic’s one partition carries, as it is on the log or will be with the next `save`. */
  carried(topic: Topic): string;
  carry(topic: Topic, text: string): void;
  /** In a transaction. Repeatable until `saved` says that the transaction is on the log. */
  save(): void;
  saved(): void;
}

/** How far a group has come in a topic. */
interface Row {
  readonly prefix: number;
  readonly carried: string;
}

/** What a group has finished of a topic, what the file has of that, and what was written last, perhaps in vain. */
interface Kept {
  readonly id: number;
  readonly position: Position;
  carried: string;
  stored: Row;
  written: Row;
}

/**
 * How far a group has come in a topic, as the log has it; from the first record that is still there if it never
 * committed.
 */
export function positionOf(database: DatabaseSync, topic: number, group: string): Position {
  const row = database.prepare('SELECT prefix FROM positions WHERE consumer_group = ? AND topic = ?').get(group, topic);
  const first = database.prepare('SELECT min(offset) AS first FROM records WHERE topic = ?').get(topic)?.['first'];
  const next = database.prepare('SELECT next_offset FROM topics WHERE id = ?').get(topic)?.['next_offset'];
  const position = new Position(Math.max(Number(row?.['prefix'] ?? 0), Number(first ?? next ?? 0)));
  const ranges = database.prepare('SELECT first, past FROM finished WHERE consumer_group = ? AND topic = ?');
  for (const range of ranges.all(group, topic)) position.finish(Number(range['first']), Number(range['past']));
  return position;
}

/** To be called in a transaction, because a group that is new is entered at the beginning of its topics. */
export function loadProgress(database: DatabaseSync, ids: TopicIds, group: string, topics: readonly Topic[]): Progress {
  const enter = database.prepare(
    'INSERT INTO positions (consumer_group, topic, prefix) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
  );
  const prefix = database.prepare('SELECT prefix, carried FROM positions WHERE consumer_group = ? AND topic = ?');
  const ranges = database.prepare('SELECT first, past FROM finished WHERE consumer_group = ? AND topic = ?');
  const move = database.prepare(
    'UPDATE positions SET prefix = ?1, carried = ?4 WHERE consumer_group = ?2 AND topic = ?3 AND (prefix <> ?1 OR carried <> ?4)',
  );
  const put = database.prepare('INSERT OR REPLACE INTO finished VALUES (?, ?, ?, ?)');
  const drop = database.prepare('DELETE FROM finished WHERE consumer_group = ? AND topic = ? AND first = ?');

  const positions = new Map<Topic, Kept>();
  for (const topic of topics) {
    const id = ids.get(topic) as number;
    enter.run(group, id);
    const row = prefix.get(group, id);
    const position = new Position(row?.['prefix'] as number);
    for (const { first, past } of ranges.all(group, id)) position.finish(first as number, past as number);
    position.saved();
    const carried = row?.['carried'] as string;
    const stored = { prefix: row?.['prefix'] as number, carried };
    positions.set(topic, { id, position, carried, stored, written: stored });
  }

  const of = (topic: Topic) => positions.get(topic) as { position: Position; carried: string };

  return {
    of: (topic) => of(topic).position,
    carried: (topic) => of(topic).carried,
    carry: (topic, text) => (of(topic).carried = text),
    save: () => {
      for (const kept of positions.values()) {
        const { id, position, carried, stored } = kept;
        // A group has many topics, and most have nothing new.
        if (position.prefix !== stored.prefix || carried !== stored.carried)
          move.run(position.prefix, group, id, carried);
        kept.written = { prefix: position.prefix, carried };
        for (const { first, past } of position.changes()) {
          if (past === null) drop.run(group, id, first);
          else put.run(group, id, first, past);
        }
      }
    },
    saved: () => {
      for (const kept of positions.values()) {
        kept.position.saved();
        kept.stored = kept.written;
      }
    },
  };
}
