import { outOfBoundsMessage } from '@sluice/core';
import type { CallFacts, Evaluator, JudgedCall, RuleFacts, Verdict } from '@sluice/core';

/** Whether a call is within its bounds under all of the configurations; `found` is what was found out for it. */
export function withinBounds(
  call: JudgedCall,
  { rules, state }: Pick<CallFacts, 'state'> & { readonly rules: RuleFacts },
  judges: readonly Evaluator[],
  found: Readonly<Record<string, string>>,
): Promise<Verdict> {
  for (const { argumentRules } of judges) {
    if (!argumentRules.hasBounds) continue;
    const facts: RuleFacts = { ...rules, facts: { ...rules.facts, ...found } };
    const broken = argumentRules.broken(call, facts, state);
    if (broken === null) continue;
    const message = outOfBoundsMessage(broken);
    const refusal = { code: 'policy_denied', reason: 'arguments_out_of_bounds', rule: broken.rule, message } as const;
    return Promise.resolve({ ok: false, ...refusal });
  }
  return Promise.resolve({ ok: true });
}
