import { join } from 'node:path';
import { recordToJson, topics } from '@sluice/contracts';
import type { DiscoveryRecord } from '@sluice/contracts';
import type { Runtime } from '../runtime.js';
import { RecordFile } from './record-file.js';

/** Records that wait for the log or the file; beyond it new ones are counted and dropped. */
const mostWaiting = 5_000;
/** Records that are published at once. */
const batch = 200;
/** A record waits so long for others that go with it, milliseconds. */
const gatherMs = 50;

type Parts = Pick<Runtime, 'bus' | 'metrics' | 'log' | 'configurations'>;

/**
 * Counts what discovery did, and writes it to the topic and, where monitoring has a folder, to its file. No request
 * waits for it.
 */
export class DiscoveryRecords {
  private waiting: DiscoveryRecord[] = [];
  private writing: Promise<void> | null = null;
  private file: RecordFile | null = null;
  private faulty = false;

  constructor(private readonly parts: Parts) {}

  note(record: DiscoveryRecord): void {
    count(record, this.parts.metrics);
    const { requestId, strategy, bypass, totalTools, keptTools, rounds, calledTools: called, calledDeferred } = record;
    // Without the queries, which are the model’s words.
    const said = { request_id: requestId, strategy, bypass, totalTools, keptTools, rounds, called, calledDeferred };
    const [searches, missed] = [record.searches.length, record.shadow?.missedTools ?? null];
    this.parts.log.debug({ ...said, searches, missed }, 'discovery of a request');
    if (this.waiting.length >= mostWaiting) {
      this.drop('log', 1);
      return;
    }
    this.waiting.push(record);
    this.writing ??= this.write();
  }

  /** Resolves when all that was noted is written, or dropped. */
  async close(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    while (this.waiting.length > 0) {
      const records = this.waiting.splice(0, batch);
      await Promise.all([this.toLog(records), this.toFile(records)]);
    }
    this.writing = null;
  }

  private async toLog(records: readonly DiscoveryRecord[]): Promise<void> {
    try {
      await this.parts.bus.publish(
        records.map((record) => ({ topic: topics.discovery, key: record.sessionId, record })),
      );
      this.faulty = false;
    } catch (error) {
      this.drop('log', records.length, error);
    }
  }

  private async toFile(records: readonly DiscoveryRecord[]): Promise<void> {
    const folder = this.parts.configurations.inForceOrNull()?.configuration.monitoring?.folder;
    if (folder === undefined || folder === null) return;
    const path = join(folder, 'tool_discovery.jsonl');
    if (this.file?.path !== path) this.file = new RecordFile(path);
    try {
      await this.file.append(records.map((record) => JSON.stringify(recordToJson('DiscoveryRecord', record))));
    } catch (error) {
      this.drop('file', records.length, error);
    }
  }

  private drop(to: 'log' | 'file', records: number, error?: unknown): void {
    this.parts.metrics.discoveryDropped.inc({ to }, records);
    // Once: an operator has the metric, and a full disk needs no line a request.
    if (this.faulty) return;
    this.faulty = true;
    const reason = error instanceof Error ? error.message : `${String(mostWaiting)} records wait already`;
    this.parts.log.warn({ to, reason }, 'records of discovery are not written; requests go on');
  }
}

function count(record: DiscoveryRecord, metrics: Runtime['metrics']): void {
  const { source, strategy, searches, shadow } = record;
  metrics.discoveryRequests.inc({ source, strategy, outcome: record.bypass ?? changedBy(record) });
  metrics.discoveryTools.inc({ strategy, status: 'kept' }, record.keptTools);
  metrics.discoveryTools.inc({ strategy, status: 'deferred' }, record.deferredTools);
  if (record.tokensBefore !== null) metrics.discoveryTokens.inc({ strategy, list: 'before' }, record.tokensBefore);
  if (record.tokensAfter !== null) metrics.discoveryTokens.inc({ strategy, list: 'after' }, record.tokensAfter);
  for (const { by, matchedTools, failOpen } of searches) {
    metrics.discoverySearches.inc({ by });
    metrics.discoveryMatches.inc({ by }, matchedTools);
    if (failOpen !== null) metrics.discoveryFailOpen.inc({ reason: failOpen });
  }
  if (record.bypass === null) metrics.discoveryRounds.observe({ source }, record.rounds);
  metrics.discoveryCalled.inc({ strategy, shown: 'first' }, record.calledTools - record.calledDeferred);
  metrics.discoveryCalled.inc({ strategy, shown: 'found' }, record.calledDeferred);
  if (record.meanings !== null) metrics.discoveryMeanings.inc({ source, way: record.meanings });
  metrics.discoveryTime.observe({ strategy }, record.chooseMs / 1_000);
  if (shadow === null) return;
  const beside = { strategy: shadow.strategy };
  metrics.discoveryShadow.inc({ ...beside, result: 'kept' }, record.calledTools - shadow.missedTools);
  metrics.discoveryShadow.inc({ ...beside, result: 'missed' }, shadow.missedTools);
}

/** A request whose search the provider took over counts apart, as does one where it could not. */
function changedBy({ nativeSearch }: DiscoveryRecord): string {
  if (nativeSearch === null) return 'changed';
  return nativeSearch === 'provider' ? 'native' : 'native_unsupported';
}
