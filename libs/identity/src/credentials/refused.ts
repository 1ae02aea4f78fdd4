import type { Authentication } from '@sluice/core';

/** A credential that does not hold. `problem` repeats nothing of it. */
export function refused(problem: string): Authentication & { readonly ok: false } {
  return { ok: false, message: `The credential is refused: ${problem}.` };
}
