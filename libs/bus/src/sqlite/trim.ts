import type { Store } from './store.js';

/**
 * Records deleted in one transaction, so that others write in between: what is deleted is overwritten, which takes as
 * long as writing it.
 */
export const deletedAtOnce = 100;

/**
 * Deletes from the topic's beginning up to the first record at `olderThan` or later, so that what is left has no
 * holes. Offsets are never given out again.
 */
export async function trimTopic(store: Store, topic: number, olderThan: number): Promise<number> {
  const { database } = store;
  const keep = database.prepare(
    'SELECT offset FROM records WHERE topic = ? AND timestamp >= ? ORDER BY offset LIMIT 1',
  );
  const end = database.prepare('SELECT next_offset AS offset FROM topics WHERE id = ?');
  const drop = database.prepare(
    'DELETE FROM records WHERE seq IN (SELECT seq FROM records WHERE topic = ? AND offset < ? ORDER BY offset LIMIT ?)',
  );
  for (let deleted = 0; ;) {
    const changes = await store.write('processLoss', () => {
      const bound = (keep.get(topic, olderThan) ?? end.get(topic))?.['offset'] as number;
      return Number(drop.run(topic, bound, deletedAtOnce).changes);
    });
    deleted += changes;
    if (changes < deletedAtOnce) return deleted;
    await new Promise(setImmediate);
  }
}
