import type { PastLimit } from '@sluice/core';

/** The place of the first limit that does not hold, by what was counted before; -1 if all hold. */
export function firstOver(limits: readonly PastLimit[], used: readonly bigint[]): number {
  return limits.findIndex(({ adds, atMost }, place) => (used[place] ?? 0n) + adds > atMost);
}
