import { sha256 } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';
import type { EntryDraft } from './entries/draft-entry.js';

/**
 * Where a chain stands: what its partition carries from record to record (`Subscription.order`), so that it goes on
 * after restarts.
 */
export interface Head {
  /** Of the last entry; 0 before the first. */
  readonly sequence: number;
  /** The last entry’s hash, '' before the first. */
  readonly hash: string;
  /** The source offset of the last entry, -1 before the first. */
  readonly offset: number;
  /** The sequence of the last entry that a checkpoint covers. */
  readonly checkpoint: number;
  /** When that was, milliseconds since the epoch; before the first checkpoint when the chain began. */
  readonly checkpointAt: number;
}

export const noHead: Head = { sequence: 0, hash: '', offset: -1, checkpoint: 0, checkpointAt: 0 };

export function encodeHead({ sequence, hash, offset, checkpoint, checkpointAt }: Head): string {
  return JSON.stringify([1, sequence, hash, offset, checkpoint, checkpointAt]);
}

/** Null for '' and for a text that is no head. */
export function decodeHead(text: string): Head | null {
  try {
    const [version, sequence, hash, offset, checkpoint, checkpointAt] = JSON.parse(text) as unknown[];
    const numbers = [sequence, offset, checkpoint, checkpointAt];
    if (version !== 1 || typeof hash !== 'string' || !numbers.every(Number.isSafeInteger)) return null;
    return { sequence, hash, offset, checkpoint, checkpointAt } as Head;
  } catch {
    return null;
  }
}

/** The record that a chain tells of. */
export interface SourcePosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** When the log took it, milliseconds since the epoch. */
  readonly timestamp: number;
  /** '' where it could not be read. */
  readonly hash: string;
}

/** The next entry of a chain. */
export function seal(told: EntryDraft, source: SourcePosition, head: Head, at = source.timestamp): AuditRecord {
  const entry = {
    kind: told.kind,
    requestId: told.requestId.toWellFormed(),
    sessionId: told.sessionId.toWellFormed(),
    sourceTopic: source.topic,
    sourcePartition: source.partition,
    sourceOffset: source.offset,
    details: told.details,
    configVersion: told.configVersion.toWellFormed(),
    previousHash: head.hash,
    at,
    sequence: head.sequence + 1,
    sourceHash: source.hash,
  };
  return { ...entry, hash: hashOf(entry) };
}

/** The head after an entry. */
export function after(head: Head, { sequence, hash, sourceOffset }: AuditRecord): Head {
  return { ...head, sequence, hash, offset: sourceOffset };
}

/** SHA-256 over a JSON list of the hash before and the entry’s members, in this order, for ever. */
export function hashOf(entry: Omit<AuditRecord, 'hash'>): string {
  return sha256(
    JSON.stringify([
      entry.previousHash,
      entry.sequence,
      entry.kind,
      entry.requestId,
      entry.sessionId,
      entry.sourceTopic,
      entry.sourcePartition,
      entry.sourceOffset,
      entry.sourceHash,
      entry.details,
      entry.configVersion,
      entry.at,
    ]),
  );
}
