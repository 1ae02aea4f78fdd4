import { clockSkewMs } from '@sluice/core';
import type { CheckResult } from '@sluice/core';

/** A difference that is worth a warning, milliseconds. */
const worthSayingMs = 5_000;
/** Dates in headers are whole seconds, and answers take their time. */
const headerMs = 2_000;

/** Clocks of other machines, as checks came to know them. */
export class Clocks {
  private readonly seen: { readonly owner: string; readonly aheadMs: number }[] = [];

  /** By a header, to the second. */
  note(owner: string, clock: { readonly there: number; readonly here: number } | null): void {
    if (clock === null) return;
    const ahead = clock.here - clock.there;
    this.seen.push({ owner, aheadMs: Math.abs(ahead) <= headerMs ? 0 : ahead });
  }

  /** By a database: as long as the answer’s journey explains the difference there is none. */
  noteSpan(owner: string, { there, asked, answered }: { there: number; asked: number; answered: number }): void {
    this.seen.push({ owner, aheadMs: there < asked ? asked - there : Math.min(0, answered - there) });
  }

  result(): CheckResult {
    if (this.seen.length === 0) return { outcome: 'skipped', detail: 'No other clock was there to compare with.' };
    const [worst] = this.seen.toSorted((one, other) => Math.abs(other.aheadMs) - Math.abs(one.aheadMs));
    const { owner = '', aheadMs = 0 } = worst ?? {};
    const off = Math.abs(aheadMs);
    if (off < worthSayingMs)
      return {
        outcome: 'ok',
        detail: `This machine’s clock agrees with that of ${this.seen.map((one) => one.owner).join(', ')}.`,
      };
    return {
      outcome: off > clockSkewMs ? 'failed' : 'warning',
      detail: `This machine’s clock is ${Math.round(off / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${owner}, so credentials and approvals may end too early or too late.`,
      action: 'Let all machines follow the same time server (NTP).',
    };
  }
}
