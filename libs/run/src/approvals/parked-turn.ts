import { sha256 } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import { turnAt } from './open.js';

/** The parked turn, if it is the one that was asked about: the same call with the same arguments. */
export async function parkedTurn(
  requested: ApprovalRequested,
  bus: Bus,
): Promise<Incoming<'agent.tool-calls'> | undefined> {
  const { requestId, tenantId, iteration, index, tool, argumentsHash } = requested;
  const turn = await turnAt(bus, requested);
  if (turn?.record.requestId !== requestId || turn.record.run.principal?.tenantId !== tenantId) return undefined;
  const call = turn.record.calls[index];
  const same = turn.record.iteration === iteration && call?.tool === tool;
  return same && sha256(call.arguments) === argumentsHash ? turn : undefined;
}
