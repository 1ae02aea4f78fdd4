/** Rows that a sweep deletes in one transaction, so that claims are not held up by what has expired. */
export const portion = 500;

/** The keys of the next portion of a table's rows that have expired at the time that the placeholder stands for. */
export function expired(table: string, column: string): string {
  return `SELECT key FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ${portion}`;
}

/** Repeats a sweep of one portion until there is none left; returns how many rows went. */
export async function inPortions(sweep: () => Promise<number | bigint>): Promise<number> {
  for (let swept = 0; ;) {
    const rows = Number(await sweep());
    swept += rows;
    if (rows < portion) return swept;
  }
}
