import type { DatabaseSync } from 'node:sqlite';

/**
 * What the log’s next record will get, at one moment: its sequence number, and its offset in each topic, by the
 * topic’s number.
 */
interface End {
  readonly seq: number;
  readonly offsets: ReadonlyMap<number, number>;
}

/**
 * The log’s end as this process knows it. Every append wakes all who follow the log, and each would ask the file for
 * each of its topics; so it is read once for all of them, after this process has appended or has heard that another
 * one has.
 */
export interface Ends {
  /** As the file has it now. */
  read(): End;
  /**
   * As it was when something changed last, as far as this process has heard; never before the record with this
   * sequence number was there.
   */
  known(before?: number): End;
  /** Something was appended, here or by another process. */
  changed(): void;
}

export function endsOf(database: DatabaseSync): Ends {
  // One statement, so that other processes’ commits stand in both numbers or in none.
  const query = database.prepare('SELECT id, next_offset, (SELECT next_seq FROM log) AS next_seq FROM topics');
  let known: End | undefined;
  const read = (): End => {
    const rows = query.all();
    const offsets = new Map(rows.map((row) => [row['id'] as number, row['next_offset'] as number]));
    return (known = { seq: rows[0]?.['next_seq'] as number, offsets });
  };
  return {
    read,
    known: (before = 0) => (known !== undefined && known.seq >= before ? known : read()),
    changed: () => (known = undefined),
  };
}
