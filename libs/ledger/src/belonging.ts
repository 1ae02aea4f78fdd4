/** Which log the ledger belongs to, as its own database remembers it. */
export interface Belonging {
  /** The log's id; null for a ledger that is new, the empty text for one of a version that did not remember. */
  find(): Promise<string | null>;
  /** Remembers the log, unless there is one already. */
  take(log: string): Promise<void>;
  /** Remembers this log instead of any other. */
  change(log: string): Promise<void>;
}
