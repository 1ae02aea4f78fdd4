import { lookupFact } from '@sluice/core';
import type { CallFacts, Evaluator, JudgedCall, Lookup, RuleFacts } from '@sluice/core';
import { pastCallerIn } from './past-of-call.js';
import type { CallInTurn, CallWorld } from './call-in-turn.js';

/** What the bounds of a call ask of lists that are kept elsewhere, by name; asks nothing where they name none. */
export async function lookedUp(
  of: CallInTurn,
  call: JudgedCall,
  { rules, state }: Pick<CallFacts, 'state'> & { readonly rules: RuleFacts },
  judges: readonly Evaluator[],
  world: Pick<CallWorld, 'lists'>,
): Promise<Readonly<Record<string, string>>> {
  const asked = new Map<string, Lookup>();
  for (const { argumentRules } of judges)
    for (const one of argumentRules.lookups(call, rules, state)) asked.set(lookupFact(one), one);
  if (asked.size === 0) return {};
  const { tenantId: tenant, userId: user } = pastCallerIn(of);
  return world.lists([...asked.values()], { tenant, user, claims: rules.claims });
}
