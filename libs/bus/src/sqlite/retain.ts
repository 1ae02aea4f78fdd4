import type { Store } from './store.js';
import { deletedAtOnce } from './trim.js';

/** Records looked at in one go, so that the event loop goes round in between. */
const page = 1_000;

/** What a topic keeps; what a group has not finished is kept in any case. */
export interface Kept {
  /** Milliseconds since the epoch: what the log took before may go. */
  readonly olderThan?: number;
  /** Of keys, headers and values: what is older than this many bytes may go. */
  readonly bytes?: number;
}

/** Deletes the topic’s oldest records that need not be kept; returns how many. Offsets are never given out again. */
export async function retain(store: Store, topic: number, { olderThan, bytes }: Kept): Promise<number> {
  const byAge = olderThan === undefined ? 0 : firstNotOlder(store, topic, olderThan);
  const bySize = bytes === undefined ? 0 : await firstWithin(store, topic, bytes);
  const { database } = store;
  // Asked in each transaction: a group may have come.
  const unfinished = database.prepare('SELECT min(prefix) AS offset FROM positions WHERE topic = ?');
  const drop = database.prepare(
    'DELETE FROM records WHERE seq IN (SELECT seq FROM records WHERE topic = ? AND offset < ? ORDER BY offset LIMIT ?)',
  );
  const wanted = Math.max(byAge, bySize);
  for (let deleted = 0; ;) {
    const changes = await store.write('processLoss', () => {
      const least = unfinished.get(topic)?.['offset'] as number | null;
      return Number(drop.run(topic, Math.min(wanted, least ?? wanted), deletedAtOnce).changes);
    });
    deleted += changes;
    if (changes < deletedAtOnce) return deleted;
    await new Promise(setImmediate);
  }
}

/** The offset of the first record that the log took at the time or later; the topic’s end if there is none. */
function firstNotOlder({ database }: Store, topic: number, time: number): number {
  const keep = database.prepare(
    'SELECT offset FROM records WHERE topic = ? AND timestamp >= ? ORDER BY offset LIMIT 1',
  );
  const end = database.prepare('SELECT next_offset AS offset FROM topics WHERE id = ?');
  return (keep.get(topic, time) ?? end.get(topic))?.['offset'] as number;
}

/** The offset from which on the records have together at most so many bytes. */
async function firstWithin({ database }: Store, topic: number, bytes: number): Promise<number> {
  const find = database.prepare(
    'SELECT offset, length(key) + coalesce(length(headers), 0) + length(value) AS bytes FROM records WHERE topic = ? AND offset < ? ORDER BY offset DESC LIMIT ?',
  );
  let left = bytes;
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const rows = find.all(topic, before, page);
    for (const row of rows) {
      left -= row['bytes'] as number;
      if (left < 0) return (row['offset'] as number) + 1;
    }
    if (rows.length < page) return 0;
    before = rows.at(-1)?.['offset'] as number;
    await new Promise(setImmediate);
  }
}
