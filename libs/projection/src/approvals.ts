import { recordToJson } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { statement } from './stores/store.js';
import type { Statement, Store } from './stores/store.js';
import type { ApprovalCursor, Viewer, WaitingApproval } from './types.js';

/** Whether a request or an outcome is an executor’s: anybody who may decide can write one. */
export type Counts = (message: Incoming<'agent.approvals'>) => Promise<boolean>;

const questionsAtOnce = 100;
const questions = `SELECT request_id AS id, substr(question, 1, 500) AS question FROM runs
  WHERE tenant = ? AND request_id IN (${Array.from({ length: questionsAtOnce }, () => '?').join(', ')})`;

/** Those of the records that open or close an approval and count, in their order. */
export async function countingApprovals(
  store: Store,
  messages: readonly Incoming[],
  counts: Counts,
): Promise<readonly Incoming<'agent.approvals'>[]> {
  const found: Incoming<'agent.approvals'>[] = [];
  const opened = new Set<string>();
  for (const message of messages) {
    if (message.topic !== 'agent.approvals') continue;
    const { requested, outcome } = message.record;
    // Its caller is asked, and no approver.
    if (requested !== null && requested.question !== null) continue;
    if (requested !== null) opened.add(requested.approvalId);
    else if (outcome === null || outcome.notTaken !== null || outcome.stillNeeded > 0) continue;
    else if (!opened.has(outcome.approvalId) && !(await isOpen(store, outcome.approvalId))) continue;
    if (await counts(message)) found.push(message);
  }
  return found;
}

async function isOpen(store: Store, approvalId: string): Promise<boolean> {
  const text = 'SELECT 1 AS found FROM approvals WHERE approval_id = ? AND is_open = 1';
  return (await store.all(text, [approvalId])).length > 0;
}

export function approvalStatements({
  record: { requested, outcome },
  partition,
  offset,
}: Incoming<'agent.approvals'>): readonly Statement[] {
  const closing =
    outcome === null
      ? []
      : [statement("UPDATE approvals SET is_open = 0, requested = '' WHERE approval_id = ?", outcome.approvalId)];
  if (requested === null) return closing;
  const { approvalId, tenantId, requestedAt, expiresAt } = requested;
  const {
    steps: _,
    question: __,
    ...asked
  } = recordToJson('ApprovalRequested', requested) as Readonly<Record<string, unknown>>;
  const kept = { ...asked, requested_partition: partition, requested_offset: offset };
  // A copy of what was asked, or what is asked again, does not open what is closed. What was asked ahead of the turn is
  // asked as it is when the turn comes to the call. Within the JSON quotation marks of texts are escaped, so the
  // member is found by its text.
  const again =
    requested.behind === null
      ? `UPDATE SET requested = excluded.requested, expires_at = excluded.expires_at
         WHERE approvals.is_open = 1 AND approvals.requested NOT LIKE '%"behind":null,%'`
      : 'NOTHING';
  const text = `INSERT INTO approvals (approval_id, tenant, requested_at, expires_at, is_open, requested)
    VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (approval_id) DO ${again}`;
  return [...closing, statement(text, approvalId, tenantId, requestedAt, expiresAt, JSON.stringify(kept))];
}

/** A page of those of the viewer’s tenant that wait at this time, the oldest first. */
export async function waitingApprovals(
  store: Store,
  { tenantId }: Viewer,
  at: number,
  after: ApprovalCursor | null,
  limit: number,
): Promise<readonly WaitingApproval[]> {
  const text = `SELECT approval_id AS id, requested_at AS at, requested FROM approvals
    WHERE tenant = ? AND is_open = 1 AND requested_at >= ? AND (requested_at > ? OR approval_id > ?) AND expires_at > ?
    ORDER BY requested_at, approval_id LIMIT ?`;
  const { requestedAt, approvalId } = after ?? { requestedAt: Number.MIN_SAFE_INTEGER, approvalId: '' };
  const rows = await store.all(text, [tenantId, requestedAt, requestedAt, approvalId, at, limit]);
  return rows.map(fromRow);
}

function fromRow(row: Readonly<Record<string, unknown>>): WaitingApproval {
  return {
    approvalId: row['id'] as string,
    requestedAt: row['at'] as number,
    asked: JSON.parse(row['requested'] as string) as WaitingApproval['asked'],
  };
}

/** The one of the viewer’s tenant that waits and has this id; undefined if there is none. */
export async function waitingApproval(
  store: Store,
  { tenantId }: Viewer,
  approvalId: string,
): Promise<WaitingApproval | undefined> {
  const text = `SELECT approval_id AS id, requested_at AS at, requested FROM approvals
    WHERE tenant = ? AND approval_id = ? AND is_open = 1`;
  return (await store.all(text, [tenantId, approvalId])).map(fromRow)[0];
}

/** The beginning of the question of each of these runs of the viewer’s tenant that is listed, by its request’s id. */
export async function questionsOf(
  store: Store,
  { tenantId }: Viewer,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const ids = [...new Set(requestIds)];
  for (let at = 0; at < ids.length; at += questionsAtOnce) {
    const some = ids.slice(at, at + questionsAtOnce);
    // One text for any number, which is prepared once.
    const values = Array.from({ length: questionsAtOnce }, (_, n) => some[n] ?? null);
    const rows = await store.all(questions, [tenantId, ...values]);
    for (const row of rows) found.set(row['id'] as string, row['question'] as string);
  }
  return found;
}

/** Forgets those whose time was up then. */
export function forgetApprovals(at: number): Statement {
  return statement('DELETE FROM approvals WHERE expires_at < ?', at);
}
