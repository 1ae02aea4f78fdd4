import { topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import { skipUndecodable, recordAt } from '@sluice/bus';

/** Open approvals that are looked at in one go, the oldest first: the others come up when these are decided. */
const mostOpen = 10_000;
/**
 * Ids of decided approvals that are remembered while the log is read, so that a copy of what was asked opens none of
 * them again.
 */
const mostClosed = 100_000;

/** Where an ApprovalRequested stands on agent.approvals. */
export interface ApprovalPosition {
  readonly partition: number;
  readonly offset: number;
  /** When the log took it, milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Whether a request or an outcome is an executor’s: anybody who may decide can write one (`CountingApprovals`). */
export type Counts = (message: Incoming<'agent.approvals'>) => Promise<boolean>;

/**
 * The approvals that were asked for since the given time and have no outcome yet, by their ids, as far as the records
 * count. Of each, what `keep` makes of it is kept, so that memory is bounded by that.
 */
export async function openApprovals<T>(
  bus: Bus,
  sinceTime: number,
  counts: Counts,
  keep: (requested: ApprovalRequested, place: ApprovalPosition) => T,
  signal = new AbortController().signal,
): Promise<ReadonlyMap<string, T>> {
  const open = new Map<string, T>();
  const closed = new Set<string>();
  const options = { from: { time: sinceTime }, onUndecodable: () => undefined, signal } as const;
  for await (const message of bus.read([topics.approvals], options)) {
    const { record, partition, offset, timestamp } = message;
    const { requested, outcome } = record;
    const closes = outcome !== null && outcome.notTaken === null;
    if ((requested === null && !closes) || !(await counts(message))) continue;
    if (closes) {
      open.delete(outcome.approvalId);
      closed.add(outcome.approvalId);
      if (closed.size > mostClosed) closed.delete(closed.values().next().value as string);
    }
    if (requested === null || open.size >= mostOpen) continue;
    const { approvalId } = requested;
    if (!open.has(approvalId) && !closed.has(approvalId))
      open.set(approvalId, keep(requested, { partition, offset, timestamp }));
  }
  return open;
}

/** The turn at this place, undefined if there is none: where it was parked. */
export function turnAt(
  bus: Bus,
  place: Pick<ApprovalPosition, 'partition' | 'offset'>,
): Promise<Incoming<'agent.tool-calls'> | undefined> {
  return recordAt(bus, topics.toolCalls, place);
}

/** The ApprovalRequested at this place, undefined if there is none. */
export async function approvalAt(
  bus: Bus,
  place: Pick<ApprovalPosition, 'partition' | 'offset'>,
): Promise<ApprovalRequested | undefined> {
  return (await recordAt(bus, topics.approvals, place, skipUndecodable))?.record.requested ?? undefined;
}
