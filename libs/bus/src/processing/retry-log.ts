import type { Clock, Fault, FaultCode } from '@sluice/core';
import type { BusLog } from '../port.js';
import type { Stored } from './stored.js';

/** How often a fault that lasts is logged, milliseconds. */
const everyMs = 30_000;

/**
 * Says which records are tried again and why: of each kind of fault the first one at once, and while more come one
 * every half minute.
 */
export class RetryLog {
  private readonly loggedAt = new Map<FaultCode, number>();

  constructor(
    private readonly group: string,
    private readonly log: BusLog,
    private readonly clock: Clock,
  ) {}

  noticed({ code, message }: Fault, { topic, partition, offset }: Stored, attempt: number): void {
    const at = this.clock.now();
    const loggedAt = this.loggedAt.get(code) ?? -Infinity;
    // A clock that was set back silences nothing.
    if (at >= loggedAt && at - loggedAt < everyMs) return;
    this.loggedAt.set(code, at);
    this.log('warn', `${message} The record is tried again.`, {
      group: this.group,
      topic,
      partition,
      offset,
      attempt,
      code,
    });
  }
}
