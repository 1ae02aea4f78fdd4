import type { Clock, Fault, FaultCode } from '@sluice/core';
import type { BusLog } from '../port.js';
import type { Stored } from './stored.js';

/** How often a fault that lasts is told of, milliseconds. */
const everyMs = 30_000;

/** Says which records are tried again and why: of each kind of fault the first one at once, and while more come one every half minute. */
export class RetryLog {
  readonly #told = new Map<FaultCode, { readonly at: number; untold: number }>();

  constructor(
    private readonly group: string,
    private readonly log: BusLog,
    private readonly clock: Clock,
  ) {}

  noticed({ code, message }: Fault, { topic, partition, offset }: Stored, attempt: number): void {
    const before = this.#told.get(code);
    const at = this.clock.now();
    if (before !== undefined && at - before.at < everyMs) {
      before.untold++;
      return;
    }
    this.#told.set(code, { at, untold: 0 });
    const others = before?.untold ?? 0;
    this.log('warn', `${message} The record is tried again.`, {
      group: this.group,
      topic,
      partition,
      offset,
      attempt,
      code,
      ...(others === 0 ? {} : { others_since: others }),
    });
  }
}
