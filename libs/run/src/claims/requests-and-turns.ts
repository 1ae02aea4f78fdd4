import { Fault } from '@sluice/core';
import type { Durability } from '@sluice/core';
import { positionOf, topics } from '@sluice/contracts';
import type { AgentStepResult } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { claimOnce } from './once.js';
import type { OnceClaim } from './once.js';
import { claimedName, requestKey, runOfRecord } from './run-names.js';
import type { NamedRun } from './run-names.js';
import type { RunParts } from '../parts.js';

type Claiming = Pick<RunParts, 'ledger' | 'clock'>;

/**
 * A tenant’s request_id is taken once: the first record under it has it and may ask again. The claim says whose it
 * is, and whether it was there before.
 */
export async function claimRequest(
  run: NamedRun,
  owner: string,
  runtime: Claiming,
  durability: Durability = 'powerLoss',
): Promise<OnceClaim> {
  return claimOnce(requestKey(await claimedName(run, runtime)), owner, runtime, durability);
}

/**
 * Who has the tenant’s request_id by now, as its claimer is named; null if it is free, and another may still be
 * first.
 */
export async function requestOwner(run: NamedRun, runtime: Claiming): Promise<string | null> {
  const { ledger, clock } = runtime;
  const claim = await ledger.find(requestKey(await claimedName(run, runtime)));
  return claim !== undefined && claim.expiresAt > clock.now() ? claim.owner : null;
}

interface ClaimedTurn {
  /** When the turn was taken first, milliseconds since the epoch. */
  readonly takenAt: number;
  /** Whether that was an earlier attempt at its record. */
  readonly isAgain: boolean;
}

/**
 * A grant serves one turn, and a turn goes on once: the first record of a turn takes it and may ask again, a copy of
 * it is not taken. A re-driven record asks as the dead-lettered `owner`. Throws Fault('replayed') for the copy.
 */
export async function claimTurn(
  message: Incoming<'agent.toolsets' | 'agent.tool-calls' | 'agent.steps'>,
  runtime: Claiming,
  owner: string = positionOf(message),
): Promise<ClaimedTurn> {
  const { topic, record } = message;
  // It goes by the record’s place on the log, so it need not be on the disk before what is on the log is.
  const claim = await claimOnce(await turnKey(topic, record, runtime), owner, runtime, 'processLoss');
  if (claim.isOwn) return { takenAt: claim.claimedAt, isAgain: claim.isAgain };
  throw new Fault('replayed', `Turn ${record.iteration} of this run was taken by ${claim.owner}.`, false);
}

type TurnTopic = 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps';
type TurnRecord = Pick<AgentStepResult, 'requestId' | 'iteration' | 'run'>;

/** Whether a record of the turn was taken on the topic. */
export async function isTurnClaimed(topic: TurnTopic, record: TurnRecord, runtime: Claiming): Promise<boolean> {
  const { ledger, clock } = runtime;
  const claim = await ledger.find(await turnKey(topic, record, runtime));
  return claim !== undefined && claim.expiresAt > clock.now();
}

/** Names the model calls of a turn in the ledger, for whichever attempt at it. */
export async function modelCallName(record: TurnRecord, runtime: Claiming): Promise<string> {
  return `model/${await turnKey(topics.toolsets, record, runtime)}`;
}

async function turnKey(topic: TurnTopic, record: TurnRecord, runtime: Claiming): Promise<string> {
  const { iteration, run } = record;
  const name = await claimedName(runOfRecord(record), runtime);
  // A turn that the filter decides again for another attempt of its run is another one to the agent.
  const attempt = topic === topics.toolsets && run.redrive !== null ? `/${run.redrive}` : '';
  return `turn/${topic}/${name}/${iteration}${attempt}`;
}
