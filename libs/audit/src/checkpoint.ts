import type { JsonObject, Signatures, Verifier } from '@sluice/core';
import type { AuditRecord } from '@sluice/contracts';
import { hashOf, seal } from './chain.js';
import type { Head } from './chain.js';
import { chainOf } from './sources.js';

export const checkpointKind = 'checkpoint';

/** What the audit signs: that the chain’s entry of this sequence has this hash, and with it all entries before. */
export interface Checkpoint {
  readonly chain: string;
  readonly sequence: number;
  readonly head: string;
  /** Of the last record that the chain tells of. */
  readonly source_offset: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type Place = { readonly topic: string; readonly partition: number };

/** A signature over where the chain stands. Rejects if this process has no key of the audit. */
export function signHead(place: Place, head: Head, at: number, signatures: Signatures): Promise<string> {
  const { sequence, hash, offset } = head;
  const checkpoint: Checkpoint = { chain: chainOf(place), sequence, head: hash, source_offset: offset, at };
  return signatures.sign('audit', { ...checkpoint });
}

/** A checkpoint as the chain’s next entry: taking it out would show. */
export function checkpointEntry(place: Place, head: Head, at: number, signature: string): AuditRecord {
  return seal(told(signature), { ...place, offset: head.offset, timestamp: at, hash: '' }, head);
}

/** A checkpoint beside the chain, of a chain that nothing is added to for a while. */
export function checkpointBeside(place: Place, head: Head, at: number, signature: string): AuditRecord {
  const beside = { ...checkpointEntry(place, head, at, signature), sequence: 0 };
  return { ...beside, hash: hashOf(beside) };
}

/**
 * Whether the record, one of the chain’s entries or one beside it, is nothing but what was signed, so that the
 * checkpoint covers itself too.
 */
export function isNothingElse(record: AuditRecord, { sequence, head, source_offset: offset, at }: Checkpoint): boolean {
  const place = { topic: record.sourceTopic, partition: record.sourcePartition };
  const signed: Head = { sequence, hash: head, offset, checkpoint: 0, checkpointAt: 0 };
  const written = record.sequence === 0 ? checkpointBeside : checkpointEntry;
  const { hash } = written(place, signed, at, signatureOf(record) ?? '');
  return hash === record.hash && hash === hashOf(record);
}

/** The signature that a checkpoint’s record holds; null if it holds none. */
export function signatureOf({ details }: Pick<AuditRecord, 'details'>): string | null {
  try {
    const { signature } = JSON.parse(details) as { signature?: unknown };
    return typeof signature === 'string' ? signature : null;
  } catch {
    return null;
  }
}

/** What was signed; null if the audit did not sign it. */
export async function openCheckpoint(signature: string | null, signatures: Verifier): Promise<Checkpoint | null> {
  const claims = await signatures.verify('audit', signature);
  return claims !== null && isCheckpoint(claims) ? (claims as unknown as Checkpoint) : null;
}

function isCheckpoint({ chain, sequence, head, source_offset: offset, at }: JsonObject): boolean {
  const texts = typeof chain === 'string' && typeof head === 'string';
  return texts && [sequence, offset, at].every(Number.isSafeInteger);
}

function told(signature: string) {
  const details = JSON.stringify({ signature });
  return { kind: checkpointKind, requestId: '', sessionId: '', configVersion: '', details };
}
