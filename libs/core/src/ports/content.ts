/** Content as a record names it. */
export interface ContentName {
  /** Keyed, per tenant: equal content of two tenants has two hashes. 64 hexadecimal digits. */
  readonly hash: string;
  /** Its media type. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** Whose content it is. It is read by a run's caller through the run, and by no other way. */
export interface ContentOwner {
  readonly tenantId: string;
  readonly runId: string;
}

/** What a store holds of a run. */
export interface StoredContent extends ContentName {
  /** Milliseconds since the epoch. */
  readonly writtenAt: number;
  /** When it may go, milliseconds since the epoch; null if never. */
  readonly expiresAt: number | null;
}

/** Content that is there. */
export interface OpenContent extends StoredContent {
  /** Its bytes, in pieces. Throws Fault('content_corrupt') as soon as they are not those that were written. */
  bytes(): AsyncIterable<Uint8Array>;
}

/** A piece of content of a run. */
export interface ContentRef extends ContentOwner {
  readonly hash: string;
}

/** A piece of content of which it is not known whether a record names it. */
export interface WrittenContent extends ContentRef {
  /** When it was written first, milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** What a sweep removed. */
export interface Swept {
  /** Past their time. */
  readonly expired: number;
  /** Named by no record. */
  readonly unnamed: number;
}

/**
 * What is too large for a record, or is no text: images, audio, files, long results. It is written before the record
 * that names it commits. Each run has its own: what one run wrote no other one reads, and it goes with the run. All
 * faults of the store are thrown as Fault('content_unreachable', retryable).
 */
export interface ContentStore {
  /**
   * Writes content for a run, and is done when it would outlive a crash. The same content again is the same name.
   * Throws ContentTooLargeError.
   */
  put(
    owner: ContentOwner,
    type: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expiresAt: number | null,
  ): Promise<ContentName>;
  /** Undefined for what the run does not have, or has no longer. */
  open(owner: ContentOwner, hash: string): Promise<OpenContent | undefined>;
  /** What the run has, in the order of the hashes. */
  list(owner: ContentOwner): Promise<readonly StoredContent[]>;
  /** Removes all that the run has. */
  remove(owner: ContentOwner): Promise<void>;
  /**
   * Removes what is past its time, and what no record names a day after it was written: its writer ended before the
   * record committed. `areNamed` says which of these are named, in their order. Rejects with the
   * signal's reason once it is aborted.
   */
  sweep(
    areNamed: (written: readonly WrittenContent[]) => Promise<readonly boolean[]>,
    signal?: AbortSignal,
  ): Promise<Swept>;
  /** Rejects while nothing can be written. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** More bytes than content may have. */
export class ContentTooLargeError extends Error {
  override readonly name = 'ContentTooLargeError';
  constructor(readonly limit: number) {
    super(`The content has more than ${limit} bytes, which is the limit.`);
  }
}
