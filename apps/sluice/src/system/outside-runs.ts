import { localPrincipal } from '@sluice/core';
import type { Configuration, Evaluator, RuleFacts, Unknown } from '@sluice/core';
import { beginningFacts } from '@sluice/run';

/**
 * What a command that only has the configuration cannot know of a run: without an identity everybody is the same
 * caller.
 */
export function outsideRuns({ identity }: Pick<Configuration, 'identity'>): Unknown {
  return identity.provider === 'none' ? ['channel', 'load'] : ['tenant', 'actor', 'claims', 'channel', 'load'];
}

/**
 * What rules are judged by outside of runs, milliseconds since the epoch; what `outsideRuns` names of it says
 * nothing.
 */
export function outsideFacts(
  question: string,
  evaluator: Pick<Evaluator, 'byId' | 'configuration'>,
  at: number,
): RuleFacts {
  const nothing = { loads: {}, held: [] };
  return beginningFacts(localPrincipal, question, { channel: '', claims: {} }, nothing, evaluator, at);
}
