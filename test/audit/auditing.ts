import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, Signatures } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';
import { verifyAudit } from '@sluice/audit';
import type { AuditReport } from '@sluice/audit';
import type { Bus } from '@sluice/bus';

/** An entry with its details read. */
export interface Entry extends Omit<AuditRecord, 'details'> {
  readonly details: JsonObject;
}

/** What the audit has told so far, in the order of the log. */
export async function entries(bus: Pick<Bus, 'read'>): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for await (const { record } of bus.read([topics.audit], { from: 'start' }))
    found.push({ ...record, details: JSON.parse(record.details) as JsonObject });
  return found;
}

/** Waits until everything that is on the log is told of, and gives the report of that moment. */
export async function caughtUp(bus: Pick<Bus, 'read'>, signatures: Signatures): Promise<AuditReport> {
  return until(
    'everything is told of',
    () => verifyAudit(bus, { signatures }),
    ({ sources }) => {
      return sources.waiting === 0 && sources.compared > 0;
    },
  );
}

/** Looks again until it is so. */
export async function until<T>(what: string, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const end = performance.now() + 60_000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > end) throw new Error(`This never came: ${what}.`);
    await delay(50);
  }
}
