import type { Verifier } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AuditRecord, Topic } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import { checkpointKind } from '../checkpoint.js';
import { contentHash } from '../content.js';
import { chainOf, isKeptForEver, isSource, sourceTopics } from '../sources.js';
import { ChainVerifier } from './chain-verifier.js';
import { entry, Findings } from './findings.js';
import type { ChainReport, Finding } from './findings.js';
import { withParticulars } from './particulars.js';
import { chainNamedBy, isOfItsChain } from './chain-of.js';
import { Seals } from './seals.js';
import type { Anchor } from './seals.js';
import { SourceComparison } from './sources.js';
import { EntryOrder } from './telling.js';

export type { Anchor } from './seals.js';

interface VerifyOptions {
  readonly signatures: Verifier;
  /** Checkpoints that were kept elsewhere. */
  readonly anchors?: readonly Anchor[];
  /** False: the source records are not read. Default true. */
  readonly sources?: boolean;
  readonly signal?: AbortSignal;
}

export interface AuditReport {
  readonly chains: readonly ChainReport[];
  readonly findings: readonly Finding[];
  /** Of findings in all; the list has the first thousand. */
  readonly found: number;
  /** Records of the sources: compared, gone from the log before, there and without an entry yet. */
  readonly sources: { readonly compared: number; readonly gone: number; readonly waiting: number };
  /** Why the sources were not compared to the end; null if they were, or were not to be. */
  readonly notCompared: string | null;
}

/** Records without an entry yet that are remembered, over all chains. */
const mostWaiting = 1_000_000;

interface SourceRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number | null;
}

interface Followed {
  readonly chain: ChainVerifier;
  readonly seals: Seals;
  readonly telling: EntryOrder;
  readonly sources: SourceComparison;
}

/**
 * Reads agent.audit from its start, and the records it tells of as far as they are still there, and names everything
 * that is not as the audit wrote it. Memory is bounded by the number of chains, not of records. Where there are
 * findings, it reads a second time, for the runs that they are about and for what was and what is.
 */
export async function verifyAudit(log: Pick<Bus, 'read'>, options: VerifyOptions): Promise<AuditReport> {
  const verification = new Verification(options);
  await verification.anchors(options.anchors ?? []);
  const wanted: readonly Topic[] = options.sources === false ? [topics.audit] : [...sourceTopics, topics.audit];
  const onUndecodable = (position: { topic: Topic; partition: number; offset: number }): void =>
    verification.undecodable(position);
  const reading = { from: 'start', onUndecodable, ...(options.signal && { signal: options.signal }) } as const;
  for await (const message of log.read(wanted, reading)) {
    const checking = verification.take(message);
    if (checking !== undefined) await checking;
  }
  const report = verification.report();
  if (report.found === 0) return report;
  const { signal } = options;
  const particulars = { sources: options.sources !== false, ...(signal && { signal }) };
  return { ...report, findings: await withParticulars(log, report.findings, particulars) };
}

class Verification {
  private readonly findings = new Findings();
  private readonly followed = new Map<string, Followed>();
  private waiting = 0;
  private notCompared: string | null = null;

  constructor(private readonly options: VerifyOptions) {}

  async anchors(anchors: readonly Anchor[]): Promise<void> {
    for (const anchor of anchors) await this.follow(anchor.chain).seals.anchor(anchor);
  }

  /** A promise only where a signature is to be verified. */
  take(message: Incoming): Promise<void> | undefined {
    if (message.topic === topics.audit) return this.audit(message);
    if (this.notCompared === null) this.source(message, contentHash(message));
    return undefined;
  }

  undecodable({ topic, partition, offset }: { topic: Topic; partition: number; offset: number }): void {
    if (topic === topics.audit) {
      const what = 'Whatever stood there, the chain that it belonged to says which entry is missing.';
      this.findings.add('undecodable', '', { place: { partition, offset }, what });
    } else if (this.notCompared === null) this.source({ topic, partition, offset, timestamp: null }, null);
  }

  report(): AuditReport {
    const sources = { compared: 0, gone: 0, waiting: 0 };
    const chains: ChainReport[] = [];
    for (const { chain, seals, sources: of } of this.followed.values()) {
      chain.end();
      seals.end();
      if (this.notCompared === null) of.end();
      sources.compared += of.compared;
      sources.gone += of.gone;
      sources.waiting += of.waiting;
      const { sealed, checkpoints } = seals;
      const { entries, sequence, head } = chain;
      const { waiting, waitingSince } = this.notCompared === null ? of : { waiting: 0, waitingSince: null };
      chains.push({ chain: chain.chain, entries, sequence, head, sealed, checkpoints, waiting, waitingSince });
    }
    chains.sort((one, other) => (one.chain < other.chain ? -1 : 1));
    const { list: findings, count: found } = this.findings;
    return { chains, findings, found, sources, notCompared: this.notCompared };
  }

  private audit(message: Incoming<'agent.audit'>): Promise<void> | undefined {
    const { record, key, partition, offset } = message;
    const place = { partition, offset };
    const named = chainNamedBy(record);
    const isItself = isOfItsChain(message);
    const { chain, seals, telling, sources } = this.follow(isItself ? named : key);
    const isBeside = record.sequence === 0 && record.kind === checkpointKind;
    const entries = isBeside ? null : entry(record.sequence);
    if (isItself && !isSource(record.sourceTopic)) {
      const what = 'The audit does not cover this topic.';
      this.findings.add('inserted', named, { entries, place, what });
    }
    const follows = isBeside ? isItself : chain.take(record, place);
    if (follows && named !== key) {
      const what = `Its key says ${key || 'nothing'}.`;
      const differences = [{ entry: entries?.first ?? null, field: 'key', was: named, is: key }];
      this.findings.add('moved', named, { entries, place, what, differences });
    }
    if (isBeside) return seals.take(record, place);
    seals.grown();
    if (!follows) return undefined;
    telling.take(record, place);
    const refused = refusedConfiguration(record);
    if (refused !== null) {
      const { sourceOffset } = record;
      this.findings.add('configuration_refused', named, { entries, place, what: refused, sourceOffset });
    }
    if (record.kind === checkpointKind) return seals.take(record, place);
    if (this.options.sources !== false && this.notCompared === null) {
      const before = sources.waiting;
      sources.entry(record);
      this.waiting += sources.waiting - before;
    }
    return undefined;
  }

  private source({ offset, timestamp, ...place }: SourceRecord, hash: string | null): void {
    const { sources } = this.follow(chainOf(place));
    const before = sources.waiting;
    sources.source(offset, hash, timestamp);
    this.waiting += sources.waiting - before;
    if (this.waiting > mostWaiting)
      this.notCompared = `More than ${mostWaiting} records have no entry yet, so the records were not compared further.`;
  }

  private follow(chain: string): Followed {
    let followed = this.followed.get(chain);
    if (followed === undefined) {
      const verifier = new ChainVerifier(chain, this.findings);
      const seals = new Seals(verifier, this.options.signatures, this.findings);
      const telling = new EntryOrder(chain, this.findings);
      const sources = new SourceComparison(chain, this.findings, isKeptForEver(chain));
      followed = { chain: verifier, seals, telling, sources };
      this.followed.set(chain, followed);
    }
    return followed;
  }
}

/** Of a configuration that its writer had no right to apply, or a part with another content: which one; else null. */
function refusedConfiguration({ kind, sourceTopic, details }: AuditRecord): string | null {
  if (!kind.startsWith('configuration') || sourceTopic !== topics.config) return null;
  try {
    const { authentic, version, source, part } = JSON.parse(details) as Record<string, unknown>;
    if (authentic !== false) return null;
    if (part !== undefined) return `It calls itself part ${String(part)}, and its content has another hash.`;
    return `It calls itself ${String(version)}, from ${String(source)}.`;
  } catch {
    return null;
  }
}
