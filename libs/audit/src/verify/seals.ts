import type { Verifier } from '@sluice/core';
import type { AuditRecord } from '@sluice/contracts';
import { isNothingElse, openCheckpoint, signatureOf } from '../checkpoint.js';
import type { Checkpoint } from '../checkpoint.js';
import type { ChainVerifier } from './chain-verifier.js';
import { entry } from './findings.js';
import type { AuditPosition, Difference, Findings } from './findings.js';

/** Where an anchored checkpoint is from. */
export interface Anchor {
  readonly chain: string;
  readonly signature: string;
}

/** Holds one chain against what was signed of it: in the chain, beside it, and what was kept elsewhere. */
export class Seals {
  checkpoints = 0;
  /** Entries up to this sequence are as the audit signed them. */
  sealed = 0;
  /** Checkpoints by keys that are not here. */
  private readonly unknown = new Map<
    string,
    { count: number; readonly entries: number[]; readonly place: AuditPosition }
  >();
  /** Signed for entries that have not come yet. */
  private readonly expected = new Map<number, { readonly head: string; readonly anchored: boolean }>();

  constructor(
    private readonly chain: ChainVerifier,
    private readonly signatures: Verifier,
    private readonly findings: Findings,
  ) {}

  /** A signature that was kept elsewhere, before anything of the chain was read. */
  async anchor({ signature }: Anchor): Promise<void> {
    const checkpoint = await openCheckpoint(signature, this.signatures);
    const unknown = checkpoint === null ? this.signatures.unknownKey('audit', signature) : null;
    if (unknown !== null) {
      const what = `It is one of the anchored checkpoints, and names the key ${unknown}.`;
      this.findings.add('unknown_key', this.chain.chain, { what });
    } else if (checkpoint === null || checkpoint.chain !== this.chain.chain)
      this.findings.add('forged', this.chain.chain, { what: 'It is one of the anchored checkpoints.' });
    else this.expected.set(checkpoint.sequence, { head: checkpoint.head, anchored: true });
  }

  /** A checkpoint’s record, after the chain took it if it is one of its entries. */
  async take(record: AuditRecord, place: AuditPosition): Promise<void> {
    this.checkpoints++;
    const signature = signatureOf(record);
    const checkpoint = await openCheckpoint(signature, this.signatures);
    const unknown = checkpoint === null && signature !== null ? this.signatures.unknownKey('audit', signature) : null;
    if (unknown !== null) return this.unknownKey(unknown, record, place);
    const beside = record.sequence === 0;
    if (checkpoint === null || checkpoint.chain !== this.chain.chain) {
      this.findings.add('forged', this.chain.chain, { place, entries: beside ? null : entry(record.sequence) });
    } else if (beside) this.beside(checkpoint, record, place);
    else this.within(checkpoint, record, place);
  }

  /** Compares what was signed beforehand, whenever the chain has grown. */
  grown(): void {
    if (this.expected.size === 0) return;
    const { sequence } = this.chain;
    const expected = this.expected.get(sequence);
    if (expected === undefined) return;
    const has = this.chain.signed(sequence, expected.head);
    if (has !== false) this.expected.delete(sequence);
    if (has === true) this.sealed = Math.max(this.sealed, sequence);
  }

  end(): void {
    this.grown();
    const { chain, sequence } = this.chain;
    for (const [kid, { count, entries, place }] of this.unknown) {
      const what = `${count === 1 ? 'One checkpoint names' : `${count} checkpoints name`} the key ${kid}.`;
      const [first] = entries;
      const range = first === undefined ? null : { first, last: entries.at(-1) ?? first };
      this.findings.add('unknown_key', chain, { entries: range, place, what });
    }
    for (const [signed, { head, anchored }] of this.expected) {
      const what = `${anchored ? 'An anchored' : 'A'} checkpoint was signed for entry ${signed}.`;
      const differences = signedAs({ sequence: signed, head });
      if (signed <= sequence) this.rewritten(signed, what, differences);
      else this.findings.add('dropped', chain, { entries: { first: sequence + 1, last: signed }, what, differences });
    }
  }

  /** One finding for all of a key: an honest chain has hundreds of checkpoints. */
  private unknownKey(kid: string, { sequence }: AuditRecord, place: AuditPosition): void {
    const known = this.unknown.get(kid) ?? { count: 0, entries: [], place };
    known.count++;
    // The first and the last.
    if (sequence > 0) known.entries.splice(1, 1, sequence);
    this.unknown.set(kid, known);
  }

  private within(checkpoint: Checkpoint, record: AuditRecord, place: AuditPosition): void {
    const { sequence, head } = checkpoint;
    if (sequence !== record.sequence - 1 || head !== record.previousHash) {
      // Genuine elsewhere: of another place in the chain, or of entries that were rewritten since.
      const what = `The checkpoint behind them was signed for entry ${sequence}.`;
      const differences = sequence === record.sequence - 1 ? signedAs(checkpoint) : [];
      this.rewritten(record.sequence - 1, what, differences, place);
    } else this.sealed = Math.max(this.sealed, isNothingElse(record, checkpoint) ? record.sequence : sequence);
  }

  private beside(checkpoint: Checkpoint, record: AuditRecord, place: AuditPosition): void {
    const { sequence, head } = checkpoint;
    if (!isNothingElse(record, checkpoint)) {
      const what = 'It is a checkpoint beside the chain, and says something else than its signature.';
      this.findings.add('changed', this.chain.chain, { place, what });
    }
    if (sequence > this.chain.sequence) {
      this.expected.set(sequence, { head, anchored: false });
      return;
    }
    const has = this.chain.signed(sequence, head);
    if (has === false) {
      const what = `A checkpoint beside the chain was signed for entry ${sequence}.`;
      this.rewritten(sequence, what, signedAs(checkpoint), place);
    } else if (has === true) this.sealed = Math.max(this.sealed, sequence);
  }

  private rewritten(
    last: number,
    what: string,
    differences: readonly Difference[],
    place: AuditPosition | null = null,
  ): void {
    const first = Math.min(this.sealed + 1, last);
    this.findings.add('rewritten', this.chain.chain, { entries: { first, last }, what, place, differences });
  }
}

/** What stands there is found when the entry is read again. */
function signedAs({ sequence, head }: Pick<Checkpoint, 'sequence' | 'head'>): readonly Difference[] {
  return [{ entry: sequence, field: 'hash', was: head, is: null }];
}
