import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@sluice/core';

/** How long a lease holds without renewal, and how often it is renewed, milliseconds. */
const leaseMs = 10_000;
export const renewMs = 3_000;

/** Who asks for leases: a process of this host. */
export interface Holder {
  readonly instance: string;
  readonly processId: number;
  readonly isAlive: (processId: number) => boolean;
}

/** The group's records have another owner now; nothing of the former holder may be committed any more. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The right to consume as a group. Its generation rises with each holder; who has an older one can commit nothing. */
export interface Lease {
  /** In a transaction: throws LeaseLost if a later generation is in force. */
  check(): void;
  /** In a transaction: for another ten seconds. Throws LeaseLost. */
  renew(): void;
  /** In a transaction: free for the next one, if it is still ours. */
  release(): void;
}

/** Another process consumes as the group; the sentence names it. */
export class GroupHeld extends Error {
  override readonly name = 'GroupHeld';
  constructor(group: string, { processId, instance }: LiveHolder) {
    super(
      `The group ${group} is being consumed by process ${processId} (${instance}) on the same log. ` +
        'End that process, wait ten seconds if it is gone already, or give this one a log of its own.',
    );
  }
}

export interface LiveHolder {
  readonly processId: number;
  readonly instance: string;
}

const leaseQuery = 'SELECT generation, instance, process_id, expires_at FROM leases WHERE consumer_group = ?';

/** The other process that holds the group's lease, if it lives and its lease has not run out. */
export function liveHolder(database: DatabaseSync, group: string, self: Holder, clock: Clock): LiveHolder | null {
  const row = database.prepare(leaseQuery).get(group);
  const processId = (row?.['process_id'] ?? null) as number | null;
  // This very process asks again: what it held before belongs to a bus that was closed.
  if (processId === null || processId === self.processId) return null;
  if ((row?.['expires_at'] as number) <= clock.now() || !self.isAlive(processId)) return null;
  return { processId, instance: String(row?.['instance']) };
}

/** In a transaction: no process holds a lease any more. For a copy of a log, whose leases are of the original. */
export function freeLeases(database: DatabaseSync): void {
  database.exec('UPDATE leases SET process_id = NULL, expires_at = 0');
}

/** In a transaction. Throws GroupHeld. */
export function acquireLease(database: DatabaseSync, group: string, holder: Holder, clock: Clock): Lease {
  const find = database.prepare(leaseQuery);
  const put = database.prepare('INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)');
  const current = find.get(group);
  const other = liveHolder(database, group, holder, clock);
  if (other !== null) throw new GroupHeld(group, other);
  const generation = ((current?.['generation'] as number | undefined) ?? 0) + 1;
  const write = (expiresAt: number, by: number | null) => put.run(group, generation, holder.instance, by, expiresAt);
  const check = () => {
    const row = find.get(group);
    if (row?.['generation'] === generation) return;
    throw new LeaseLost(
      `The group ${group} was taken over by process ${String(row?.['process_id'])} (${String(row?.['instance'])}). ` +
        'What this process had in work is done again there.',
    );
  };
  write(clock.now() + leaseMs, holder.processId);
  return {
    check,
    renew: () => {
      check();
      write(clock.now() + leaseMs, holder.processId);
    },
    release: () => {
      if (find.get(group)?.['generation'] === generation) write(0, null);
    },
  };
}
