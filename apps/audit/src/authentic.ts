import { Fault } from '@sluice/core';
import type { Clock, Verifier } from '@sluice/core';
import { isSigned, recordContent, redriveHeader } from '@sluice/contracts';
import type { AgentStep, AgentStepResult } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { Source } from '@sluice/audit';
import {
  ConfigurationRecords,
  notInHistories,
  verifyContinuation,
  verifyEnd,
  verifyGrant,
  verifyRecord,
  verifyReturned,
} from '@sluice/run';

/** With all keys that were ever used: a chain may be written long after its records were. */
export interface Verifying {
  readonly signatures: Verifier;
  readonly clock: Clock;
}

/** Whether the signature of filter or executor on a record holds, however old; true for records without one. */
export async function isAuthentic(message: Source, verifying: Verifying): Promise<boolean> {
  if (!isSigned(message)) return true;
  switch (message.topic) {
    case 'agent.steps':
      return isAuthenticStep(message, verifying);
    case 'agent.toolsets':
      return (await holds(verifyGrant(message.record, verifying))) && holds(verifyRecord(message, verifying));
    case 'agent.tool-calls':
      return (await holds(verifyGrant(message.record, verifying))) && holds(verifyRecord(message, verifying));
    case 'agent.config':
      return (await new ConfigurationRecords(verifying.signatures).take(message)).refusal === null;
    case 'agent.responses':
      return holds(verifyEnd(message, verifying));
  }
}

async function isAuthenticStep(message: Incoming<'agent.steps'>, verifying: Verifying): Promise<boolean> {
  const { record } = message;
  // The run ends with a call that its request made itself: nothing goes on.
  if (record.call !== null) return holds(verifyRecord(message, verifying));
  if (await holds(verifyContinuation(record, verifying)))
    return tellsItsHistory(record) && holds(verifyRecord(message, verifying));
  // A turn that goes back to the filter carries the filter’s own grant and has no steps. Who re-drives it has no key
  // to sign it with: there the ledger has a digest of it.
  if (record.steps.length > 0 || !(await holds(verifyReturned(record, verifying)))) return false;
  return message.headers[redriveHeader] !== undefined || holds(verifyRecord(message, verifying, 'filter'));
}

async function holds(verification: Promise<unknown>): Promise<boolean> {
  try {
    await verification;
    return true;
  } catch (error) {
    if (error instanceof Fault && !error.retryable) return false;
    throw error;
  }
}

/** The signature is over the history as it goes on; the turn’s own steps are the end of it, or were altered. */
function tellsItsHistory({ steps, next }: AgentStepResult): boolean {
  const end = next.history.slice(next.history.length - steps.length);
  return steps.length === end.length && steps.every((step, at) => done(step) === done(end[at] as AgentStep));
}

/**
 * What a step says in both: hashes of results do not go on, since each is made with the executor’s key, so that no
 * other service can make one that holds; nor does what is for people alone. What a model’s provider wants back is in
 * the history alone.
 */
function done(step: AgentStep): string {
  return recordContent('AgentStep', step, [...notInHistories, 'providerData']);
}
