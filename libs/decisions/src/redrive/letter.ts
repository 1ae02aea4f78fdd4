import type { DeadLetter, RecordOf, Topic } from '@sluice/contracts';

/** A dead letter as it lies on the log. */
export interface Letter {
  /** `partition/offset` on agent.dead-letters. */
  readonly id: string;
  readonly dead: DeadLetter;
  /** The session that it concerns, as far as that is known. */
  readonly session: string;
  readonly content: Content;
}

/** What the bytes of a dead letter say now, or why they say nothing. */
export type Content =
  | { [T in Topic]: { readonly topic: T; readonly record: RecordOf<T> } }[Topic]
  | { readonly topic: null; readonly reason: string };
