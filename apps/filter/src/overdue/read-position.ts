import type { Documents } from '@sluice/core';

const key = 'overdue-read-from';
/** Partitions of a cluster are not read in the order of their times: so far before what is kept a start begins. */
const marginMs = 3_600_000;
/** What moved by less is not written. */
const leastMs = 60_000;

/**
 * From when on the log is read at a start: the Toolsets before it are of runs that have ended. Without it a start would
 * read all that is as old as a run may become, two days of Toolsets. It stands in the ledger, where a writer on the
 * log cannot move it.
 */
export class ReadPosition {
  private kept = -Infinity;

  constructor(private readonly documents: Pick<Documents, 'find' | 'put'>) {}

  /** When to begin, milliseconds since the epoch: not before `earliest`. */
  async find(earliest: number): Promise<number> {
    const found = await this.documents.find(key);
    const time = found === undefined ? NaN : Number(found.text);
    return Number.isFinite(time) ? Math.max(earliest, time - marginMs) : earliest;
  }

  /** All that the log took before this time is read, and no run of it is open. */
  async keep(time: number): Promise<void> {
    if (time < this.kept + leastMs) return;
    this.kept = time;
    const found = await this.documents.find(key);
    if (found === undefined || Number(found.text) < time)
      await this.documents.put(key, (found?.version ?? 0) + 1, String(time), null);
  }
}
