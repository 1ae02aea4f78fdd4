import type { AuditCursor, DecidedApproval, Viewer } from './types.js';
import type { Store } from './stores/store.js';

/** Entries that are about the same approval, and not known to be another’s than its service’s. */
const same = (one: string): string =>
  `${one}.link = o.link AND ${one}.link <> '' AND ${one}.tenant = o.tenant AND ${authentic(one)}`;
const authentic = (one: string): string => `(${one}.authentic IS NULL OR ${one}.authentic = 1)`;
const counted = (one: string): string =>
  `${one}.kind = 'approval_outcome' AND ${one}.outcome IN ('approve', 'refuse', 'expire', 'run')`;

/** The first one: a copy that another client wrote comes later. */
const requested = `(SELECT r.details FROM audit r WHERE ${same('r')} AND r.kind = 'approval_requested' ORDER BY r.id LIMIT 1)`;

/**
 * Outcomes of approvals of the tenant, the newest first, as the audit has them: only who has the ledger can tell which
 * of them are an executor’s.
 */
export async function decidedApprovals(
  store: Store,
  { tenantId }: Viewer,
  after: AuditCursor | null,
  limit: number,
): Promise<readonly DecidedApproval[]> {
  // An executor that starts again may write an outcome once more.
  const text = `SELECT o.id AS id, o.at AS at, o.request_id AS "requestId", o.session_id AS "sessionId",
      o.config_version AS "configVersion", o.details AS outcome, ${requested} AS requested
    FROM audit o WHERE o.tenant = ? AND ${counted('o')} AND ${authentic('o')}
    AND NOT EXISTS (SELECT 1 FROM audit e WHERE ${same('e')} AND ${counted('e')} AND e.details = o.details AND e.id < o.id)
    AND o.at <= ? AND (o.at < ? OR o.id < ?) ORDER BY o.at DESC, o.id DESC LIMIT ?`;
  const { at, id } = after ?? { at: Number.MAX_SAFE_INTEGER, id: '' };
  return (await store.all(text, [tenantId, at, at, id, limit])) as unknown as readonly DecidedApproval[];
}
