import { indexed } from './indexed.js';
import type { Value } from './stores/store.js';
import type { AuditCursor, AuditFilter, LetterCursor, LetterListFilter, RunCursor, RunFilter } from './types.js';

type Select = readonly [text: string, values: readonly Value[]];

/** Of a run, as its list has it; unquoted names would lose their capitals in PostgreSQL. */
export const runColumns = `r.request_id AS "requestId", r.session_id AS "sessionId", r.actor, r.subject, r.question, r.state, r.outcome,
  r.iterations, r.input_tokens AS "inputTokens", r.cached_input_tokens AS "cachedInputTokens",
  r.output_tokens AS "outputTokens", r.started_at AS "startedAt", r.ended_at AS "endedAt"`;

/**
 * Each filter has an index in the order of the list, so that a page of a long list reads about as many rows as it
 * has.
 */
export function runsPage(tenant: string, filter: RunFilter, after: RunCursor | null, limit: number): Select {
  const [first, ...rest] = (['tool', 'group'] as const).filter((kind) => filter[kind] !== undefined);
  // SQLite takes the tables of a cross join in the order in which they are written, PostgreSQL by what it measured.
  const from = first === undefined ? 'runs r' : 'labels l CROSS JOIN runs r';
  const by = first === undefined ? 'r' : 'l';
  const page = new Page(runColumns, from).is(`${by}.tenant`, tenant);
  if (first !== undefined)
    page
      .where('r.tenant = l.tenant AND r.request_id = l.request_id')
      .where('l.kind = ? AND l.name = ?', first, indexed(filter[first] ?? ''));
  for (const kind of rest)
    page.where(
      'EXISTS (SELECT 1 FROM labels o WHERE o.tenant = r.tenant AND o.kind = ? AND o.name = ? AND o.started_at = r.started_at AND o.request_id = r.request_id)',
      kind,
      indexed(filter[kind] ?? ''),
    );
  page
    .is('r.actor', filter.user)
    .is('r.outcome', filter.outcome)
    .is('r.state', given(filter.state))
    .is('r.session_id', filter.session)
    .is(`${by}.started_at`, filter.since, '>=')
    .is(`${by}.started_at`, filter.until, '<');
  if (after !== null)
    page.where(
      `${by}.started_at <= ? AND (${by}.started_at < ? OR ${by}.request_id > ?)`,
      ...[after.startedAt, after.startedAt, after.requestId],
    );
  return page.select(`${by}.started_at DESC, ${by}.request_id`, limit);
}

const auditColumns = `id, at, kind, request_id AS "requestId", session_id AS "sessionId", actor, subject, tool, outcome, authentic,
  config_version AS "configVersion", chain, sequence, source_offset AS "sourceOffset", hash, details`;

export function auditPage(tenant: string, filter: AuditFilter, after: AuditCursor | null, limit: number): Select {
  const page = new Page(auditColumns, 'audit').is('tenant', tenant);
  page
    .is('request_id', given(filter.run))
    .is('session_id', given(filter.session))
    .is('actor', filter.user)
    .is('kind', filter.kind)
    .is('at', filter.since, '>=')
    .is('at', filter.until, '<');
  // Their indexes have only entries with one.
  if (filter.tool !== undefined) page.is('tool', given(filter.tool)).where("tool <> ''");
  if (filter.outcome !== undefined) page.is('outcome', given(filter.outcome)).where("outcome <> ''");
  if (after !== null) page.where('at <= ? AND (at < ? OR id < ?)', after.at, after.at, after.id);
  return page.select('at DESC, id DESC', limit);
}

const letterColumns = `id, failed_at AS "failedAt", topic, partition, record_offset AS "offset", service, session_id AS "sessionId", code, reason,
  attempts, taken_at AS "takenAt"`;

export function lettersPage(filter: LetterListFilter, after: LetterCursor | null, limit: number): Select {
  const page = new Page(letterColumns, 'letters')
    .is('topic', filter.topic)
    .is('code', filter.code)
    .is('session_id', given(filter.session))
    .is('service', filter.service)
    .is('failed_at', filter.since, '>=')
    .is('failed_at', filter.until, '<');
  if (after !== null)
    page.where('failed_at <= ? AND (failed_at < ? OR id > ?)', after.failedAt, after.failedAt, after.id);
  return page.select('failed_at DESC, id', limit);
}

function given(name: string | undefined): string | undefined {
  return name === undefined ? undefined : indexed(name);
}

/** A page of a table: what is wanted of it, in the order of an index. */
class Page {
  private readonly _where: string[] = [];
  private readonly values: Value[] = [];

  constructor(
    private readonly columns: string,
    private readonly from: string,
  ) {}

  where(condition: string, ...values: readonly Value[]): this {
    this._where.push(condition);
    this.values.push(...values);
    return this;
  }

  /** Only where a value is given. */
  is(column: string, value: string | number | undefined, comparison = '='): this {
    return value === undefined ? this : this.where(`${column} ${comparison} ?`, value);
  }

  select(order: string, limit: number): readonly [text: string, values: readonly Value[]] {
    const where = this._where.length === 0 ? '' : `WHERE ${this._where.join(' AND ')}`;
    return [`SELECT ${this.columns} FROM ${this.from} ${where} ORDER BY ${order} LIMIT ?`, [...this.values, limit]];
  }
}
