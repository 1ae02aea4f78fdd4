import { normaliseGroups, normaliseState, wellFormed } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import type { AgentStepResult } from '@sluice/contracts';
import { claimsOf, differences } from './grant-claims.js';
import { digestOfRun } from './run-digest.js';

/** How a run goes on after a turn, as an AgentStepResult describes it. */
export type Continuation = Pick<AgentStepResult, 'requestId' | 'sessionId' | 'iteration' | 'next' | 'run'>;

/** What the executor signs of a turn’s end. */
export function continuationClaims({ next, run, ...ids }: Continuation): JsonObject {
  return claimsOf({
    request: ids.requestId,
    session: ids.sessionId,
    iteration: ids.iteration,
    // Well-formed first: two names may become one, and repeats count once.
    groups: normaliseGroups(wellFormed(next.group)),
    state: normaliseState(next.state),
    digest: digestOfRun(next, run),
  });
}

type ContinuationVerdict =
  | { readonly kind: 'signed' }
  | {
      readonly kind: 'forged';
      /** Which security metric it is: wider groups, another state than the recorded one (XG-14), or neither. */
      readonly code: 'groups_widened' | 'state_altered' | 'continuation_invalid';
      /** For operators. */
      readonly why: string;
    };

/**
 * Whether the executor signed exactly this continuation. What was recorded last is what it signed; where it signed
 * nothing, what the record itself says of its run is the least that a forger contradicts.
 */
export function judgeContinuation(claims: JsonObject | null, record: Continuation): ContinuationVerdict {
  const differing = claims === null ? ['signature'] : differences(claims, continuationClaims(record));
  if (differing.length === 0) return { kind: 'signed' };

  const groups = normaliseGroups(record.next.group);
  const recordedGroups = claims === null ? record.run.requestedGroups : (claims['groups'] ?? []);
  const wider = groups.filter((group) => !(recordedGroups as readonly unknown[]).includes(group));
  if (wider.length > 0)
    return { kind: 'forged', code: 'groups_widened', why: 'The continuation asks for more groups than its run has.' };

  const recordedState = claims === null ? lastRecorded(record) : claims['state'];
  if (normaliseState(record.next.state) !== recordedState)
    return {
      kind: 'forged',
      code: 'state_altered',
      why: 'The continuation has another state than the one recorded last.',
    };

  const why =
    claims === null
      ? 'The executor did not sign how the run goes on.'
      : `The continuation and what the executor signed differ in ${differing.join(', ')}.`;
  return { kind: 'forged', code: 'continuation_invalid', why };
}

function lastRecorded({ next, run }: Continuation): string {
  return next.history.at(-1)?.state ?? run.stateTransitions.at(-1)?.to ?? run.initialState;
}
