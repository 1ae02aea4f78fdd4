import { utf8Length } from '../json.js';
import { languageOf } from './language.js';
import type { Channel, ContextCondition, HistoryCondition, RuleFacts, RunHistory, Whom } from './types.js';

/** Whether all of the condition’s facts hold. */
export function holds(condition: ContextCondition, facts: RuleFacts, state: string): boolean {
  const { tenants, actors, channels, claims, states, languages, questionBytes } = condition;
  if (tenants?.includes(facts.tenant) === false) return false;
  if (actors?.includes(facts.actor.slice(0, facts.actor.indexOf(':'))) === false) return false;
  if (channels?.includes(facts.channel) === false) return false;
  if (states?.includes(state) === false) return false;
  if (claims !== undefined && !Object.entries(claims).every(([name, values]) => hasClaim(facts, name, values)))
    return false;
  if (questionBytes !== undefined && utf8Length(facts.question) > questionBytes) return false;
  return languages === undefined || languages.includes(languageOf(facts.question));
}

/**
 * Whether a rule binds the request. What is not known of it is no way around a rule: a channel that is not known, or a
 * claim that was not looked for, fits.
 */
export function binds(whom: Whom | undefined, facts: RuleFacts, state: string): boolean {
  if (whom === undefined) return true;
  const { tenants, actors, channels, claims, states, agents } = whom;
  if (tenants?.includes(facts.tenant) === false) return false;
  if (actors?.includes(facts.actor.slice(0, facts.actor.indexOf(':'))) === false) return false;
  if (channels !== undefined && facts.channel !== '' && !channels.includes(facts.channel as Channel)) return false;
  if (states?.includes(state) === false || agents?.includes(facts.agent) === false) return false;
  return (
    claims === undefined ||
    Object.entries(claims).every(
      ([name, values]) => !Object.hasOwn(facts.claims, name) || hasClaim(facts, name, values),
    )
  );
}

/**
 * Whether it is known that a rule binds the request: for one that takes the place of another that closes more, where
 * what is not known must not open.
 */
export function isKnownToBind(whom: Whom | undefined, facts: RuleFacts, state: string): boolean {
  const isUnknown =
    (whom?.channels !== undefined && facts.channel === '') ||
    Object.keys(whom?.claims ?? {}).some((name) => !Object.hasOwn(facts.claims, name));
  return !isUnknown && binds(whom, facts, state);
}

function hasClaim({ claims }: Pick<RuleFacts, 'claims'>, name: string, values: readonly string[]): boolean {
  return Object.hasOwn(claims, name) && (claims[name]?.some((value) => values.includes(value)) ?? false);
}

/**
 * Whether what the run did leaves the rule’s tools a call. An approval stands for so long from the end of the call
 * that it let through.
 */
export function isHistoryOpen(
  { after, notAfter, atMost, whileApproved }: HistoryCondition,
  tools: readonly string[],
  history: RunHistory,
  at: number,
  approvalMs: number,
): boolean {
  if (after.length > 0 && !after.every((id) => count(history.succeeded, id) > 0)) return false;
  if (notAfter.length > 0 && notAfter.some((id) => count(history.calls, id) > 0)) return false;
  if (atMost !== null && used(history.calls, tools, atMost)) return false;
  if (whileApproved.length === 0) return true;
  return whileApproved.every(
    (id) => Object.hasOwn(history.approved, id) && at - count(history.approved, id) < approvalMs,
  );
}

/** Whether these tools were called so often together. */
function used(calls: RunHistory['calls'], tools: readonly string[], atMost: number): boolean {
  let made = 0;
  for (const id in calls) if (Object.hasOwn(calls, id) && tools.includes(id)) made += calls[id] ?? 0;
  return made >= atMost;
}

function count(counts: Readonly<Record<string, number>>, id: string): number {
  return Object.hasOwn(counts, id) ? (counts[id] ?? 0) : 0;
}
