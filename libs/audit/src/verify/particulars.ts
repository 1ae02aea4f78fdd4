import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { ConfigurationContents, topics } from '@sluice/contracts';
import type { AuditRecord, ConfigVersion, Topic } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import { hashOf } from '../chain.js';
import { checkpointKind } from '../checkpoint.js';
import { contentHash } from '../content.js';
import { entriesOf } from '../entries/entries.js';
import { isBareKind } from '../entries/kinds.js';
import type { AuditedTool, EntryDraft } from '../entries/draft-entry.js';
import { chainOf, isSource } from '../sources.js';
import type { Source } from '../sources.js';
import type { Difference, Finding, FoundRun } from './findings.js';
import { chainHolding } from './chain-of.js';

/** Of each that a finding names; a range may be as long as its chain. */
const mostNamed = 20;
/** Details of entries that are held to be compared, bytes, over all findings: beyond it findings say less. */
const mostHeld = 64 * 1_048_576;

interface Reading {
  /** Whether the records that entries tell of are read. */
  readonly sources: boolean;
  readonly signal?: AbortSignal;
}

/** A finding with what is gathered about it. */
interface Gathered {
  readonly finding: Finding;
  readonly runs: FoundRun[];
  readonly differences: Difference[];
  /** Whether the records that the entries tell of have said which runs these are. */
  isNamed: boolean;
  /** The entries that it is about, as they stand. */
  readonly entries: AuditRecord[];
  /** Their neighbours in the chain. */
  before: AuditRecord | undefined;
  after: AuditRecord | undefined;
}

/**
 * The findings with the runs that they are about, and with what was and what is. Reads the audit once more, and then
 * the records that the entries in question tell of.
 */
export async function withParticulars(
  log: Pick<Bus, 'read'>,
  findings: readonly Finding[],
  reading: Reading,
): Promise<readonly Finding[]> {
  const all = findings.map((finding): Gathered => ({
    ...{ finding, runs: [], isNamed: false, differences: [...finding.differences] },
    ...{ entries: [], before: undefined, after: undefined },
  }));
  const options = {
    from: 'start',
    onUndecodable: () => undefined,
    ...(reading.signal && { signal: reading.signal }),
  } as const;
  const byChain = Map.groupBy(all, ({ finding }) => finding.chain);
  let held = 0;
  for await (const message of log.read([topics.audit], options)) {
    const { record } = message;
    for (const gathered of byChain.get(chainHolding(message)) ?? []) {
      if (held > mostHeld) break;
      if (take(gathered, message)) held += Buffer.byteLength(record.details);
    }
  }
  for (const gathered of all) compareHashes(gathered);
  if (reading.sources) await compareSources(log, byChain, options);
  return all.map((gathered) => {
    const { finding, entries, differences } = gathered;
    // Without its source, an entry itself says what it is about.
    if (!gathered.isNamed) for (const entry of entries) addRun(gathered, entry);
    return { ...finding, what: withPart(finding, entries), runs: gathered.runs, differences };
  });
}

/** What is known of the finding, with the tool that is concerned where its record is a part of configurations. */
function withPart({ kind, what }: Finding, entries: readonly AuditRecord[]): string {
  const entry = entries.find((one) => one.kind === 'configuration_part');
  if (entry === undefined || !kind.startsWith('source_')) return what;
  const { part, tool } = parsed(entry.details);
  const about = `It is part ${String(part)} of configurations, the tool ${String(tool)}: without it those that name it cannot be read.`;
  return what === '' ? about : `${what} ${about}`;
}

/** Keeps the entry if the finding is about it, or needs it to say what was there; true if it is kept. */
function take(gathered: Gathered, { record, partition, offset }: Incoming<'agent.audit'>): boolean {
  const { kind, entries, place, sourceOffset } = gathered.finding;
  const isAt = place?.partition === partition && place.offset === offset;
  if (kind.startsWith('source_')) {
    if (record.sourceOffset !== sourceOffset || record.kind === checkpointKind || record.sequence === 0) return false;
  } else if (entries === null) {
    if (!isAt || record.kind === checkpointKind) return false;
  } else if (record.sequence === entries.first - 1 && record.sequence > 0 && !isAt) {
    gathered.before ??= record;
    return true;
  } else if (record.sequence === entries.last + 1 && !isAt) {
    gathered.after ??= record;
    return true;
  } else {
    const isWithin = record.sequence >= entries.first && record.sequence <= entries.last && record.sequence > 0;
    // A finding about a range stands at the checkpoint that shows it.
    if (kind === 'dropped' || !(kind === 'rewritten' || place === null ? isWithin : isAt)) return false;
  }
  gathered.entries.push(record);
  return true;
}

/** What the chain itself says of hashes: each entry names the one before. */
function compareHashes(gathered: Gathered): void {
  const { finding, entries, before, after, differences } = gathered;
  for (const [index, difference] of differences.entries()) {
    const entry = difference.field === 'hash' && entries.find(({ sequence }) => sequence === difference.entry);
    if (entry) differences[index] = { ...difference, is: entry.hash };
  }
  const add = (entry: number, field: string, was: JsonValue, is: JsonValue): void => {
    if (was !== is) addDifference(gathered, { entry, field, was, is });
  };
  if (finding.kind === 'dropped' && finding.entries !== null && after !== undefined && differences.length === 0)
    add(finding.entries.last, 'hash', after.previousHash, null);
  if (finding.kind !== 'changed') return;
  for (const entry of entries) {
    const sequence = finding.entries?.first ?? entry.sequence;
    const computed = hashOf(entry);
    const following = after?.previousHash;
    if (following === computed) add(sequence, 'hash', computed, entry.hash);
    else if (following === undefined || following === entry.hash) add(sequence, 'hash', entry.hash, computed);
    else add(sequence, 'hash', following, entry.hash);
    if (before !== undefined) add(sequence, 'previous_hash', before.hash, entry.previousHash);
    add(sequence, 'sequence', sequence, entry.sequence);
  }
}

/** Reads the records that the entries tell of, and says in which members they differ. */
async function compareSources(
  log: Pick<Bus, 'read'>,
  byChain: ReadonlyMap<string, readonly Gathered[]>,
  options: Parameters<Bus['read']>[1],
): Promise<void> {
  const tools = new ToolsOfVersions();
  const wanted = new Set<Topic>([...byChain.keys()].map((chain) => chain.split('/')[0] ?? '').filter(isSource));
  if (wanted.size === 0) return;
  // Which arguments are secret says the configuration.
  if (wanted.has(topics.steps)) wanted.add(topics.config);
  for await (const message of log.read([...wanted] as readonly Source['topic'][], options)) {
    if (message.topic === topics.config) tools.take(message.record);
    for (const gathered of byChain.get(chainOf(message)) ?? []) {
      const { finding, entries } = gathered;
      const those = entries.filter(({ sourceOffset }) => sourceOffset === message.offset);
      const isSourceItself = finding.kind.startsWith('source_') && finding.sourceOffset === message.offset;
      const isGap = finding.kind === 'dropped' && isBetween(gathered, message.offset);
      if (!isSourceItself && !isGap && those.length === 0) continue;
      const authentic = those.every(({ details }) => parsed(details)['authentic'] !== false);
      const told = tell(message, (version, key) => tools.get(version, key), authentic);
      const hash = contentHash(message);
      if (isSourceItself) sourceOf(gathered, those, told, message, hash);
      else if (isGap) missing(gathered, told, message.offset);
      else for (const entry of those) entryOf(gathered, entry, told, message, hash);
    }
  }
}

/** Of a record that has entries: what these say of it, and what it says now. */
function sourceOf(
  gathered: Gathered,
  entries: readonly AuditRecord[],
  told: readonly EntryDraft[],
  { timestamp }: Source,
  hash: string,
): void {
  const [entry] = entries;
  if (entry === undefined) {
    for (const one of told) addRun(gathered, one);
    addDifference(gathered, { entry: null, field: 'source_hash', was: null, is: hash });
    return;
  }
  for (const one of entries) {
    const now = closest(one, told);
    if (now === undefined || isBare(one)) continue;
    for (const { field, is, was } of differing(one, { ...now, at: timestamp }))
      addDifference(gathered, { entry: one.sequence, field, was: is, is: was });
  }
  addDifference(gathered, { entry: entry.sequence, field: 'source_hash', was: entry.sourceHash || null, is: hash });
}

/** Of an entry whose record is there: what it must say, and what it says. */
function entryOf(
  gathered: Gathered,
  entry: AuditRecord,
  told: readonly EntryDraft[],
  { timestamp }: Source,
  hash: string,
): void {
  const was = closest(entry, told);
  if (was === undefined || isBare(entry)) return;
  const found = differing(entry, { ...was, at: timestamp });
  const { kind, entries } = gathered.finding;
  const sequence = kind === 'changed' ? (entries?.first ?? entry.sequence) : entry.sequence;
  if (hash === entry.sourceHash) {
    gathered.isNamed = true;
    addRun(gathered, was);
    for (const one of found) addDifference(gathered, { ...one, entry: sequence });
  } else if (found.length === 0) {
    gathered.isNamed = true;
    addRun(gathered, was);
    addDifference(gathered, { entry: sequence, field: 'source_hash', was: hash, is: entry.sourceHash });
  }
  // Otherwise the entry is of another record, or the record has changed itself, which is a finding of its own.
}

/** A record whose entries are gone, all of them or those behind or before the neighbours. */
function missing(gathered: Gathered, told: readonly EntryDraft[], offset: number): void {
  const { before, after } = gathered;
  const at = (entry: AuditRecord | undefined): number | null => {
    if (entry === undefined || entry.sourceOffset !== offset || entry.kind === checkpointKind) return null;
    const one = closest(entry, told);
    return one === undefined ? null : told.indexOf(one);
  };
  const isSealed = before?.sourceOffset === offset && before.kind === checkpointKind;
  const gone = isSealed ? [] : told.slice((at(before) ?? -1) + 1, at(after) ?? told.length);
  for (const one of gone) addRun(gathered, one);
}

function isBetween({ before, after }: Gathered, offset: number): boolean {
  // A checkpoint has the offset of the entry before it.
  const last = after?.kind === checkpointKind ? Infinity : (after?.sourceOffset ?? Infinity);
  return offset >= (before?.sourceOffset ?? 0) && offset <= last;
}

function tell(message: Source, tools: (version: string, key: string) => AuditedTool | undefined, authentic: boolean) {
  try {
    return entriesOf(message, { tools, authentic });
  } catch {
    // The audit itself could say no more of it than its hash.
    return [];
  }
}

/** Entries that a hash stands for, or that tell of no record. */
function isBare({ kind }: AuditRecord): boolean {
  return isBareKind(kind);
}

/** Of the entries that a record has, the one that this is, or was. */
function closest(entry: AuditRecord, told: readonly EntryDraft[]): EntryDraft | undefined {
  const distance = (one: EntryDraft): number => differing(entry, { ...one, at: entry.at }).length;
  return told.reduce<EntryDraft | undefined>(
    (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
    undefined,
  );
}

/** Where an entry differs from the one that its record gives now; `was` is of the latter. */
function differing(
  entry: AuditRecord,
  told: EntryDraft & { readonly at: number },
): readonly Omit<Difference, 'entry'>[] {
  const fields: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ['kind', told.kind, entry.kind],
    ['request_id', told.requestId.toWellFormed(), entry.requestId],
    ['session_id', told.sessionId.toWellFormed(), entry.sessionId],
    ['config_version', told.configVersion.toWellFormed(), entry.configVersion],
    ['at', told.at, entry.at],
    ...ofDetails(told.details, entry.details),
  ];
  return fields.flatMap(([field, was, is]) => (isSame(was, is) ? [] : [{ field, was, is }]));
}

function ofDetails(told: string, entry: string): readonly (readonly [string, JsonValue, JsonValue])[] {
  if (told === entry) return [];
  const [was, is] = [parsed(told), parsed(entry)];
  // Entries of earlier versions hold less; and whether a record is authentic it does not say itself.
  const names = Object.keys(is).filter((name) => name !== 'authentic');
  const members = names.map((name) => [`details.${name}`, was[name] ?? null, is[name] ?? null] as const);
  return names.length > 0 ? members : [['details', told, entry]];
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function addRun(
  { runs }: Gathered,
  { requestId, sessionId, details }: Pick<EntryDraft, 'requestId' | 'sessionId' | 'details'>,
) {
  const { tenant } = parsed(details);
  const run = { requestId, sessionId, tenant: typeof tenant === 'string' ? tenant : null };
  if ((requestId === '' && sessionId === '') || runs.length >= mostNamed) return;
  const index = runs.findIndex((one) => one.requestId === requestId && one.sessionId === sessionId);
  if (index === -1) runs.push(run);
  else if (runs[index]?.tenant === null) runs[index] = run;
  else if (run.tenant !== null && runs[index]?.tenant !== run.tenant) runs.push(run);
}

function addDifference({ differences }: Gathered, difference: Difference): void {
  if (differences.length < mostNamed) differences.push(difference);
}

function parsed(details: string): JsonObject {
  try {
    const value = JSON.parse(details) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The tools of configurations by key, each read when an entry first names it: most are named by none. */
class ToolsOfVersions {
  private readonly contents = new ConfigurationContents();
  private readonly known = new Map<string, ReadonlyMap<string, AuditedTool>>();

  /** Of a content that has its version’s hash: another one could call a secret argument harmless. */
  take(record: ConfigVersion): void {
    this.contents.take(record, false);
  }

  get(version: string, key: string): AuditedTool | undefined {
    let tools = this.known.get(version);
    if (tools === undefined) this.known.set(version, (tools = this.read(version)));
    return tools.get(key);
  }

  private read(version: string): ReadonlyMap<string, AuditedTool> {
    try {
      const { tools } = this.contents.get(version) ?? { tools: [] };
      return new Map(
        tools.map(({ key, id, groups, spec }) => [key, { id, groups, inputSchema: spec?.inputSchema ?? null }]),
      );
    } catch {
      return new Map();
    }
  }
}
