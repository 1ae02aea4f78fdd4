import { topics } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';
import {
  after,
  chainOf,
  checkpointEntry,
  contentHash,
  encodeHead,
  entriesOf,
  deadLetterEntry,
  resumedEntry,
  seal,
  signHead,
} from '@sluice/audit';
import type { Head, Source, SourcePosition, EntryDraft } from '@sluice/audit';
import type { Dead, HandlerContext, Outgoing } from '@sluice/bus';
import type { Runtime } from '@sluice/host';
import type { Pace } from './pace.js';
import { isAuthentic } from './authentic.js';
import type { Verifying } from './authentic.js';
import { findHead } from './chain-position.js';
import { ToolDirectory } from './tool-directory.js';
import type { Unsealed } from './unsealed.js';

/** Writes down what each record says, in the chain of its partition. */
export class AuditService {
  private readonly tools: ToolDirectory;

  constructor(
    private readonly runtime: Runtime,
    private readonly unsealed: Unsealed,
    private readonly pace: Pace,
    private readonly verifying: Verifying,
  ) {
    this.tools = new ToolDirectory(runtime.configurations, runtime.clock);
  }

  async tell(message: Source, context: HandlerContext): Promise<readonly Outgoing[]> {
    const authentic = await isAuthentic(message, this.verifying);
    const entries = entriesOf(message, { tools: await this.tools.lookup(message, authentic), authentic });
    return this.write(entries, placed(message, contentHash(message)), context);
  }

  /** A record that cannot be decoded or described has an entry all the same: with the hash of its bytes. */
  reportDeadLetter(dead: Dead, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { topic, partition, offset, code, reason } = dead;
    if (code !== 'undecodable') {
      context.afterCommit(() =>
        this.runtime.log.error({ topic, partition, offset, code, reason }, 'the audit has only the hash of a record'),
      );
    }
    const hash = dead.message === null ? '' : contentHash(dead.message);
    return this.write([deadLetterEntry(dead)], placed(dead, hash), context);
  }

  private async write(
    entries: readonly EntryDraft[],
    source: SourcePosition,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { head: found, resumed } = await findHead(source, context, this.runtime);
    const now = this.runtime.clock.now();
    const records: AuditRecord[] = [];
    let head: Head = found.sequence === 0 ? { ...found, checkpointAt: now } : found;
    const add = (record: AuditRecord): void => {
      records.push(record);
      head = after(head, record);
    };
    if (resumed) {
      const { sequence, offset } = found;
      add(seal(resumedEntry({ sequence, source_offset: offset }), { ...source, offset, hash: '' }, head));
    }
    // Records that come again because the group lost its offsets have their entries already.
    if (source.offset > found.offset) for (const told of entries) add(seal(told, source, head));
    if (this.isDue(head, now)) {
      add(checkpointEntry(source, head, now, await signHead(source, head, now, this.runtime.signatures)));
      head = { ...head, checkpoint: head.sequence, checkpointAt: now };
    }
    context.carry(encodeHead(head));
    context.afterCommit(() => this.written(source, records, head));
    const key = chainOf(source);
    return records.map((record) => ({ topic: topics.audit, key, record }));
  }

  private isDue({ sequence, checkpoint, checkpointAt }: Head, now: number): boolean {
    const uncovered = sequence - checkpoint;
    return uncovered >= this.pace.entries || (uncovered > 0 && now - checkpointAt >= this.pace.milliseconds);
  }

  private written(source: SourcePosition, records: readonly AuditRecord[], head: Head): void {
    const { metrics } = this.runtime;
    for (const { kind } of records) {
      metrics.auditEntries.inc({ kind });
      if (kind === 'checkpoint') metrics.auditCheckpoints.inc();
    }
    this.unsealed.moved(source, head);
  }
}

/** Where the record is, without the record: it is kept until what was written of it is on the log. */
function placed({ topic, partition, offset, timestamp }: Omit<SourcePosition, 'hash'>, hash: string): SourcePosition {
  return { topic, partition, offset, timestamp, hash };
}
