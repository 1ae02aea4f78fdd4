import { insufficientPermissions, quote, refusalOfHidden, sentenceList, wildcard } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';

/** Groups that are named in a refusal, at most. */
const mostGroups = 10;

/** Of these a caller learns what the text says anyway: the state is its session’s own, and a server may come back. */
const told: ReadonlySet<string> = new Set([refusalOfHidden.state, refusalOfHidden.unavailable]);

/** Why a tool is not in the caller’s list, or would not be. */
const keptBack: ReadonlySet<string> = new Set([
  ...Object.values(refusalOfHidden).filter((reason) => !told.has(reason)),
  ...['no_approver', 'connection_missing', 'not_permitted', 'not_delegated'],
]);

/** Whether the call was refused for what hides its tool from the caller’s list: which of these it was is not said. */
export function isKeptBack({ reason }: Pick<AgentStep, 'reason'>): boolean {
  return reason !== null && keptBack.has(reason);
}

/** Code and reason as clients read them: the same for every tool that is not in the caller’s list. */
export function saidError({ outcome, reason }: Pick<AgentStep, 'outcome' | 'reason'>): {
  readonly code: string;
  readonly reason: string | null;
} {
  return isKeptBack({ reason }) ? { code: 'policy_denied', reason: null } : { code: outcome, reason };
}

/** The groups that the caller has, which are all that it may know of why a tool is not there. */
export function ownGroups(groups: readonly string[]): string {
  if (groups.includes(wildcard)) return '';
  if (groups.length === 0) return ' Its credential permits no group.';
  return ` Its groups are ${sentenceList(groups.map(quote), mostGroups)}.`;
}

/**
 * The message of a call that was refused as a whole. A call asks for all groups that its credential had when it came,
 * so a refusal of groups means that one of them was taken away since.
 */
export function withGroups(message: string, groups: readonly string[]): string {
  if (message !== insufficientPermissions) return message;
  const named = sentenceList(groups.map(quote), mostGroups);
  return `${message}: ${named}. Not all of these are permitted any more. List the tools again, with a new credential where it holds the groups.`;
}
