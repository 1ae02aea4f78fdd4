import { decimalOf, eligible, pastFactName, together, uncountableMessage } from '@sluice/core';
import type {
  NeededPast,
  BeginningCall,
  CallFacts,
  CountedCall,
  Evaluator,
  PastCaller,
  Reservation,
  RuleFacts,
  Verdict,
} from '@sluice/core';
import { callKeyOf } from '../calls.js';
import { agentOf } from '../conditions.js';
import type { FirstUse } from '../documentation.js';
import { pastCallerOf } from '../past.js';
import { factsAt } from './call-facts.js';
import type { CallInTurn, CallWorld } from './call-in-turn.js';

/** Whose calls the past of a call is counted by. */
export function pastCallerIn({ record, judges }: CallInTurn): PastCaller {
  return pastCallerOf({ principal: record.run.principal, agent: agentOf(record, judges.granting) }, record);
}

/** What the rules about the called tool ask of calls beyond the run; empty where none asks. */
export async function pastFor(
  of: CallInTurn,
  world: Pick<CallWorld, 'past'>,
): Promise<Readonly<Record<string, string>>> {
  const { record, name, judges, call, index, at } = of;
  const asked = [judges.granting, judges.inForce].flatMap(({ past }) => past.asked(call.tool));
  if (asked.length === 0) return {};
  const each = new Map(asked.map((one): [string, NeededPast] => [pastFactName(one), one]));
  return world.past([...each.values()], pastCallerIn(of), at, callKeyOf(name, record, call, index));
}

/** What a call reserves under both configurations, or why it cannot be counted; null where no rule counts it. */
export function reservationFor(
  call: BeginningCall,
  { rules }: { readonly rules: RuleFacts },
  judges: readonly Evaluator[],
): Reservation | (Verdict & { readonly ok: false }) | null {
  let all: Reservation | null = null;
  for (const { past } of judges) {
    const one = past.reservation(call, rules);
    if (one !== null && 'path' in one) {
      const message = uncountableMessage(one);
      return { ok: false, code: 'policy_denied', reason: 'arguments_out_of_bounds', rule: one.rule, message };
    }
    all = together(all, one);
  }
  return all;
}

/** The call as it is counted; what is found out about the past goes into `found`, for its record. */
export function countedCall(
  reservation: Reservation,
  of: CallInTurn,
  first: FirstUse | null,
  found: Record<string, string>,
  world: Pick<CallWorld, 'past'>,
): CountedCall {
  return {
    reservation,
    onUsed: (used) => {
      for (const [place, { total }] of reservation.limits.entries())
        if (total !== null) found[total.fact] = decimalOf(used[place] ?? 0n);
    },
    judgeAgain: async () => {
      Object.assign(found, await pastFor(of, world));
      const facts: CallFacts = factsAt(of, first, found);
      return eligible(of.call.tool, facts, of.judges);
    },
  };
}
