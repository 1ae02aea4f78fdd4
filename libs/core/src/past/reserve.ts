import type { Clock } from '../ports/clock.js';
import type { Claim, ClaimRequest } from '../ports/ledger.js';
import type { PastCalls, PastOutcome } from '../ports/past-calls.js';
import type { ToolInvocation, Verdict } from '../tool/pipeline.js';
import type { ToolExecResult } from '../tool/types.js';
import { type Reservation, passedTotal } from './reservation.js';

/** A call that is counted as it begins. */
export interface CountedCall {
  readonly reservation: Reservation;
  /** By the place of each limit, what was used before: for the record. */
  onUsed(used: readonly bigint[]): void;
  /** Looks at the past again, which calls side by side have changed: whether a rule on history refuses the call now. */
  judgeAgain(): Promise<Verdict>;
}

type Reserved =
  | { readonly kind: 'begun'; readonly claim: Claim | null }
  | { readonly kind: 'held'; readonly claim: Claim }
  | { readonly kind: 'refused'; readonly verdict: Verdict & { readonly ok: false } };

/** How often a call looks again where those beside it end and begin. */
const mostTries = 3;
/** How long a call counts as running beyond its time limit, if its process was lost. */
const marginMs = 60_000;

/** Begins a call that rules count, with its claim where it has an effect; or says which rule refuses it. */
export async function reserve(
  { reservation, onUsed, judgeAgain }: CountedCall,
  { callKey, timeoutMs }: Pick<ToolInvocation, 'callKey' | 'timeoutMs'>,
  claim: ClaimRequest | null,
  { past, clock }: { readonly past: Pick<PastCalls, 'begin'>; readonly clock: Clock },
): Promise<Reserved> {
  for (let tries = 1; ; tries++) {
    const answer = await past.begin({
      ...{ callKey, claim, now: clock.now(), runningMs: timeoutMs + marginMs },
      ...reservation,
    });
    if (answer.kind === 'held') return answer;
    onUsed(answer.used);
    if (answer.kind === 'begun') return answer;
    const verdict =
      passedTotal(reservation.limits[answer.limit], answer.used[answer.limit] ?? 0n) ?? (await judgeAgain());
    if (!verdict.ok) return refused(verdict);
    if (tries < mostTries) continue;
    const message = 'Other calls that a rule counts with this one begin and end at this moment. Call it again.';
    return refused({ ok: false, code: 'unavailable', message });
  }
}

function refused(verdict: Verdict & { readonly ok: false }): Reserved {
  return { kind: 'refused', verdict };
}

/** How a call ended, as the past keeps it. What had no effect gives back what it reserved. */
export function pastOutcomeOf(result: ToolExecResult): PastOutcome {
  if (result.ok) return 'succeeded';
  const { errorCode, reason } = result;
  const hadNone = errorCode === 'unavailable' || errorCode === 'policy_denied' || reason === 'no_effect';
  return hadNone ? 'none' : 'failed';
}
