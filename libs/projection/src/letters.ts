import type { Incoming } from '@sluice/bus';
import { indexed } from './indexed.js';
import { statement } from './stores/store.js';
import type { Statement } from './stores/store.js';

const put = `INSERT INTO letters (id, failed_at, topic, partition, record_offset, service, session_id, code, reason, attempts, taken_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** A dead letter, without what it holds: that is read from the log. */
export function letterStatement({ record, partition, offset }: Incoming<'agent.dead-letters'>): Statement {
  const { failedAt, topic, group, key, code, reason, attempts, timestamp } = record;
  return statement(
    ...([put, `${partition}/${offset}`, failedAt, indexed(topic), record.partition, record.offset] as const),
    ...[indexed(group), indexed(key), indexed(code), reason, attempts, timestamp],
  );
}

/** Forgets letters from before this time. */
export function forgetLetters(before: number): Statement {
  return statement('DELETE FROM letters WHERE failed_at < ?', before);
}
