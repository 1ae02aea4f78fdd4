import type { AuditRecord } from '@sluice/contracts';
import type { Findings } from './findings.js';

/** Entries whose source has not come by, one chain’s: the log’s order over topics is that of its clocks. */
const mostBehind = 100_000;

/** A record that was read and has no entry yet. */
interface Waiting {
  readonly hash: string | null;
  readonly timestamp: number | null;
}

const keptForEver = 'Records of this topic are kept for ever, so no retention took it.';

/** Compares the entries of one chain with the records they tell of, where those are still on the log. */
export class SourceComparison {
  /** Entries whose source is gone: retention took it. */
  gone = 0;
  compared = 0;
  private readonly ahead = new Map<number, Waiting>();
  private readonly behind = new Map<number, string | null>();
  private first: number | undefined;
  private told = -1;

  constructor(
    private readonly chain: string,
    private readonly findings: Findings,
    /** Whether the records are kept for ever: then one that is gone was deleted. */
    private readonly isKeptForEver = false,
  ) {}

  /** Records that were read and have no entry yet. */
  get waiting(): number {
    return this.ahead.size;
  }

  /**
   * Since when the oldest of these stands on the log, milliseconds since the epoch; null if there is none whose time
   * is known.
   */
  get waitingSince(): number | null {
    for (const { timestamp } of this.ahead.values()) if (timestamp !== null) return timestamp;
    return null;
  }

  /** A record of the source’s partition; its hash and time are null if it cannot be decoded. */
  source(offset: number, hash: string | null, timestamp: number | null): void {
    if (this.first === undefined) {
      this.first = offset;
      for (const told of [...this.behind.keys()]) if (told < offset) this.isGone(told);
    }
    const told = this.behind.get(offset);
    if (told === undefined) this.ahead.set(offset, { hash, timestamp });
    else {
      this.behind.delete(offset);
      this.compare(offset, hash, told);
    }
  }

  /** An entry that the chain took. The second one of the same record tells nothing new here. */
  entry({ sourceOffset, sourceHash }: AuditRecord): void {
    if (sourceOffset <= this.told) return;
    this.told = sourceOffset;
    const told = sourceHash === '' ? null : sourceHash;
    const waiting = this.ahead.get(sourceOffset);
    if (waiting !== undefined) {
      this.ahead.delete(sourceOffset);
      this.compare(sourceOffset, waiting.hash, told);
    } else if (this.first !== undefined && sourceOffset < this.first) this.isGone(sourceOffset);
    else this.waits(sourceOffset, told);
  }

  end(): void {
    for (const offset of [...this.behind.keys()]) {
      if (this.first === undefined || offset < this.first) this.isGone(offset);
      else this.findings.add('source_dropped', this.chain, { sourceOffset: offset });
    }
    for (const offset of [...this.ahead.keys()].filter((one) => one < this.told)) {
      this.ahead.delete(offset);
      this.findings.add('source_untold', this.chain, { sourceOffset: offset });
    }
  }

  private waits(offset: number, told: string | null): void {
    this.behind.set(offset, told);
    if (this.behind.size <= mostBehind) return;
    const oldest = this.behind.keys().next().value ?? 0;
    this.behind.delete(oldest);
    if (this.first === undefined) this.isGone(oldest);
    else this.findings.add('source_dropped', this.chain, { sourceOffset: oldest });
  }

  /** Nothing is left before it, so that retention may have taken it. */
  private isGone(offset: number): void {
    this.behind.delete(offset);
    if (!this.isKeptForEver) this.gone++;
    else this.findings.add('source_dropped', this.chain, { sourceOffset: offset, what: keptForEver });
  }

  private compare(offset: number, hash: string | null, told: string | null): void {
    this.compared++;
    if (hash !== told) this.findings.add('source_changed', this.chain, { sourceOffset: offset });
  }
}
