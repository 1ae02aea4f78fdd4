import { isTopic, recordEntryKinds, sha256, topicEntry } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';
import { indexed } from './indexed.js';
import { forgottenAtOnce, statement } from './stores/store.js';
import type { Statement, Value } from './stores/store.js';

type Details = Readonly<Record<string, unknown>>;

const columns = `id, link, at, kind, request_id, session_id, tool, outcome, authentic, config_version, chain, sequence, source_offset, hash,
  details`;
const put = `INSERT INTO audit (${columns}, tenant, actor, subject)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
/** The index has only entries with a link; a database takes it where the statement says so itself. */
const linked = "link = ? AND link <> ''";
/** An entry that does not say whose it is belongs to those who have what it is about, if that is one tenant alone. */
const owner = (column: string): string =>
  `(SELECT CASE WHEN count(DISTINCT tenant) = 1 THEN min(${column}) END FROM audit WHERE ${linked} AND tenant <> '')`;
const putLinked = `INSERT INTO audit (${columns}, tenant, actor, subject)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(${owner('tenant')}, ''), coalesce(${owner('actor')}, ''), ${owner('subject')}
  WHERE true ON CONFLICT DO NOTHING`;
const claim = `UPDATE audit SET tenant = ?, actor = ?, subject = ? WHERE ${linked} AND tenant = ''`;

/** What entries of a tenant tell of, as docs/audit.md has it; other kinds are of no tenant. */
export const listedKinds = recordEntryKinds.flatMap(({ kind, listed }) => (listed ? kind : []));

/**
 * What an entry of the audit writes: nothing for one that is of no tenant, or whose details are no JSON, which
 * `sluice audit verify` names.
 */
export function auditStatements(record: AuditRecord): readonly Statement[] {
  const details = detailsOf(record);
  if (details === null || record.sequence === 0) return [];
  const tenant = text(details, 'tenant');
  const link = linkOf(record, details);
  if (tenant === '' && link === '') return [];
  const { kind, at, sourceTopic, sourcePartition: partition, sequence } = record;
  const chain = `${sourceTopic}/${partition}`;
  const place = String(isTopic(sourceTopic) ? topicEntry(sourceTopic).stage : 0).padStart(2, '0');
  const row: readonly Value[] = [
    `${place}/${chain}/${String(sequence).padStart(16, '0')}`,
    ...[link, at, kind, indexed(record.requestId), indexed(record.sessionId)],
    ...[indexed(text(details, 'tool')), indexed(outcomeOf(kind, details)), authenticOf(details), record.configVersion],
    ...[chain, sequence, record.sourceOffset, record.hash, record.details],
  ];
  if (tenant === '') return [statement(putLinked, ...row, link, link, link)];
  const whose = [indexed(tenant), indexed(text(details, 'actor')), text(details, 'subject') || null];
  const own = statement(put, ...row, ...whose);
  return link === '' ? [own] : [own, statement(claim, ...whose, link)];
}

function detailsOf({ details }: AuditRecord): Details | null {
  try {
    const parsed: unknown = JSON.parse(details);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Details) : null;
  } catch {
    return null;
  }
}

/**
 * What an entry is about, where others of the same say whose it is: a request and its first turn, an approval and
 * what is decided on it.
 */
function linkOf({ kind, requestId, sessionId }: AuditRecord, details: Details): string {
  const about = (...parts: readonly unknown[]): string => sha256(JSON.stringify([requestId, sessionId, ...parts]));
  switch (kind) {
    case 'request':
      return about(details['question_hash'], details['requested_groups'], details['initial_state']);
    case 'tools_granted':
      if (details['iteration'] !== 1) return '';
      return about(details['question_hash'], details['requested_groups'], details['state']);
    case 'tool_call':
    case 'calls_chosen': {
      // Of a call that its request makes itself it is the first entry.
      const decided = details['decided'] as Details | null | undefined;
      const question = decided?.['question_hash'];
      if (typeof question !== 'string') return '';
      return about(question, details['requested_groups'], details['state_before'] ?? details['state']);
    }
    case 'approval_requested':
    case 'approval_decided':
    case 'approval_outcome':
    case 'approval_escalated':
      return about(details['approval_id']);
    case 'standing_approval_decided':
    case 'standing_approval_outcome':
      return about(details['standing_id']);
    default:
      return '';
  }
}

function outcomeOf(kind: string, details: Details): string {
  switch (kind) {
    case 'tool_call':
    case 'run_ended':
      return text(details, 'outcome');
    case 'request_refused':
    case 'access_denied':
      return text(details, 'code');
    case 'approval_decided':
      return text(details, 'decision');
    case 'approval_escalated':
      return text(details, 'rule');
    case 'approval_outcome':
      return text(details, 'not_taken') || text(details, 'decision');
    case 'standing_approval_decided':
      return text(details, 'action');
    case 'standing_approval_outcome':
      return text(details, 'not_taken') || text(details, 'action');
    case 'cancel_outcome':
      return text(details, 'not_taken') || 'cancelled';
    default:
      return '';
  }
}

function authenticOf(details: Details): number | null {
  const authentic = details['authentic'];
  return typeof authentic === 'boolean' ? Number(authentic) : null;
}

function text(details: Details, name: string): string {
  const found = details[name];
  return typeof found === 'string' ? found : '';
}

/** Finds an entry from before this time. */
export function oldAudit(before: number): Statement {
  return statement('SELECT id FROM audit WHERE at < ? LIMIT 1', before);
}

/** Forgets a portion of the entries from before this time. */
export function forgetAudit(before: number): Statement {
  return statement(
    `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ${forgottenAtOnce})`,
    before,
  );
}
