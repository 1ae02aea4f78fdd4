import type { AuditRecord } from '@sluice/contracts';
import { hashOf } from '../chain.js';
import { entry } from './findings.js';
import type { AuditPosition, Findings } from './findings.js';
import { Ranges } from './ranges.js';

/** A record that may be the chain’s entry of some sequence. */
interface Candidate {
  readonly sequence: number;
  readonly place: AuditPosition | null;
  readonly intact: boolean;
  /** What the next entry may name as the hash before it. A changed record keeps its place in the chain by either. */
  readonly hashes: readonly string[];
}

/** Rivals for one place that are remembered; more are named at once. */
const mostRivals = 16;
/** Hashes that are remembered for what is signed a little later. */
const remembered = 1_024;

/**
 * Follows one chain, record by record, and says which of them are not the ones that were written. Who of several that
 * claim a place was there first is known when the next one comes, since that names the hash it follows on.
 */
export class ChainVerifier {
  entries = 0;
  /** Of the last place that is filled. */
  sequence = 0;
  readonly missing = new Ranges();
  private readonly recent = new Map<number, string>();
  private base: readonly string[] = [];
  private tips: readonly Candidate[] = [{ sequence: 0, place: null, intact: true, hashes: [''] }];
  /** Broken records that follow on nothing known: one of them may be the next entry. */
  private doubtful: readonly Candidate[] = [];

  constructor(
    readonly chain: string,
    private readonly findings: Findings,
  ) {}

  /** The hash of the last entry. */
  get head(): string {
    return this.tips[0]?.hashes[0] ?? '';
  }

  /** Takes the next record; true if it is intact and follows on, as far as is known now. */
  take(record: AuditRecord, place: AuditPosition): boolean {
    this.entries++;
    const computed = hashOf(record);
    const intact = computed === record.hash;
    const hashes = intact ? [record.hash] : [record.hash, computed];
    const candidate = { sequence: record.sequence, place, intact, hashes };
    if (this.follows(candidate, record.previousHash)) return intact;
    const [doubt, ...others] = this.doubtful;
    const isAfterDoubt = doubt?.hashes.includes(record.previousHash) || record.sequence > this.sequence + 1;
    if (doubt !== undefined && (isAfterDoubt || !intact)) {
      // It holds the next place, for all that is wrong with it.
      this.doubtful = others;
      this.advance([doubt]);
      if (this.follows(candidate, record.previousHash)) return intact;
    }
    if (!intact) {
      this.doubtful = [...this.doubtful, candidate];
      return false;
    }
    this.outOfLine(candidate, record.previousHash);
    return false;
  }

  /**
   * Whether the entry of a sequence has this hash, which was signed; undefined if it is changed anyway or too long
   * ago to say.
   */
  signed(sequence: number, hash: string): boolean | undefined {
    if (sequence === this.sequence) {
      const tip = this.tips.find(({ hashes }) => hashes.includes(hash));
      if (tip === undefined) return false;
      // Of several that claim the place, this is the one.
      this.tips = [tip, ...this.tips.filter((other) => other !== tip)];
      return tip.intact ? true : undefined;
    }
    const found = this.recent.get(sequence);
    return found === undefined ? undefined : found === hash;
  }

  end(): void {
    const [doubt, ...others] = this.doubtful;
    for (const other of others) this.inserted(other);
    if (doubt !== undefined) this.advance([doubt]);
    this.settle(this.tips[0]);
    for (const range of this.missing.list) this.findings.add('dropped', this.chain, { entries: range });
  }

  /** The ordinary case: it names the hash of what stands at the end, or is a rival of that. */
  private follows(candidate: Candidate, previous: string): boolean {
    const { sequence, intact } = candidate;
    const before = this.tips.find(({ hashes }) => hashes.includes(previous));
    const isNext = sequence === this.sequence + 1;
    if (before !== undefined && (isNext || !intact)) {
      for (const doubt of this.doubtful) this.inserted(doubt);
      this.doubtful = [];
      this.advance([candidate], before);
      return true;
    }
    if (!this.base.includes(previous) || (sequence !== this.sequence && intact)) return false;
    if (this.tips.length < mostRivals) this.tips = [...this.tips, candidate];
    else this.inserted(candidate);
    return true;
  }

  /** Intact by itself, but it does not follow on what is there. */
  private outOfLine(candidate: Candidate, previous: string): void {
    const { sequence } = candidate;
    if (sequence > this.sequence) {
      for (const doubt of this.doubtful) this.inserted(doubt);
      this.doubtful = [];
      const gap = sequence > this.sequence + 1;
      if (gap && !this.missing.add(this.sequence + 1, sequence - 1))
        this.findings.add('dropped', this.chain, { entries: { first: this.sequence + 1, last: sequence - 1 } });
      // Without a gap, what stands before is not what was there when this one was written.
      this.settle(this.tips[0], !gap);
      this.place([candidate], [previous], sequence);
    } else if (this.missing.take(sequence)) {
      const what = `It stands behind entry ${this.sequence}.`;
      this.findings.add('moved', this.chain, { entries: entry(sequence), place: candidate.place, what });
    } else this.inserted(candidate);
  }

  private advance(tips: readonly Candidate[], chosen = this.tips[0]): void {
    this.settle(chosen);
    this.place(tips, chosen?.hashes ?? [], this.sequence + 1);
  }

  private place(tips: readonly Candidate[], base: readonly string[], sequence: number): void {
    this.base = base;
    this.tips = tips;
    this.sequence = sequence;
  }

  /** Of those that claimed the place, the chosen one had it. */
  private settle(chosen: Candidate | undefined, replaced = false): void {
    for (const tip of this.tips) if (tip !== chosen) this.inserted(tip);
    if (chosen === undefined || this.sequence === 0) return;
    if (!chosen.intact) this.changed(chosen, this.sequence);
    else if (replaced) {
      const what = 'It agrees with its own hash, but the next entry was written behind another one.';
      this.findings.add('changed', this.chain, { entries: entry(this.sequence), place: chosen.place, what });
    }
    this.recent.set(this.sequence, chosen.hashes[0] ?? '');
    if (this.recent.size > remembered) this.recent.delete(this.recent.keys().next().value ?? 0);
  }

  private changed({ place, sequence: written }: Candidate, sequence: number): void {
    const what = `It does not agree with its hash${written === sequence ? '' : `, and calls itself entry ${written}`}.`;
    this.findings.add('changed', this.chain, { entries: entry(sequence), place, what });
  }

  private inserted({ place, sequence }: Candidate): void {
    this.findings.add('inserted', this.chain, { entries: entry(sequence), place });
  }
}
