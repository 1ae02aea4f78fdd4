import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { recordToJson } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { ApprovalCursor, Viewer, WaitingApproval } from './types.js';

/** Whether a request or an outcome is an executor’s: anybody who may decide can write one. */
export type Counts = (message: Incoming<'agent.approvals'>) => Promise<boolean>;

/** The calls that wait for an approval. Writes happen in the transaction of the caller. */
export class Approvals {
  readonly #open: StatementSync;
  readonly #close: StatementSync;
  readonly #find: StatementSync;
  readonly #page: StatementSync;

  constructor(private readonly database: DatabaseSync) {
    // A copy of what was asked, or what is asked again, does not open what is closed.
    this.#open = database.prepare(
      'INSERT OR IGNORE INTO approvals (approval_id, tenant, requested_at, expires_at, is_open, requested) VALUES (?, ?, ?, ?, 1, ?)',
    );
    this.#close = database.prepare("UPDATE approvals SET is_open = 0, requested = '' WHERE approval_id = ?");
    this.#find = database.prepare('SELECT 1 FROM approvals WHERE approval_id = ? AND is_open = 1');
    this.#page = database.prepare(
      `SELECT approval_id AS approvalId, requested_at AS requestedAt, requested FROM approvals
      WHERE tenant = ? AND is_open = 1 AND requested_at >= ? AND (requested_at > ? OR approval_id > ?) AND expires_at > ?
      ORDER BY requested_at, approval_id LIMIT ?`,
    );
  }

  /** Those of the records that open or close an approval and count, in their order. */
  async counting(messages: readonly Incoming[], counts: Counts): Promise<readonly Incoming<'agent.approvals'>[]> {
    const found: Incoming<'agent.approvals'>[] = [];
    const opened = new Set<string>();
    for (const message of messages) {
      if (message.topic !== 'agent.approvals') continue;
      const { requested, outcome } = message.record;
      if (requested !== null) opened.add(requested.approvalId);
      else if (outcome === null || outcome.notTaken !== null || !this.#isOpen(outcome.approvalId, opened)) continue;
      if (await counts(message)) found.push(message);
    }
    return found;
  }

  #isOpen(approvalId: string, opened: ReadonlySet<string>): boolean {
    return opened.has(approvalId) || this.#find.get(approvalId) !== undefined;
  }

  write({ record: { requested, outcome }, partition, offset }: Incoming<'agent.approvals'>): void {
    if (outcome !== null) this.#close.run(outcome.approvalId);
    if (requested === null) return;
    const { approvalId, tenantId, requestedAt, expiresAt } = requested;
    const { steps: _, ...asked } = recordToJson('ApprovalRequested', requested) as Readonly<Record<string, unknown>>;
    const kept = { ...asked, requested_partition: partition, requested_offset: offset };
    this.#open.run(approvalId, tenantId, requestedAt, expiresAt, JSON.stringify(kept));
  }

  /** A page of those of the viewer’s tenant that wait at this time, the oldest first. */
  page({ tenantId }: Viewer, at: number, after: ApprovalCursor | null, limit: number): readonly WaitingApproval[] {
    const { requestedAt, approvalId } = after ?? { requestedAt: Number.MIN_SAFE_INTEGER, approvalId: '' };
    const rows = this.#page.all(tenantId, requestedAt, requestedAt, approvalId, at, limit);
    return rows.map((row) => ({
      approvalId: row['approvalId'] as string,
      requestedAt: row['requestedAt'] as number,
      asked: JSON.parse(row['requested'] as string) as WaitingApproval['asked'],
    }));
  }

  /** Forgets those whose time was up then. */
  forget(at: number): void {
    this.database.prepare('DELETE FROM approvals WHERE expires_at < ?').run(at);
  }
}
