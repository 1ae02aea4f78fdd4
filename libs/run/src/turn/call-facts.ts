import { depthOf } from '@sluice/core';
import type { CallFacts, RuleFacts } from '@sluice/core';
import { ruleFactsOf } from '../conditions.js';
import { connectionsOf } from '../connections.js';
import type { FirstUse } from '../documentation.js';
import type { CallInTurn } from './call-in-turn.js';

/** What a call is judged by; `found` is what was found out for it beside the record. */
export function factsAt(
  { record, offered, turn, judges, at }: CallInTurn,
  first: FirstUse | null,
  found: Readonly<Record<string, string>>,
): CallFacts & { readonly rules: RuleFacts } {
  const { groups, toolChoice } = record;
  const { state, calls, answer, did } = turn;
  const connections = connectionsOf(record, judges.granting);
  const depth = depthOf(record.run);
  const known = ruleFactsOf(record, judges.granting, at);
  const rules = { ...known, ...did, facts: { ...known.facts, ...found } };
  const mustRead = judges.granting.configuration.descriptions?.readBeforeUse ?? false;
  const unread = mustRead && first?.documentation === 'unread' ? { unread: first.page } : {};
  const completed = answer !== null;
  return { groups, state, offered, toolChoice, calls, completed, connections, depth, rules, ...unread };
}
