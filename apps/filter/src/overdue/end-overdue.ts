import { trustedTimeOf } from '@sluice/bus';
import { Fault } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentStepResult } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  cancelledTurn,
  cancelOf,
  endedBy,
  endRun,
  isOverdue,
  isTurnClaimed,
  outOfTime,
  outOfTimeQuarantined,
  quarantinedAt,
  runOfRecord,
  verifyRecord,
  verifyReturned,
} from '@sluice/run';
import type { Runtime } from '@sluice/host';

/**
 * Whether the record is a turn that the sweep took back since its run’s time is up. The filter granted it, so its
 * deadline is the run’s.
 */
export async function isOverdueTurn(
  message: Incoming<'agent.steps'>,
  runtime: Pick<Runtime, 'signatures'>,
): Promise<boolean> {
  const { record } = message;
  if (!isOverdue(record, trustedTimeOf(message))) return false;
  try {
    await verifyReturned(record, runtime);
    await verifyRecord(message, runtime, 'filter');
    return true;
  } catch (error) {
    if (error instanceof Fault && !error.retryable) return false;
    throw error;
  }
}

/**
 * The end of a run whose time is up, as any handler’s output: once, however often the turn was taken back. If the run
 * has gone on from the turn, another record of it is live and ends it.
 */
export async function endOverdue(
  message: Incoming<'agent.steps'>,
  context: HandlerContext,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const { record } = message;
  // The clock of who took it back goes before: it comes again.
  if (record.run.deadline > trustedTimeOf(message)) return [];
  if (await isTurnClaimed(topics.steps, record, runtime)) return [];
  const turn = { ...record, request: record.next };
  const now = runtime.clock.now();
  const cancelled = await cancelOf(record, runtime);
  const response =
    cancelled !== null
      ? cancelledTurn(turn, record.run, cancelled, now)
      : (await isQuarantined(record, runtime))
        ? outOfTimeQuarantined(turn, now)
        : outOfTime(turn, now);
  return endRun(response, record.next, endedBy(message, record.run), context, runtime);
}

/** What a turn goes through. */
const turnTopics = [topics.toolsets, topics.toolCalls, topics.steps] as const;

/**
 * Whether a record of the turn was quarantined in place of the one that the run waited for: the hop before it was
 * taken, and no honest record of its own. A forged copy beside an honest record says nothing.
 */
async function isQuarantined(record: AgentStepResult, runtime: Pick<Runtime, 'ledger' | 'clock'>): Promise<boolean> {
  const { iteration } = record;
  for (const topic of turnTopics) {
    if (await isTurnClaimed(topic, record, runtime)) continue;
    return (await quarantinedAt({ topic, iteration, ...runOfRecord(record) }, runtime)) !== null;
  }
  return false;
}
