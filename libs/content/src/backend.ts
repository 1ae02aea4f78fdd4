import type { ContentOwner, ContentRef } from '@sluice/core';

/** When a piece of content is to be looked at, and why. */
export interface Mark {
  readonly ref: ContentRef;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whether a record is known to name it; else that is to be found out. */
  readonly named: boolean;
}

/** Content that is being written. One of both ends it. */
export interface Draft {
  append(bytes: Uint8Array): Promise<void>;
  /** Puts it in place, instead of what is there, and its mark with it. The mark is there before the content is. */
  finish(ref: ContentRef, head: string, writtenAt: number, mark: Mark): Promise<void>;
  abandon(): Promise<void>;
}

/** Bytes with a head, as a store's place has them. */
export interface Stored {
  readonly head: string;
  read(): AsyncIterable<Uint8Array>;
}

/**
 * A place that holds bytes. What they mean, how they are sealed and when they go, is `store.ts`'s. Heads are ASCII of
 * at most 1,000 bytes. All faults are thrown as Fault('content_unreachable').
 */
export interface Backend {
  /** 32 bytes that are the place's own, made when it is opened first. */
  ownKey(): Promise<Buffer>;
  begin(): Promise<Draft>;
  find(ref: ContentRef): Promise<Stored | undefined>;
  /** Hash and head of each. */
  list(owner: ContentOwner): Promise<readonly (readonly [string, string])[]>;
  /** Removes it, unless it was written again after that time. */
  remove(ref: ContentRef, writtenUntil: number): Promise<void>;
  removeAll(owner: ContentOwner): Promise<void>;
  /** At most so many marks whose time has come, the earliest first. */
  due(now: number, most: number): Promise<readonly Mark[]>;
  mark(mark: Mark): Promise<void>;
  unmark(mark: Mark): Promise<void>;
  /** Removes drafts that were begun before that time; their writers are gone. */
  tidy(begunUntil: number): Promise<void>;
  check(): Promise<void>;
  close(): Promise<void>;
}
