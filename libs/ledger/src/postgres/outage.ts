import type { Fault } from '@sluice/core';
import type { LedgerLog } from '../ledger-log.js';

const sayAgainMs = 30_000;

/**
 * Says once that the database is away, again from time to time, and that it is back: one voice for all who wait for
 * it.
 */
export class Outage {
  private since: number | undefined;
  private saidAt = 0;

  constructor(private readonly log: LedgerLog) {}

  noticed({ message }: Fault): void {
    const now = performance.now();
    this.since ??= now;
    if (this.saidAt !== 0 && now - this.saidAt < sayAgainMs) return;
    this.saidAt = now;
    this.log('warn', `${message} It is tried again.`, { away_ms: Math.round(now - this.since) });
  }

  over(): void {
    if (this.since === undefined) return;
    this.log('info', 'The ledger’s database answers again.', {
      away_ms: Math.round(performance.now() - this.since),
    });
    this.since = undefined;
    this.saidAt = 0;
  }
}

/** Back-off in milliseconds; `failures` counts from 1. */
export function backOffMs(failures: number): number {
  return Math.min(100 * 2 ** (failures - 1), 2_000);
}
