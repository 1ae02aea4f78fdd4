import type { AuditRecord } from '@sluice/contracts';
import type { Verifier } from '@sluice/core';
import { hashOf } from '../chain.js';
import { checkpointKind, openCheckpoint, signatureOf } from '../checkpoint.js';
import { attested, callHash, leafText } from './report.js';
import type { AttestedChain, AttestedEntry } from './report.js';
import { encode, inclusionProof, leafHash, levelsOf } from './tree.js';

export interface Span {
  readonly from: number | null;
  readonly to: number | null;
  readonly session: string | null;
}

type Listed = Omit<AttestedEntry, 'proof'>;

/** Entries of one report, in all chains. */
const mostEntries = 50_000;

/**
 * Reads one chain of the audit from its first entry, and keeps what a report on the span needs: also the entries
 * right before and behind it.
 */
export class SpanOfChain {
  private readonly leaves: string[] = [];
  private readonly listed: Listed[] = [];
  private begun = false;
  /** Behind the span, unless a late entry of it still comes. */
  private behind: Listed[] = [];
  private last: Listed | null = null;
  private previousHash = '';
  private checkpoint: { readonly signature: string; readonly size: number; readonly last: Listed } | null = null;

  constructor(
    readonly chain: string,
    private readonly span: Span,
    private readonly signatures: Verifier,
  ) {}

  async take(record: AuditRecord): Promise<void> {
    // For a span that is over, the first checkpoint behind it stays the one, however long the log grows.
    if (this.isDone()) return;
    if (record.kind === checkpointKind) await this.sealed(record);
    if (record.sequence > 0 && !this.isDone()) this.add(record);
  }

  /** Throws a sentence where a part of the span is under no checkpoint yet. */
  finish(): AttestedChain {
    const { chain } = this;
    if (this.checkpoint === null)
      throw new Error(`${chain} has no checkpoint of the audit yet. One comes within a minute while the audit runs.`);
    const { signature, size, last } = this.checkpoint;
    const all = this.begun ? [...this.listed, ...this.behind.slice(0, 1)] : [last];
    const open = all.filter(
      ({ sequence, at, kind }) => sequence > size && kind !== checkpointKind && this.isBefore(at),
    );
    if (open.length > 0 && this.span.to !== null)
      throw new Error(
        `${open.length} entries of ${chain} in the span are under no checkpoint yet. Wait a minute, or give an earlier --to.`,
      );
    const levels = levelsOf(this.leaves.slice(0, size));
    const shown = (entry: Listed): AttestedEntry => ({
      ...this.shown(entry),
      proof: inclusionProof(levels, entry.sequence - 1),
    });
    return {
      chain,
      tree: { size, root: encode(levels.at(-1)?.[0] ?? '') },
      checkpoint: signature,
      last: shown(last),
      entries: all.filter(({ sequence }) => sequence <= size).map(shown),
    };
  }

  /** A call of another session stays a hash. */
  private shown(entry: Listed): Listed {
    const { call, ...rest } = entry;
    if (call === undefined) return entry;
    const { session } = this.span;
    return session === null || call['session_id'] === session ? entry : { ...rest, call_hash: callHash(call) };
  }

  private async sealed(record: AuditRecord): Promise<void> {
    const signature = signatureOf(record);
    const checkpoint = await openCheckpoint(signature, this.signatures);
    const last = this.last;
    if (signature === null || checkpoint === null || checkpoint.chain !== this.chain || last === null) return;
    // One that was signed for something else than stands here says nothing of this chain; `audit verify` names it.
    if (checkpoint.sequence === last.sequence && checkpoint.head === last.hash)
      this.checkpoint = { signature, size: last.sequence, last };
  }

  private add(record: AuditRecord): void {
    const { sequence, previousHash, hash } = record;
    if (sequence !== this.leaves.length + 1 || previousHash !== this.previousHash || hash !== hashOf(record))
      throw new Error(
        `Entry ${sequence} of ${this.chain} is not as the audit wrote it, or an entry before it is not there. See \`sluice audit verify\`.`,
      );
    const entry = attested(record);
    this.leaves.push(leafHash(leafText(this.chain, entry)));
    this.previousHash = hash;
    this.list(entry);
    this.last = entry;
  }

  private list(entry: Listed): void {
    const { from } = this.span;
    if (!this.begun) {
      if (from !== null && entry.at < from) return;
      this.begun = true;
      if (this.last !== null) this.listed.push(this.last);
    }
    if (!this.isBefore(entry.at)) this.behind.push(entry);
    else {
      this.listed.push(...this.behind, entry);
      this.behind = [];
    }
    if (this.listed.length > mostEntries)
      throw new Error(`The span has more than ${mostEntries} entries in ${this.chain}. Give a shorter one.`);
  }

  private isDone(): boolean {
    const [next] = this.behind;
    return next !== undefined && this.checkpoint !== null && this.checkpoint.size >= next.sequence;
  }

  private isBefore(at: number): boolean {
    return this.span.to === null || at < this.span.to;
  }
}
