import { indexed } from './indexed.js';
import type { Value } from './stores/store.js';
import type {
  AuditCursor,
  AuditFilter,
  LetterCursor,
  LetterListFilter,
  RunCursor,
  RunFilter,
  Viewer,
} from './types.js';

type Select = readonly [text: string, values: readonly Value[]];

/**
 * Of a run, as its list has it, with 2,000 characters of its question; unquoted names would lose their capitals in
 * PostgreSQL.
 */
export const runColumns = `r.request_id AS "requestId", r.session_id AS "sessionId", r.actor, r.subject, 
  CASE WHEN length(r.question) > 2000 THEN substr(r.question, 1, 2000) ELSE r.question END AS question,
   r.state, r.outcome,
  r.iterations, r.input_tokens AS "inputTokens", r.cached_input_tokens AS "cachedInputTokens",
  r.output_tokens AS "outputTokens", r.started_at AS "startedAt", r.ended_at AS "endedAt", r.model, r.micro_usd AS "microUsd", r.parent, r.agent,
  r.changed`;

/** Runs of one word of their question that a search looks at, at most: the next page goes on behind these. */
const mostSearched = 20_000;

/** Of so many runs with a word, it is as good as any other to begin with. */
const countedWords = 1_000;

type Label = readonly [kind: 'tool' | 'group' | 'word', name: string];

/** What the filter wants of the labels of a run; the list is read by the first one. */
function labelsOf({ tool, group, words = [] }: RunFilter): readonly Label[] {
  return [
    ...words.map((word): Label => ['word', word]),
    ...(tool === undefined ? [] : [['tool', indexed(tool)] as const]),
    ...(group === undefined ? [] : [['group', indexed(group)] as const]),
  ];
}

/**
 * Each filter has an index in the order of the list, so that a page of a long list reads about as many rows as it
 * has. Of words the rarest one comes first; `upTo` is the last run that is looked at.
 */
export function runsPage(
  viewer: Viewer,
  filter: RunFilter,
  { after, upTo = null }: { readonly after: RunCursor | null; readonly upTo?: RunCursor | null },
  limit: number,
): Select {
  const [first, ...rest] = labelsOf(filter);
  // SQLite takes the tables of a cross join in the order in which they are written, PostgreSQL by what it measured.
  const from = first === undefined ? 'runs r' : 'labels l CROSS JOIN runs r';
  const by = first === undefined ? 'r' : 'l';
  const page = new Page(runColumns, from).is(`${by}.tenant`, viewer.tenantId);
  if (first !== undefined)
    page.where('r.tenant = l.tenant AND r.request_id = l.request_id').where('l.kind = ? AND l.name = ?', ...first);
  for (const label of rest) page.where(hasLabel, ...label);
  ofFilter(page, viewer, filter)
    .is('r.outcome', filter.outcome)
    .is('r.state', given(filter.state))
    .is(`${by}.started_at`, filter.since, '>=')
    .is(`${by}.started_at`, filter.until, '<');
  if (after !== null)
    page.where(
      `${by}.started_at <= ? AND (${by}.started_at < ? OR ${by}.request_id > ?)`,
      ...[after.startedAt, after.startedAt, after.requestId],
    );
  if (upTo !== null)
    page.where(
      `${by}.started_at >= ? AND (${by}.started_at > ? OR ${by}.request_id <= ?)`,
      ...[upTo.startedAt, upTo.startedAt, upTo.requestId],
    );
  return page.select(`${by}.started_at DESC, ${by}.request_id`, limit);
}

/** A row for each run of the tenant that has the word, as far as their number matters. */
export function runsWithWord(tenant: string, word: string): Select {
  const text = "SELECT 1 AS found FROM labels WHERE tenant = ? AND kind = 'word' AND name = ? LIMIT ?";
  return [text, [tenant, word, countedWords]];
}

/** The last of the runs with this word that one page looks at; nothing where there are fewer. */
export function searchedUpTo(tenant: string, word: string, filter: RunFilter, after: RunCursor | null): Select {
  const page = new Page('started_at AS "startedAt", request_id AS "requestId"', 'labels')
    .is('tenant', tenant)
    .where("kind = 'word' AND name = ?", word)
    .is('started_at', filter.since, '>=')
    .is('started_at', filter.until, '<');
  if (after !== null)
    page.where('started_at <= ? AND (started_at < ? OR request_id > ?)', after.startedAt, after.startedAt, after.requestId); // prettier-ignore
  const [text, values] = page.select('started_at DESC, request_id', 1);
  return [`${text} OFFSET ${mostSearched - 1}`, values];
}

/** Runs that changed with a later write, in the order of these, whatever their outcome and state. */
export function changedRuns(viewer: Viewer, filter: RunFilter, after: number, limit: number): Select {
  const page = new Page(runColumns, 'runs r')
    .is('r.tenant', viewer.tenantId)
    .where('r.changed > ?', after)
    .is('r.started_at', filter.since, '>=')
    .is('r.started_at', filter.until, '<');
  for (const label of labelsOf(filter)) page.where(hasLabel, ...label);
  return ofFilter(page, viewer, filter).select('r.changed', limit);
}

const hasLabel =
  'EXISTS (SELECT 1 FROM labels o WHERE o.tenant = r.tenant AND o.kind = ? AND o.name = ? AND o.started_at = r.started_at AND o.request_id = r.request_id)';

function ofFilter(page: Page, viewer: Viewer, { user, session, agent, parent, own }: RunFilter): Page {
  page.is('r.actor', user).is('r.session_id', session);
  // Their indexes have only runs with one.
  if (agent !== undefined) page.is('r.agent', indexed(agent)).where("r.agent <> ''");
  if (parent !== undefined) page.is('r.parent', parent).where("r.parent <> ''");
  if (own === true) page.where('r.actor = ? AND r.subject IS NOT DISTINCT FROM ?', viewer.actorId, viewer.subjectId);
  return page;
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
