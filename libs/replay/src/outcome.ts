import type { Topic } from '@sluice/contracts';
import type { Difference } from './differences.js';

/** What is missing to decide once more; the sentence says it. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable';
}

export type Outcome =
  | { readonly kind: 'equal' }
  /** `was` is what is recorded, `is` what was derived. */
  | { readonly kind: 'different'; readonly differences: readonly Difference[] }
  | { readonly kind: 'not_replayable'; readonly reason: string };

/** What was decided once more. */
export const decisionKinds = [
  'tools',
  'end',
  'turn',
  'steps',
  'approval asked',
  'approval judged',
  'agent begun',
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

export interface Replayed {
  readonly kind: DecisionKind;
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
  readonly requestId: string;
  readonly sessionId: string;
  readonly outcome: Outcome;
  /** Ids of keys that signed the record and are not here: with those nothing was verified. */
  readonly unknownKeys: readonly string[];
}
