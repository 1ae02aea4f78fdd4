import type { AuditRecord } from '@sluice/contracts';
import { entry } from './findings.js';
import type { AuditPosition, Findings } from './findings.js';

/**
 * One chain’s entries tell of the records of its partition in their order: who has the hashes right, and goes back,
 * did not write for the audit.
 */
export class EntryOrder {
  private told = -1;

  constructor(
    private readonly chain: string,
    private readonly findings: Findings,
  ) {}

  /** An entry that the chain took. */
  take({ sequence, sourceOffset }: AuditRecord, place: AuditPosition): void {
    if (sourceOffset < this.told) {
      const what = `Its source offset ${sourceOffset} is before ${this.told}, which has an entry.`;
      this.findings.add('inserted', this.chain, { entries: entry(sequence), place, what, sourceOffset });
    }
    this.told = sourceOffset;
  }
}
