import { trustedTimeOf } from '@sluice/bus';
import { anotherAttempt, claimMemoryMs, Fault, isSecurityFault } from '@sluice/core';
import { positionOf, redriveHeader } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { RunState } from '@sluice/core';
import type { HandlerContext, Incoming } from '@sluice/bus';
import type { Attempt } from '../claims/attempts.js';
import type { Loaded } from '../configuration/configurations.js';
import type { RunParts } from '../parts.js';
import { digestOf, permitOf } from './permit.js';
import type { Permit } from './permit.js';
import { mayHaveActed } from './plan.js';

/** A record that was re-driven, and whose permit is for it: it goes on in the place of the dead-lettered one. */
export interface Redriven extends Attempt {
  readonly again: boolean;
  /** The owner of the claims that the run has made there. */
  readonly owner: string;
  /** When the log took the record that became a dead letter, milliseconds since the epoch. */
  readonly since: number;
}

type Taking = Pick<RunParts, 'ledger' | 'clock' | 'metrics' | 'log'>;

/** Nearly every record asks. */
const notRedriven: Promise<null> = Promise.resolve(null);

/**
 * What a record is re-driven from, counted once it is through; null if it is not, or if it is to be taken as any
 * other.
 */
export function redrivenFrom(message: Incoming, context: HandlerContext, runtime: Taking): Promise<Redriven | null> {
  return message.headers[redriveHeader] === undefined ? notRedriven : taken(message, context, runtime);
}

async function taken(message: Incoming, context: HandlerContext, runtime: Taking): Promise<Redriven | null> {
  const found = await permitted(message, runtime);
  if (found === null) return null;
  const { topic } = message;
  context.afterCommit(() => {
    runtime.metrics.redriven.inc({ topic });
    const { deadLetter, permit } = found;
    runtime.log.info(
      { dead_letter: deadLetter, topic, session_id: message.key, by: permit.by },
      'took a re-driven record',
    );
  });
  return attemptOf(message, found, runtime);
}

/** The same for a record that was taken before, such as a parked turn. */
export async function redrivenBefore(message: Incoming, runtime: Taking): Promise<Redriven | null> {
  const found = await permitted(message, runtime);
  return found === null ? null : attemptOf(message, found, runtime);
}

type Permitted = { readonly deadLetter: string; readonly permit: Permit };

/**
 * Who writes the header without a permit of the ledger gets nothing by it. Throws Fault('replayed') for a copy of a
 * record that was re-driven.
 */
async function permitted(message: Incoming, { ledger, clock }: Taking): Promise<Permitted | null> {
  const deadLetter = message.headers[redriveHeader];
  if (deadLetter === undefined) return null;
  const permit = await permitOf(deadLetter, ledger);
  const now = clock.now();
  if (permit === null || permit.at + claimMemoryMs <= now || permit.digest !== digestOf(message)) return null;
  const place = positionOf(message);
  const claim = await ledger.claim({ key: `redriven/${deadLetter}`, owner: place, now, ttlMs: claimMemoryMs });
  if (claim.owner === place) return { deadLetter, permit };
  throw new Fault('replayed', `The dead letter ${deadLetter} was re-driven already, as ${claim.owner}.`, false);
}

function attemptOf(message: Incoming, { deadLetter, permit }: Permitted, { clock }: Taking): Redriven | null {
  if (permit.kind === 'resume') return null;
  if (mayHaveActed(message.topic) && permit.since + claimMemoryMs <= clock.now()) throw tooOld(deadLetter);
  return {
    deadLetter,
    again: permit.kind === 'again',
    owner: permit.owner,
    since: permit.since,
    at: trustedTimeOf(message),
  };
}

/**
 * The record as if the log had taken it when it took the dead one: what a former version wrote is not signed once
 * more.
 */
export function asDeadLettered<T extends Topic>(message: Incoming<T>, redriven: Redriven | null): Incoming<T> {
  return redriven === null ? message : { ...message, timestamp: redriven.since, readAt: undefined };
}

/** The run as it goes on from here: another attempt of it if it was re-driven, else as it is. */
export function resumedRun(
  { run, asked }: { readonly run: RunState; readonly asked: { readonly deadline: number | null } },
  attempt: Attempt | null,
  { configuration }: Loaded,
): RunState {
  if (attempt === null || run.redrive === attempt.deadLetter) return run;
  return anotherAttempt(run, attempt.deadLetter, asked, configuration.limits, attempt.at);
}

/**
 * A signature that was good and is accepted no longer is no attack: the ledger says that the record is the
 * dead-lettered one. So its run ends with an error, as that of any record that cannot be processed.
 */
export async function verified<T>(redriven: Redriven | null, verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (redriven === null || !(error instanceof Fault) || !isSecurityFault(error.code)) throw error;
    const why = `What the dead letter ${redriven.deadLetter} carries is not accepted any more, for instance because the keys were rotated since: ${error.message}`;
    throw new Fault('invalid_request', `${why} Ask again under a new request_id.`, false, { cause: error });
  }
}

function tooOld(deadLetter: string): Fault {
  const message = `What the turn of the dead letter ${deadLetter} did is remembered for a week, which is over. It was not run again, since it could do things twice.`;
  return new Fault('invalid_request', message, false);
}
