import { clockSkewMs } from '@sluice/core';
import type { TimeThere } from '@sluice/ledger';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';

/** A difference that is worth a warning, milliseconds: times of grants, claims, approvals and limits are off by it. */
const worthSayingMs = 5_000;
const sayAgainMs = 600_000;

/** Compares the clock of this machine with that of the ledger's database, which all processes share. */
export class ClockWatch {
  private skewMs = 0;
  private sentence = '';
  /** When it was last said, on the monotonic clock; undefined while there is nothing to say. */
  private saidAt: number | undefined;

  constructor(private readonly given: { readonly log: Log; readonly metrics: Pick<Metrics, 'clockSkew'> }) {}

  note(time: TimeThere): void {
    const { log, metrics } = this.given;
    this.skewMs = skewOf(time);
    metrics.clockSkew.set(this.skewMs / 1_000);
    if (Math.abs(this.skewMs) < worthSayingMs) {
      if (this.saidAt !== undefined) log.info('the clocks of this machine and of the database agree again');
      this.saidAt = undefined;
      return;
    }
    this.sentence = sentenceOf(time, this.skewMs);
    if (this.saidAt !== undefined && performance.now() - this.saidAt < sayAgainMs) return;
    this.saidAt = performance.now();
    log.warn({ skew_ms: this.skewMs }, this.sentence);
  }

  /** Rejects with a sentence while the clocks differ by more than what is promised can bear. */
  check(): Promise<void> {
    return Math.abs(this.skewMs) > clockSkewMs ? Promise.reject(new Error(this.sentence)) : Promise.resolve();
  }
}

/**
 * Milliseconds that this machine's clock is ahead at least, negative if it is behind; 0 as long as the answer's
 * journey explains the difference.
 */
function skewOf({ there, asked, answered }: TimeThere): number {
  if (there < asked) return Math.floor(asked - there);
  return there > answered ? Math.ceil(answered - there) : 0;
}

function sentenceOf({ there, asked, answered }: TimeThere, skewMs: number): string {
  const [here, theirs] = [(asked + answered) / 2, there].map((time) => new Date(time).toISOString());
  const side = skewMs > 0 ? 'ahead' : 'behind';
  return `The clock of this machine says ${here} and that of the ledger’s database ${theirs}: it is ${Math.round(Math.abs(skewMs) / 1_000)} s ${side}. Let both follow the same time server (NTP), as all machines of the installation must.`;
}
