import type { Triple } from './terms.js';

/** A change as it was made: only what it really added and removed. */
export interface JournalEntry {
  readonly key: string;
  readonly add: readonly Triple[];
  readonly remove: readonly Triple[];
  /** Statements added and removed, without the names that were added along. */
  readonly added: number;
  readonly removed: number;
}

/**
 * Every change ever made to the graph, in the order in which they were made: what is in it has happened, for
 * everybody who shares it. Throws ToolUnavailableError if it cannot be read, or if nothing was written.
 */
export interface ChangeJournal {
  /** The next entries behind the first `seen`, in order; none if there are no more. */
  after(seen: number): Promise<readonly JournalEntry[]>;
  /**
   * Writes the entry behind the first `seen`; false if another process wrote one there. It is kept when this
   * resolves. Throws ToolOutcomeLostError if it may be there or not.
   */
  append(seen: number, entry: JournalEntry): Promise<boolean>;
  close(): Promise<void>;
}
