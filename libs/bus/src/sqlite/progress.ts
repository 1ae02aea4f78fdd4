import type { DatabaseSync } from 'node:sqlite';
import type { Topic } from '@sluice/contracts';
import { Position } from '../processing/position.js';
import type { TopicIds } from './append.js';

/** What a group has finished, a position a topic. */
export interface Progress {
  of(topic: Topic): Position;
  /** In a transaction. Repeatable until `saved` says that the transaction is on the log. */
  save(): void;
  saved(): void;
}

/** To be called in a transaction, because a group that is new is entered at the beginning of its topics. */
export function loadProgress(database: DatabaseSync, ids: TopicIds, group: string, topics: readonly Topic[]): Progress {
  const enter = database.prepare('INSERT INTO positions VALUES (?, ?, 0) ON CONFLICT DO NOTHING');
  const prefix = database.prepare('SELECT prefix FROM positions WHERE consumer_group = ? AND topic = ?');
  const ranges = database.prepare('SELECT first, past FROM finished WHERE consumer_group = ? AND topic = ?');
  const move = database.prepare(
    'UPDATE positions SET prefix = ? WHERE consumer_group = ? AND topic = ? AND prefix <> ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO finished VALUES (?, ?, ?, ?)');
  const drop = database.prepare('DELETE FROM finished WHERE consumer_group = ? AND topic = ? AND first = ?');

  const positions = new Map<Topic, { readonly id: number; readonly position: Position }>();
  for (const topic of topics) {
    const id = ids.get(topic) as number;
    enter.run(group, id);
    const position = new Position(prefix.get(group, id)?.['prefix'] as number);
    for (const row of ranges.all(group, id)) position.finish(row['first'] as number, row['past'] as number);
    position.saved();
    positions.set(topic, { id, position });
  }

  return {
    of: (topic) => (positions.get(topic) as { position: Position }).position,
    save: () => {
      for (const { id, position } of positions.values()) {
        move.run(position.prefix, group, id, position.prefix);
        for (const { first, past } of position.changes()) {
          if (past === null) drop.run(group, id, first);
          else put.run(group, id, first, past);
        }
      }
    },
    saved: () => {
      for (const { position } of positions.values()) position.saved();
    },
  };
}
