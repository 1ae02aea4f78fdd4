import type { RequestWarning } from '@sluice/core';

/** An answer with what its caller is warned of; the answer itself where that is nothing. */
export function withWarnings(answer: object, warnings: readonly RequestWarning[]): object {
  return warnings.length === 0 ? answer : { ...answer, warnings };
}
