import { createHash } from 'node:crypto';
import type { ContentOwner } from '@sluice/core';
import type { Mark } from './backend.js';

/** What a run's content lies under. Ids of runs are callers' texts, which no file system and no index takes as is. */
export function ownerKey({ tenantId, runId }: ContentOwner): string {
  return createHash('sha256')
    .update(JSON.stringify([tenantId, runId]))
    .digest('hex');
}

export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** A name for a mark, by which marks sort as they fall due. */
export function markName(mark: Mark): string {
  const { ref, at, named } = mark;
  const time = String(at).padStart(16, '0');
  return `${time}-${named ? 'kept' : 'new'}-${ownerKey(ref).slice(0, 32)}-${ref.hash}`;
}

export function isMarkName(text: string): boolean {
  return /^\d{16}-/.test(text);
}

/** The time in such a name. */
export function timeIn(name: string): number {
  return Number(name.slice(0, 16));
}

export function writeMark({ ref: { tenantId, runId, hash }, at, named }: Mark): string {
  return JSON.stringify({ tenantId, runId, hash, at, named });
}

export function readMark(text: string): Mark {
  const { tenantId, runId, hash, at, named } = JSON.parse(text) as Mark['ref'] & Omit<Mark, 'ref'>;
  return { ref: { tenantId, runId, hash }, at, named };
}
