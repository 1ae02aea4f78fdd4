import { Fault } from '@sluice/core';
import type { Clock, Verifier } from '@sluice/core';
import type { AgentStepResult } from '@sluice/contracts';
import type { Source } from '@sluice/audit';
import { withoutHash } from '@sluice/decisions';
import { verifyContinuation, verifyGrant, verifyReturned } from '@sluice/service';

/** With all keys that were ever used: a chain may be written long after its records were. */
export interface Verifying {
  readonly signatures: Verifier;
  readonly clock: Clock;
}

/** Whether the signature of filter or executor on a record holds, however old; true for records without one. */
export async function isAuthentic(message: Source, verifying: Verifying): Promise<boolean> {
  if (message.topic === 'agent.steps') {
    const { record } = message;
    if (await holds(verifyContinuation(record, verifying))) return tellsItsHistory(record);
    // A turn that a redrive sends back to the filter is signed by the filter’s own grant, and has no steps.
    return record.steps.length === 0 && holds(verifyReturned(record, verifying));
  }
  if (message.topic === 'agent.toolsets' || message.topic === 'agent.tool-calls')
    return holds(verifyGrant(message.record, verifying));
  return true;
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

/**
 * The signature is over the history as it goes on; the turn’s own steps are the end of it, or were altered. Hashes of results do not go on:
 * each is made with the executor’s key, so that no other service can make one that holds.
 */
function tellsItsHistory({ steps, next }: AgentStepResult): boolean {
  const end = next.history.slice(next.history.length - steps.length);
  return JSON.stringify(steps.map(withoutHash)) === JSON.stringify(end.map(withoutHash));
}
