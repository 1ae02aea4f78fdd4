import { runName } from '@sluice/core';
import type { Tenant } from '@sluice/core';
import type { Incoming } from '@sluice/bus';
import { runOfEnd, runOfRecord } from '@sluice/run';

/** Where a turn of a run stands that the filter granted, or that says so. */
export interface OpenTurn {
  /** Which run it is: that of its tenant by this request_id. */
  readonly name: string;
  readonly requestId: string;
  readonly tenant: Tenant;
  readonly attempt: string | null;
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
  /** When the log took it, milliseconds since the epoch. */
  readonly timestamp: number;
  /** When the run must have ended, milliseconds since the epoch. */
  readonly deadline: number;
  readonly decidedAt: number;
}

/** Turns that are kept of a run: anybody who may write can put forged ones beside the last honest one. */
const mostTurns = 8;

/**
 * Runs that have not ended, by the Toolsets and AgentResponses on the log: of each the last turns, and never a
 * record.
 */
export class OpenRuns {
  private readonly turns = new Map<string, readonly OpenTurn[]>();
  /** When the last of them ended: over topics and partitions an end may be read before what it ended. */
  private readonly ended = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** False if there is no room for one more run. */
  add({ record, key, partition, offset, timestamp }: Incoming<'agent.toolsets'>): boolean {
    const { run, decidedAt } = record;
    const { requestId, tenant } = runOfRecord(record);
    const name = runName(requestId, tenant);
    if (decidedAt <= (this.ended.get(name) ?? -Infinity)) return true;
    const known = this.turns.get(name) ?? [];
    if (known.length === 0 && this.turns.size >= this.most) return false;
    const { deadline, redrive: attempt } = run;
    const position = { key, partition, offset, timestamp };
    const turn = { name, requestId, tenant, attempt, ...position, deadline, decidedAt };
    this.turns.set(name, [turn, ...known].slice(0, mostTurns));
    return true;
  }

  /** The run has ended: what was granted before that needs no end. */
  end({ record }: Incoming<'agent.responses'>): void {
    const { endedAt } = record;
    const { requestId, tenant } = runOfEnd(record);
    const name = runName(requestId, tenant);
    this.ended.delete(name);
    this.ended.set(name, endedAt);
    if (this.ended.size > this.most) this.ended.delete(this.ended.keys().next().value ?? '');
    const later = (this.turns.get(name) ?? []).filter(({ decidedAt }) => decidedAt > endedAt);
    if (later.length === 0) this.turns.delete(name);
    else this.turns.set(name, later);
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

  /** The run waits for people, or has waited since the turn was granted: it may last until then. */
  putOff({ name, partition, offset }: OpenTurn, deadline: number): void {
    const turns = this.turns.get(name) ?? [];
    const later = turns.map((one) =>
      one.partition === partition && one.offset === offset ? { ...one, deadline } : one,
    );
    if (later.length > 0) this.turns.set(name, later);
  }

  /** When the log took the oldest turn that is kept; Infinity if none is. */
  oldest(): number {
    let oldest = Infinity;
    for (const turns of this.turns.values()) for (const { timestamp } of turns) oldest = Math.min(oldest, timestamp);
    return oldest;
  }

  /** How many runs each tenant has open, with those of calls, by their names: such a run may have a turn, too. */
  byTenant(calls: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const count = (tenant: string): void => void counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    for (const [turn] of this.turns.values()) if (turn !== undefined && turn.tenant !== null) count(turn.tenant);
    for (const [name, tenant] of calls) if (!this.turns.has(name)) count(tenant);
    return counts;
  }

  /** The turn is not the filter’s, or its run has ended. */
  drop({ name, partition, offset }: OpenTurn): void {
    const left = (this.turns.get(name) ?? []).filter((one) => one.partition !== partition || one.offset !== offset);
    if (left.length === 0) this.turns.delete(name);
    else this.turns.set(name, left);
  }
}
