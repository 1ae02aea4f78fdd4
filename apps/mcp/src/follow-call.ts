import { topics } from '@sluice/contracts';
import type { AgentStep, ApprovalRequested, RunError } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { Followed, RunAccess } from '@sluice/host';
import { isClosing, stepAtEnd } from '@sluice/run';
import type { CallerForm } from '@sluice/run';

/** How far a call has come. */
export type CallOutcome =
  | { readonly kind: 'step'; readonly step: AgentStep }
  | {
      readonly kind: 'waiting';
      readonly requested: ApprovalRequested;
      readonly place: { readonly partition: number; readonly offset: number };
      /** Why the decision that was made here does not count; null where none was made. */
      readonly notTaken: string | null;
    }
  /** The tool’s server waits for the caller to fill in a form. */
  | { readonly kind: 'form'; readonly form: CallerForm }
  | { readonly kind: 'ended'; readonly error: RunError | null }
  /** It goes on, and is followed no further by this request. */
  | { readonly kind: 'goes_on' }
  /** The run is another caller’s. */
  | { readonly kind: 'not_theirs' }
  /** Nothing more is followed here: the client left, or the process stops. */
  | { readonly kind: 'cut'; readonly why: 'cancelled' | 'stopping' | 'slow' };

/** Why a request that follows a call leaves it, where the call goes on as a task. */
export const goesOn = new Error('The call goes on as a task.');

/** What a person decided about a call that waits. */
export interface Decision {
  readonly decision: 'approve' | 'refuse';
  readonly reason: string;
}

export interface Following {
  /** What the run has on the log; null where it begins now. */
  readonly past: AsyncIterable<Incoming> | null;
  readonly followed: Followed;
  readonly whose: RunAccess;
  readonly signal: AbortSignal;
  /** Called with each record that shows that the call goes on. */
  readonly onRecord: (message: Incoming) => void;
  /** The form that the caller is to be shown now; null where none waits, or the one that did is answered. */
  readonly formToShow: () => Promise<CallerForm | null>;
  /**
   * Decides about the call if it waits and there is a decision to make; true where it did, or where the call is to be
   * followed while it waits.
   */
  readonly decide: (waiting: Extract<CallOutcome, { kind: 'waiting' }>) => Promise<boolean>;
}

/** Ask for the next record so often at least, in milliseconds: a client that left is noticed. */
const lookEveryMs = 10_000;

/**
 * Follows a call to its step, or to what it waits for. The run’s end comes a moment behind the step and says nothing
 * more; where it is read first, it has the step.
 */
export async function followCall({
  past,
  followed,
  whose,
  signal,
  onRecord,
  formToShow,
  decide,
}: Following): Promise<CallOutcome> {
  const seen: { asked: Extract<CallOutcome, { kind: 'waiting' }> | null; isDecided: boolean } = {
    asked: null,
    isDecided: false,
  };
  const look = (message: Incoming): CallOutcome | null => {
    const telling = whose.of(message);
    if (telling === 'not_theirs') return { kind: 'not_theirs' };
    if (telling === 'keep') return null;
    onRecord(message);
    if (message.topic === topics.approvals) {
      const { requested, outcome } = message.record;
      const { partition, offset } = message;
      if (requested !== null) {
        seen.isDecided &&= requested.approvalId === seen.asked?.requested.approvalId;
        seen.asked = { kind: 'waiting', requested, place: { partition, offset }, notTaken: null };
      }
      if (outcome === null || seen.asked === null) return null;
      // Only the answer to the decision made here is reported; other decisions that do not count are skipped.
      const isOwn = seen.isDecided && seen.asked.requested.question === null;
      if (outcome.notTaken !== null) return isOwn ? { ...seen.asked, notTaken: outcome.notTaken } : null;
      // One approval of several: the call waits on.
      if (!isClosing(outcome)) return isOwn ? seen.asked : null;
      // Decided: the call goes on by itself.
      seen.asked = null;
      return null;
    }
    if (message.topic === topics.steps) {
      const { steps, next } = message.record;
      // A model’s turn is none of a call, and no reader of the log verifies its step.
      const step = next.call === null ? undefined : steps[0];
      return step === undefined ? null : { kind: 'step', step };
    }
    if (message.topic === topics.responses) {
      const step = stepAtEnd(message.record);
      return step === undefined ? { kind: 'ended', error: message.record.error } : { kind: 'step', step };
    }
    return null;
  };

  /** What the client is to hear of a call that waits; null where it is followed on. */
  const waiting = async (): Promise<CallOutcome | null> => {
    if (seen.asked === null || seen.isDecided) return null;
    const { asked } = seen;
    if (asked.requested.question === null) {
      seen.isDecided = await decide(asked);
      return seen.isDecided ? null : asked;
    }
    const form = await formToShow();
    if (form !== null) return { kind: 'form', form };
    // The answer is there, or its time is up.
    seen.isDecided = await decide(asked);
    return null;
  };

  for await (const message of past ?? []) {
    const outcome = look(message);
    if (outcome !== null) return outcome;
  }
  const waits = await waiting();
  if (waits !== null) return waits;
  const before = past === null ? null : await formToShow();
  if (before !== null) return { kind: 'form', form: before };
  const leave = (): void => followed.end();
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      if (signal.aborted) return leftBy(signal);
      const message = await followed.next(lookEveryMs);
      if (message === undefined)
        return followed.cutShort === 'elsewhere'
          ? { kind: 'not_theirs' }
          : signal.aborted
            ? leftBy(signal)
            : { kind: 'cut', why: followed.cutShort === 'slow' ? 'slow' : 'stopping' };
      if (message === null || !(await whose.concerns(message))) continue;
      const outcome = look(message);
      if (outcome !== null) return outcome;
      const asks = await waiting();
      if (asks !== null) return asks;
      if (message.topic !== topics.progress || message.record.kind !== 'tool_question') continue;
      const form = await formToShow();
      if (form !== null) return { kind: 'form', form };
    }
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function leftBy({ reason }: AbortSignal): CallOutcome {
  return reason === goesOn ? { kind: 'goes_on' } : { kind: 'cut', why: 'cancelled' };
}
