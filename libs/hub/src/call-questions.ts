import { cut } from '@sluice/core';
import type { StepQuestion } from '@sluice/core';

export type QuestionKind = 'elicitation' | 'sampling' | 'roots';
export type QuestionOutcome = 'answered' | 'declined' | 'cancelled' | 'refused';
export type QuestionRefusal =
  /** The server’s entry in the configuration does not permit it. */
  | 'off'
  /** No person can be asked. */
  | 'no_person'
  /** Too many, too large, or the budget is used up. */
  | 'limit'
  /** Not as the protocol has it. */
  | 'invalid'
  /** As the protocol has it, and not passed on. */
  | 'unsupported'
  | 'model_unreachable';

/** How a question was answered. */
export interface QuestionEnd {
  readonly outcome: QuestionOutcome;
  /** Why it was refused. */
  readonly reason?: QuestionRefusal;
  /** The caller or the model that answered. */
  readonly by?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

interface Begun {
  readonly kind: QuestionKind;
  readonly server: string;
  readonly askedAt: number;
}

/** So many are listed each for itself. The room that a step has for them (libs/run/src/room.ts) rests on it. */
const mostListed = 16;
const longestName = 64;

/** What a server asks in the middle of one call, as the call’s step lists it: nothing that was said. */
export class CallQuestions {
  private readonly ended: StepQuestion[] = [];
  private readonly waiting = new Set<Begun>();

  /** `now` in milliseconds since the epoch. `before`: of a call that goes on behind a form that it was parked for. */
  constructor(
    private readonly now: () => number,
    private before: { readonly questions: readonly StepQuestion[]; readonly askedAt: number } | null = null,
  ) {
    if (before !== null) this.ended.push(...before.questions);
  }

  /** Begins a question; the returned function ends it. */
  begin(server: string, kind: QuestionKind): (end: QuestionEnd) => void {
    const goesOn = kind === 'elicitation' ? this.before : null;
    if (goesOn !== null) this.before = null;
    const begun = { kind, server: cut(server, longestName), askedAt: goesOn?.askedAt ?? this.now() };
    this.waiting.add(begun);
    return (end) => {
      if (this.waiting.delete(begun)) add(this.ended, begun, end, this.now());
    };
  }

  /** Those that have ended, and since when the others wait. */
  get soFar(): { readonly questions: readonly StepQuestion[]; readonly askedAt: number } {
    const since = [...this.waiting].map(({ askedAt }) => askedAt);
    return { questions: this.ended, askedAt: Math.min(this.now(), ...since) };
  }

  /** All of them so far; those without an answer as `unanswered`, since the call has ended. */
  list(): readonly StepQuestion[] {
    const all = [...this.ended];
    for (const begun of this.waiting) add(all, begun, { outcome: 'unanswered' }, this.now());
    return all;
  }
}

type Ended = Omit<QuestionEnd, 'outcome'> & { readonly outcome: QuestionOutcome | 'unanswered' };

/** Adds the question; behind the first ones it is counted with one that ended in the same way. */
function add(list: StepQuestion[], { kind, server, askedAt }: Begun, end: Ended, now: number): void {
  const { outcome, reason = null, by = null, inputTokens = 0, outputTokens = 0 } = end;
  const endedAt = Math.max(askedAt, now);
  const who = by === null ? null : cut(by, longestName);
  const one = { kind, server, askedAt, endedAt, outcome, reason, by: who, inputTokens, outputTokens, count: 1 };
  const at = list.length < mostListed ? -1 : list.findLastIndex((other) => isLike(other, one));
  const like = list[at];
  if (like === undefined) return void list.push(one);
  list[at] = {
    ...like,
    endedAt: Math.max(like.endedAt, endedAt),
    by: like.by === who ? who : null,
    inputTokens: like.inputTokens + inputTokens,
    outputTokens: like.outputTokens + outputTokens,
    count: like.count + 1,
  };
}

function isLike(one: StepQuestion, other: StepQuestion): boolean {
  return one.kind === other.kind && one.outcome === other.outcome && one.reason === other.reason;
}
