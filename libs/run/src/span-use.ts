import { decimalOf } from '@sluice/core';
import type { CountedSpan, PastCalls, SpanLimit } from '@sluice/core';
import { usedOf } from './past.js';

/** A limit with a span that a rule holds calls against, on the wire. */
export interface SpanUse extends SpanLimit {
  /** How much of it was used before, as a decimal number; null where that is not known, or not for who asks. */
  readonly used: string | null;
}

/**
 * How much of these limits was used. Nothing is read where none is there, or none may be known. `past` is null where it
 * cannot be read.
 */
export async function usesOf(
  spans: readonly CountedSpan[],
  at: number,
  past: Pick<PastCalls, 'read'> | null,
  mayKnow: (limit: SpanLimit) => boolean,
): Promise<readonly SpanUse[]> {
  const known = past === null ? [] : spans.filter(({ limit }) => mayKnow(limit));
  const amounts = past === null || known.length === 0 ? [] : await usedOf({ limits: known }, at, past);
  const used = new Map(known.map((span, place) => [span, amounts[place] ?? 0n]));
  return spans.map((span) => {
    const amount = used.get(span);
    return { ...span.limit, used: amount === undefined ? null : decimalOf(amount) };
  });
}
