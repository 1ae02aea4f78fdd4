/** A text under a key. */
export interface StoredDocument {
  /** How often it was written, from 1. */
  readonly version: number;
  readonly text: string;
  /** When it may go, milliseconds since the epoch; null if never. */
  readonly expiresAt: number | null;
}

/**
 * What tools keep between calls, where every replica finds it. Keys and texts are well-formed and texts hold no NUL,
 * as JSON text does. All faults are thrown as Fault('ledger_unreachable', retryable).
 */
export interface Documents {
  find(key: string): Promise<StoredDocument | undefined>;
  /**
   * Writes the text as this version if the version before it is in force (none before 1); false if it is not. The
   * same text as the same version again is true and changes nothing but when it may go: a caller that does not know
   * whether it arrived asks again.
   */
  put(key: string, version: number, text: string, expiresAt: number | null): Promise<boolean>;
  /** Deletes what may go by `now`; until then it is there. */
  sweep(now: number): Promise<void>;
}

/** How many there are, and the keys of those that may go first. */
interface DocumentTally {
  readonly count: number;
  readonly first: readonly string[];
}

/** Documents that can be counted. */
export interface CountedDocuments extends Documents {
  /**
   * Of the documents whose keys begin with the prefix, a text of ASCII, and that may not go by `now`. A key of more
   * than 1,000 bytes is under no prefix.
   */
  tally(prefix: string, now: number, first: number): Promise<DocumentTally>;
}
