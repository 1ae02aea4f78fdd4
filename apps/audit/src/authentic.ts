import { Fault } from '@sluice/core';
import type { AgentStepResult } from '@sluice/contracts';
import type { Source } from '@sluice/audit';
import { withoutHash } from '@sluice/decisions';
import { verifyContinuation, verifyGrant } from '@sluice/service';
import type { Runtime } from '@sluice/service';

/** Whether what filter or executor sign of a record is theirs, however old; true where nobody signs. */
export async function isAuthentic(message: Source, runtime: Runtime): Promise<boolean> {
  try {
    if (message.topic === 'agent.steps') {
      await verifyContinuation(message.record, runtime);
      return tellsItsHistory(message.record);
    }
    if (message.topic === 'agent.toolsets' || message.topic === 'agent.tool-calls')
      await verifyGrant(message.record, runtime);
    return true;
  } catch (error) {
    if (error instanceof Fault && !error.retryable) return false;
    throw error;
  }
}

/**
 * The signature is over the history as it goes on; the turn’s own steps are the end of it, or were altered. Hashes of results do not go on:
 * each is made with the executor’s key, so that nobody else can make one that holds.
 */
function tellsItsHistory({ steps, next }: AgentStepResult): boolean {
  const end = next.history.slice(next.history.length - steps.length);
  return JSON.stringify(steps.map(withoutHash)) === JSON.stringify(end.map(withoutHash));
}
