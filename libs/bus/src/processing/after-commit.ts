import type { BusLog } from '../port.js';
import type { Finished } from './handling.js';

/**
 * Runs what the records’ handlers left for after the commit, in order. What throws is logged: the record is through
 * whatever becomes of its metrics.
 */
export function runAfterCommit(records: readonly Finished[], group: string, log: BusLog): void {
  for (const { topic, offset, afterCommit } of records) {
    for (const action of afterCommit) {
      try {
        action();
      } catch (error) {
        log('error', 'What was to run after a commit failed; the commit stands.', {
          group,
          topic,
          offset,
          error: String(error),
        });
      }
    }
  }
}
