import type { Incoming } from '@sluice/bus';

/** Where a turn of a run stands that the filter granted, or that says so. */
export interface OpenTurn {
  readonly requestId: string;
  readonly attempt: string | null;
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
  /** When the run must have ended, milliseconds since the epoch. */
  readonly deadline: number;
  readonly decidedAt: number;
}

/** Turns that are kept of a run: anybody who may write can put forged ones beside the last honest one. */
const mostTurns = 8;

/** Runs that have not ended, by the Toolsets and AgentResponses on the log: of each the last turns, and never a record. */
export class OpenRuns {
  private readonly turns = new Map<string, readonly OpenTurn[]>();
  /** When the last of them ended: over topics and partitions an end may be read before what it ended. */
  private readonly ended = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** False if there is no room for one more run. */
  add({ record, key, partition, offset }: Incoming<'agent.toolsets'>): boolean {
    const { requestId, run, decidedAt } = record;
    if (decidedAt <= (this.ended.get(requestId) ?? -Infinity)) return true;
    const known = this.turns.get(requestId) ?? [];
    if (known.length === 0 && this.turns.size >= this.most) return false;
    const { deadline, redrive: attempt } = run;
    const turn = { requestId, attempt, key, partition, offset, deadline, decidedAt };
    this.turns.set(requestId, [turn, ...known].slice(0, mostTurns));
    return true;
  }

  /** The run has ended: what was granted before that needs no end. */
  end({ record }: Incoming<'agent.responses'>): void {
    const { requestId, endedAt } = record;
    this.ended.delete(requestId);
    this.ended.set(requestId, endedAt);
    if (this.ended.size > this.most) this.ended.delete(this.ended.keys().next().value ?? '');
    const later = (this.turns.get(requestId) ?? []).filter(({ decidedAt }) => decidedAt > endedAt);
    if (later.length === 0) this.turns.delete(requestId);
    else this.turns.set(requestId, later);
  }

  /** The last turns first, of each run in which one’s time was up by then. */
  overdue(now: number): readonly (readonly OpenTurn[])[] {
    const found: (readonly OpenTurn[])[] = [];
    for (const turns of this.turns.values()) {
      const due = turns.filter(({ deadline }) => deadline <= now);
      if (due.length > 0) found.push(due);
    }
    return found;
  }

  /** The turn is not the filter’s, or its run has ended. */
  drop({ requestId, partition, offset }: OpenTurn): void {
    const left = (this.turns.get(requestId) ?? []).filter(
      (one) => one.partition !== partition || one.offset !== offset,
    );
    if (left.length === 0) this.turns.delete(requestId);
    else this.turns.set(requestId, left);
  }
}
