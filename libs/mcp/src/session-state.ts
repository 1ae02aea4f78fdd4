import { undefinedState, userOf } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentStep } from '@sluice/contracts';

/** Keys a session by whose it is, so that no id that a client chose or learned opens another one’s. */
export function sessionKey(session: string, principal: Pick<Principal, 'tenantId' | 'actorId' | 'subjectId'>): string {
  const { tenantId, actorId } = principal;
  return sha256(JSON.stringify([tenantId, actorId, userOf(principal), session]));
}

/** The state behind a call: moved by a success alone, and by nothing that the caller says. */
export function stateAfter(
  before: string | null,
  step: Pick<AgentStep, 'outcome' | 'state' | 'stateBefore'>,
): string | null {
  if (step.outcome !== 'ok' || step.state === step.stateBefore) return before;
  return step.state === undefinedState ? null : step.state;
}
