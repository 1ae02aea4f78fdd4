import type { AgentResponse } from '@sluice/contracts';

/** How sure the answer of a run can be. */
interface Surety {
  /** From 0 to 1; null where nothing was measured. */
  readonly confidence: number | null;
  /** Why it is an answer by what there is, since plans failed; null for any other answer. */
  readonly partial: string | null;
}

/** What the strategy of a run says of its answer, as those who asked read it; nothing of an error. */
export function suretyOf({ answer, decision }: Pick<AgentResponse, 'answer' | 'decision'>): Surety {
  if (answer === null || decision === null) return { confidence: null, partial: null };
  // Earlier versions marked such an answer by its action alone.
  const isPartial = decision.partial || decision.action === 'partial';
  return { confidence: decision.confidence, partial: isPartial ? decision.reason : null };
}
