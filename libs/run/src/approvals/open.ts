import { topics } from '@sluice/contracts';
import type { ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
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
 * Approvals that were asked for and have no outcome yet, by their ids, as far as the records count. Of each, what
 * `keep` makes of it is kept, so that memory is bounded by that. Reading on adds to what was read before, in any
 * overlap.
 */
export class OpenApprovals<T> {
  readonly open = new Map<string, T>();
  private readonly closed = new Set<string>();
  /** Those of the open ones that were asked for ahead of their turn: they are asked for again when it comes to them. */
  private readonly ahead = new Set<string>();

  constructor(
    private readonly bus: Bus,
    private readonly counts: Counts,
    private readonly keep: (requested: ApprovalRequested, position: ApprovalPosition) => T,
  ) {}

  /** Whether some may have been left out: then the same is read again once others are decided. */
  get isFull(): boolean {
    return this.open.size >= mostOpen;
  }

  async read(sinceTime: number, signal = new AbortController().signal): Promise<void> {
    const options = { from: { time: sinceTime }, onUndecodable: () => undefined, signal } as const;
    for await (const message of this.bus.read([topics.approvals], options)) {
      const { record, partition, offset, timestamp } = message;
      const { requested, outcome } = record;
      const closes = outcome !== null && isClosing(outcome);
      if ((requested === null && !closes) || !(await this.counts(message))) continue;
      if (closes) this.close(outcome.approvalId);
      if (requested === null || this.isFull) continue;
      const { approvalId, behind } = requested;
      if (this.closed.has(approvalId)) continue;
      const isAgain = this.ahead.has(approvalId) && behind === null;
      if (this.open.has(approvalId) && !isAgain) continue;
      this.open.set(approvalId, this.keep(requested, { partition, offset, timestamp }));
      if (behind === null) this.ahead.delete(approvalId);
      else this.ahead.add(approvalId);
    }
  }

  private close(approvalId: string): void {
    this.open.delete(approvalId);
    this.ahead.delete(approvalId);
    this.closed.add(approvalId);
    if (this.closed.size > mostClosed) this.closed.delete(this.closed.values().next().value as string);
  }
}

/** Whether the outcome is the end of the approval: the decision counts, and no other one is needed. */
export function isClosing({ notTaken, stillNeeded }: Pick<ApprovalOutcome, 'notTaken' | 'stillNeeded'>): boolean {
  return notTaken === null && stillNeeded === 0;
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
