/** A value of a column, or of a placeholder. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** SQL with `?` for each value. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

/**
 * Where the tables are. The statements are the same everywhere; what is written in one call is written whole or not
 * at all.
 */
export interface Store {
  all(text: string, values: readonly Value[]): Promise<readonly Row[]>;
  write(statements: readonly Statement[]): Promise<void>;
  /**
   * Resolves when this process is the one that keeps the tables up to date, with a function that ends that. Where no
   * other process has the tables, that is at once. `lost` is called when it is so no longer.
   */
  lead(signal: AbortSignal, lost: (error: Error) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Rows of a table that one write deletes at most. */
export const forgottenAtOnce = 500;

export function statement(text: string, ...values: readonly Value[]): Statement {
  return { text, values };
}
