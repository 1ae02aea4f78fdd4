import { isJsonObject } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { readWritten } from '../calls.js';

/** How a run goes on behind a step whose result is below its threshold. */
const reviewDecisions = ['accept', 'replan', 'stop'] as const;
type ReviewDecision = (typeof reviewDecisions)[number];

/** What a model, or a person, says of a step’s result: a call of the tool that takes plans. */
export interface PlanReview {
  /** Null where it says how good the result is, and nothing of what follows. */
  readonly decision: ReviewDecision | null;
  /** From 0 to 1. */
  readonly confidence: number | null;
  readonly why: string;
}

/** The review that these arguments hold; null where they hold none. */
export function reviewOf(args: JsonValue | undefined): PlanReview | null {
  const review = isJsonObject(args) ? args['review'] : undefined;
  if (!isJsonObject(review)) return null;
  const { decision, confidence, why } = review;
  return {
    decision: reviewDecisions.find((one) => one === decision) ?? null,
    confidence: typeof confidence === 'number' ? Math.min(1, Math.max(0, confidence)) : null,
    why: typeof why === 'string' ? why : '',
  };
}

export function reviewIn(text: string): PlanReview | null {
  return reviewOf(readWritten(text));
}
