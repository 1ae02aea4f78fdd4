import { insufficientPermissions, isKeptBack, quote, sentenceList, wildcard } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';

/** Groups that are named in a refusal, at most. */
const mostGroups = 10;

/** Code and reason as clients read them: the same for every tool that is not in the caller’s list. */
export function saidError({ outcome, reason }: Pick<AgentStep, 'outcome' | 'reason'>): {
  readonly code: string;
  readonly reason: string | null;
} {
  return isKeptBack(reason) ? { code: 'policy_denied', reason: null } : { code: outcome, reason };
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
