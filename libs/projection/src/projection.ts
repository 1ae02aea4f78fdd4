import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { AgentStep } from '@sluice/contracts';
import type { Incoming, ReadFrom } from '@sluice/bus';
import { Fault } from '@sluice/core';
import { inTransaction, isSqliteError, pastLocks, sqliteFault } from '@sluice/sqlite';
import { Approvals } from './approvals.js';
import type { Counts } from './approvals.js';
import { changeOf } from './changes.js';
import { openDatabase } from './database.js';
import type {
  ApprovalCursor,
  ListedRun,
  ListedSession,
  RunCursor,
  RunFilter,
  Viewer,
  WaitingApproval,
} from './types.js';
import { Writer } from './writer.js';

const named = { noun: 'projection', code: 'storage' } as const;

/** The runs on the log as tables, in a SQLite file: what lists are read from. Everything in it follows from the log. */
export class Projection {
  readonly #writer: Writer;
  readonly #approvals: Approvals;

  private constructor(private readonly database: DatabaseSync) {
    this.#writer = new Writer(database);
    this.#approvals = new Approvals(database);
  }

  /** Opens or makes the file. Rejects with Fault('storage') that says what to change. */
  static async open(file: string): Promise<Projection> {
    return new Projection(await pastLocks(() => openDatabase(file), asFault));
  }

  /**
   * Takes records in, and keeps how far each partition was read. Records may come in any order of partitions, and more than once. `counts` says
   * which of those of agent.approvals do.
   */
  async apply(messages: readonly Incoming[], counts: Counts): Promise<void> {
    const approvals = await this.#approvals.counting(messages, counts);
    const changes = messages.map(changeOf).filter((change) => change !== null);
    const last = new Map(messages.map((message) => [`${message.topic}/${message.partition}`, message]));
    const work = (): void =>
      inTransaction(this.database, () => {
        for (const change of changes) this.#writer.write(change);
        for (const message of approvals) this.#approvals.write(message);
        for (const { topic, partition, offset } of last.values()) this.#writer.keepPosition(topic, partition, offset);
      });
    await pastLocks(work, asFault);
  }

  /** Behind what was read of each partition. */
  position(): ReadFrom {
    const rows = this.database.prepare('SELECT topic, partition, last_offset FROM positions').all();
    const last = new Map(rows.map((row) => [`${row['topic']}/${row['partition']}`, row['last_offset'] as number]));
    return { after: (topic, partition) => last.get(`${topic}/${partition}`) ?? null };
  }

  /** A page of the tenant’s runs, the newest first. */
  runs({ tenantId }: Viewer, filter: RunFilter, after: RunCursor | null, limit: number): readonly ListedRun[] {
    const { text, values } = query(tenantId, filter, after, limit);
    return this.database.prepare(text).all(...values) as unknown as readonly ListedRun[];
  }

  /** A run of the tenant; undefined if there is none. */
  run({ tenantId }: Viewer, requestId: string): ListedRun | undefined {
    const text = `SELECT ${columns} FROM runs r WHERE r.tenant = ? AND r.request_id = ?`;
    return this.database.prepare(text).get(tenantId, requestId) as unknown as ListedRun | undefined;
  }

  /** The viewer’s own sessions, the one that went on last first. */
  sessions({ tenantId, actorId, subjectId }: Viewer, before: number | null, limit: number): readonly ListedSession[] {
    const text = `SELECT session_id AS sessionId, count(*) AS runs, min(started_at) AS startedAt, max(updated_at) AS updatedAt
      FROM runs WHERE tenant = ? AND actor = ? AND subject IS ? GROUP BY session_id
      HAVING updatedAt < ? ORDER BY updatedAt DESC, session_id LIMIT ?`;
    const values = [tenantId, actorId, subjectId, before ?? Number.MAX_SAFE_INTEGER, limit];
    return this.database.prepare(text).all(...values) as unknown as readonly ListedSession[];
  }

  /** The steps of the viewer’s own runs in a session, in order. */
  steps(
    { tenantId, actorId, subjectId }: Viewer,
    sessionId: string,
    limit: number,
  ): readonly (readonly [string, AgentStep])[] {
    const text = `SELECT s.request_id AS requestId, s.step AS step FROM runs r JOIN steps s USING (tenant, request_id)
      WHERE r.tenant = ? AND r.session_id = ? AND r.actor = ? AND r.subject IS ?
      ORDER BY r.started_at, r.request_id, s.iteration, s.place LIMIT ?`;
    const rows = this.database.prepare(text).all(tenantId, sessionId, actorId, subjectId, limit);
    return rows.map((row) => [row['requestId'] as string, JSON.parse(row['step'] as string) as AgentStep]);
  }

  /** A page of the calls of the tenant that wait for an approval at this time, the oldest first. */
  approvals(viewer: Viewer, at: number, after: ApprovalCursor | null, limit: number): readonly WaitingApproval[] {
    return this.#approvals.page(viewer, at, after, limit);
  }

  /** Forgets approvals that were to be decided before this time. */
  async forgetApprovals(before: number): Promise<void> {
    await pastLocks(() => inTransaction(this.database, () => this.#approvals.forget(before)), asFault);
  }

  /** Forgets runs that nothing happened in since then. */
  async forget(before: number): Promise<void> {
    await pastLocks(() => inTransaction(this.database, () => this.#writer.forget(before)), asFault);
  }

  /** Forgets all runs, so that the log is read from its beginning. Approvals stay: only who has the ledger can tell which of them count. */
  async clear(): Promise<void> {
    await pastLocks(() => inTransaction(this.database, () => this.#writer.clear()), asFault);
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}

const columns = `r.request_id AS requestId, r.session_id AS sessionId, r.actor, r.subject, r.question, r.state, r.outcome, r.iterations,
  r.input_tokens AS inputTokens, r.cached_input_tokens AS cachedInputTokens,
  r.output_tokens AS outputTokens, r.started_at AS startedAt, r.ended_at AS endedAt`;

/** Each filter has an index in the order of the list, so that a page of a long list reads about as many rows as it has. */
function query(tenant: string, filter: RunFilter, after: RunCursor | null, limit: number) {
  const labels = (['tool', 'group'] as const).filter((kind) => filter[kind] !== undefined);
  const [first, ...rest] = labels;
  const from =
    first === undefined
      ? 'runs r'
      : 'labels l CROSS JOIN runs r ON r.tenant = l.tenant AND r.request_id = l.request_id';
  const ordered = first === undefined ? 'r' : 'l';
  const where: string[] = [`${ordered}.tenant = ?`];
  const values: SQLInputValue[] = [tenant];
  const also = (condition: string, ...more: SQLInputValue[]): void => {
    where.push(condition);
    values.push(...more);
  };
  if (first !== undefined) also('l.kind = ? AND l.name = ?', first, filter[first] ?? '');
  for (const kind of rest)
    also(
      'EXISTS (SELECT 1 FROM labels o WHERE o.tenant = r.tenant AND o.kind = ? AND o.name = ? AND o.started_at = r.started_at AND o.request_id = r.request_id)',
      kind,
      filter[kind] ?? '',
    );
  if (filter.user !== undefined) also('r.actor = ?', filter.user);
  if (filter.outcome !== undefined) also('r.outcome = ?', filter.outcome);
  if (filter.state !== undefined) also('r.state = ?', filter.state);
  if (filter.session !== undefined) also('r.session_id = ?', filter.session);
  if (filter.since !== undefined) also(`${ordered}.started_at >= ?`, filter.since);
  if (filter.until !== undefined) also(`${ordered}.started_at < ?`, filter.until);
  if (after !== null)
    also(
      `${ordered}.started_at <= ? AND (${ordered}.started_at < ? OR ${ordered}.request_id > ?)`,
      after.startedAt,
      after.startedAt,
      after.requestId,
    );
  const order = `ORDER BY ${ordered}.started_at DESC, ${ordered}.request_id LIMIT ?`;
  return { text: `SELECT ${columns} FROM ${from} WHERE ${where.join(' AND ')} ${order}`, values: [...values, limit] };
}

function asFault(error: unknown): unknown {
  if (error instanceof Fault || !isSqliteError(error)) return error;
  return sqliteFault('The projection could not be used', error, named);
}
