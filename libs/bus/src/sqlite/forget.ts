import type { DatabaseSync } from 'node:sqlite';
import type { Topic } from '@sluice/contracts';
import { blanked } from '../processing/credential.js';
import type { TopicIds } from './append.js';

/** Blanks the credential of a record; to be called in a transaction. */
export type Forget = (topic: Topic, offset: number, sender: string | null) => void;

export function forgetter(database: DatabaseSync, ids: TopicIds): Forget {
  const read = database.prepare('SELECT seq, headers FROM records WHERE topic = ? AND offset = ?');
  const write = database.prepare('UPDATE records SET headers = ? WHERE seq = ?');
  return (topic, offset, sender) => {
    const row = read.get(ids.get(topic) as number, offset);
    if (row === undefined || row['headers'] === null) return;
    const left = blanked(JSON.parse(row['headers'] as string) as Record<string, string>, sender);
    if (left !== null) write.run(JSON.stringify(left), row['seq'] as number);
  };
}
