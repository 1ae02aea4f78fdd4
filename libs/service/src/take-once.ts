import { claimMemoryMs, Fault } from '@sluice/core';
import type { Claim } from '@sluice/core';
import { placeOf, topics } from '@sluice/contracts';
import type { AgentStepResult } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { Runtime } from './runtime.js';

export function requestKey(requestId: string): string {
  return `request/${requestId}`;
}

/** A request_id is taken once: the first record under it has it and may ask again. The claim says whose it is. */
export function takeRequest(
  requestId: string,
  owner: string,
  { ledger, clock }: Pick<Runtime, 'ledger' | 'clock'>,
): Promise<Claim> {
  return ledger.claim({ key: requestKey(requestId), owner, now: clock.now(), ttlMs: claimMemoryMs });
}

/** Who has the request_id by now, as its claimer is named; null if it is free, and another may still be first. */
export async function requestOwner(
  requestId: string,
  { ledger, clock }: Pick<Runtime, 'ledger' | 'clock'>,
): Promise<string | null> {
  const claim = await ledger.find(requestKey(requestId));
  return claim !== undefined && claim.expiresAt > clock.now() ? claim.owner : null;
}

/**
 * A grant serves one turn, and a turn goes on once: the first record of a turn takes it and may ask again,
 * a copy of it is not taken. A re-driven record asks as the dead-lettered `owner`. Returns when the turn was taken first,
 * milliseconds since the epoch. Throws Fault('replayed') for the copy.
 */
export async function takeTurn(
  message: Incoming<'agent.toolsets' | 'agent.tool-calls' | 'agent.steps'>,
  { ledger, clock }: Pick<Runtime, 'ledger' | 'clock'>,
  owner: string = placeOf(message),
): Promise<number> {
  const { topic, record } = message;
  const claim = await ledger.claim({ key: turnKey(topic, record), owner, now: clock.now(), ttlMs: claimMemoryMs });
  if (claim.owner === owner) return claim.claimedAt;
  throw new Fault('replayed', `Turn ${record.iteration} of this run was taken by ${claim.owner}.`, false);
}

type TurnTopic = 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps';
type TurnRecord = Pick<AgentStepResult, 'requestId' | 'iteration' | 'run'>;

/** Whether a record of the turn was taken on the topic. */
export async function isTurnTaken(
  topic: TurnTopic,
  record: TurnRecord,
  { ledger, clock }: Pick<Runtime, 'ledger' | 'clock'>,
): Promise<boolean> {
  const claim = await ledger.find(turnKey(topic, record));
  return claim !== undefined && claim.expiresAt > clock.now();
}

function turnKey(topic: TurnTopic, { requestId, iteration, run }: TurnRecord): string {
  // A turn that the filter decides again for another attempt of its run is another one to the agent.
  const attempt = topic === topics.toolsets && run.redrive !== null ? `/${run.redrive}` : '';
  return `turn/${topic}/${requestId}/${iteration}${attempt}`;
}
