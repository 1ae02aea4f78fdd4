import { topics } from '@sluice/contracts';
import type { AgentStep } from '@sluice/contracts';
import type { Incoming, ReadFrom } from '@sluice/bus';
import {
  approvalStatements,
  countingApprovals,
  forgetApprovals,
  questionsOf,
  waitingApproval,
  waitingApprovals,
} from './approvals.js';
import type { Counts } from './approvals.js';
import { decidedApprovals } from './decisions.js';
import { auditStatements, forgetAudit, oldAudit } from './audit-entries.js';
import { changeOf } from './changes.js';
import type { RunCost } from './changes.js';
import { forgetLetters, letterStatement } from './letters.js';
import { auditPage, changedRuns, lettersPage, runColumns, runsPage, runsWithWord, searchedUpTo } from './lists.js';
import { sqliteStore } from './stores/sqlite.js';
import type { PostgresOptions } from './stores/postgres.js';
import type { Statement, Store } from './stores/store.js';
import type {
  ApprovalCursor,
  DecidedApproval,
  AuditCursor,
  AuditFilter,
  LetterCursor,
  LetterListFilter,
  ListedEntry,
  ListedLetter,
  ListedRun,
  ListedSession,
  RunCursor,
  RunFilter,
  RunPage,
  Viewer,
  WaitingApproval,
} from './types.js';
import { lateRuns, lettersSince, openRuns, waitingCalls } from './standing.js';
import type { LateRun } from './standing.js';
import { callTimes, forgetUsage, usageBy } from './usage.js';
import type { CallTimes, Usage } from './usage.js';
import { clearAll, forgetRuns, nextChange, oldRuns, positionStatement, runStatements } from './writer.js';

/** Where the tables are: a file, or a schema in PostgreSQL that all instances share. */
type ProjectionLocation = { readonly file: string } | PostgresOptions;

/** The log as tables: what lists are read from. Everything in it follows from the log. */
export class Projection {
  private constructor(private readonly store: Store) {}

  /** Opens or makes it. Rejects with Fault('storage') that says what to change. */
  static async open(place: ProjectionLocation): Promise<Projection> {
    if ('file' in place) return new Projection(await sqliteStore(place.file));
    // Loaded here, so that what runs on a file starts without it.
    const { postgresStore } = await import('./stores/postgres.js');
    return new Projection(await postgresStore(place));
  }

  /** As the store says: resolves when this process is the one that applies records. */
  lead(signal: AbortSignal, lost: (error: Error) => void): Promise<() => Promise<void>> {
    return this.store.lead(signal, lost);
  }

  /**
   * Takes records in, and keeps how far each partition was read. Records may come in any order of partitions, and
   * more than once. `counts` says which of those of agent.approvals do.
   */
  async apply(messages: readonly Incoming[], counts: Counts, costOf: RunCost = () => null): Promise<void> {
    if (messages.length === 0) return;
    const approvals = new Set<Incoming>(await countingApprovals(this.store, messages, counts));
    const last = new Map(messages.map((message) => [`${message.topic}/${message.partition}`, message]));
    await this.store.write([
      nextChange(),
      ...messages.flatMap((message) => statementsOf(message, approvals.has(message), costOf)),
      ...[...last.values()].map(({ topic, partition, offset }) => positionStatement(topic, partition, offset)),
    ]);
  }

  /** Behind what was read of each partition. */
  async position(): Promise<ReadFrom> {
    const rows = await this.store.all('SELECT topic, partition, last_offset FROM positions', []);
    const last = new Map(rows.map((row) => [`${row['topic']}/${row['partition']}`, row['last_offset'] as number]));
    return { after: (topic, partition) => last.get(`${topic}/${partition}`) ?? null };
  }

  /** A page of the tenant’s runs, the newest first. */
  async runs(viewer: Viewer, filter: RunFilter, after: RunCursor | null, limit: number): Promise<readonly ListedRun[]> {
    return (await this.store.all(...runsPage(viewer, filter, { after }, limit))) as unknown as readonly ListedRun[];
  }

  /**
   * As `runs`, of those whose question has the words of the filter. A page may have fewer runs than there are: it looks
   * at so many alone, and the next one goes on behind them.
   */
  async page(viewer: Viewer, filter: RunFilter, after: RunCursor | null, limit: number): Promise<RunPage> {
    const words = await this.byRarity(viewer, filter.words ?? []);
    const [word] = words;
    const [upTo] =
      word === undefined ? [] : await this.store.all(...searchedUpTo(viewer.tenantId, word, filter, after));
    const last = (upTo ?? null) as unknown as RunCursor | null;
    const select = runsPage(viewer, { ...filter, words }, { after, upTo: last }, limit + 1);
    const found = (await this.store.all(...select)) as unknown as readonly ListedRun[];
    const runs = found.slice(0, limit);
    return { runs, next: found.length > limit ? (runs.at(-1) ?? null) : last };
  }

  private async byRarity({ tenantId }: Viewer, words: readonly string[]): Promise<readonly string[]> {
    if (words.length < 2) return words;
    const counts = new Map<string, number>();
    for (const word of words) {
      const { length } = await this.store.all(...runsWithWord(tenantId, word));
      counts.set(word, length);
    }
    return words.toSorted((one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0));
  }

  /** The number of the latest write. */
  async latestChange(): Promise<number> {
    const [row] = await this.store.all('SELECT latest FROM changes WHERE id = 1', []);
    return (row?.['latest'] as number | undefined) ?? 0;
  }

  /** Runs that changed behind this write, in the order of the writes, whatever their outcome and state. */
  async changes(viewer: Viewer, filter: RunFilter, after: number, limit: number): Promise<readonly ListedRun[]> {
    return (await this.store.all(...changedRuns(viewer, filter, after, limit))) as unknown as readonly ListedRun[];
  }

  /** What was used, by everything but tools; `tenant` null: of all. */
  async usage(...asked: Parameters<typeof usageBy>): Promise<readonly Usage[]> {
    return (await this.store.all(...usageBy(...asked))) as unknown as readonly Usage[];
  }

  /** Runs of all tenants that are late, the first `limit` of them. */
  async late(before: number, limit: number): Promise<readonly LateRun[]> {
    return (await this.store.all(...lateRuns(before, limit))) as unknown as readonly LateRun[];
  }

  /** What is open in all tenants at this time, and dead letters since another. */
  async standing(now: number, lettersFrom: number): Promise<Standing> {
    const [runs] = await this.store.all(openRuns, []);
    const [approvals] = await this.store.all(waitingCalls, [now]);
    const [letters] = await this.store.all(lettersSince, [lettersFrom]);
    return { runs, approvals, letters } as unknown as Standing;
  }

  /** Calls by tool and duration. */
  async callTimes(...asked: Parameters<typeof callTimes>): Promise<readonly CallTimes[]> {
    return (await this.store.all(...callTimes(...asked))) as unknown as readonly CallTimes[];
  }

  /** A run of the tenant; undefined if there is none. */
  async run({ tenantId }: Viewer, requestId: string): Promise<ListedRun | undefined> {
    const text = `SELECT ${runColumns} FROM runs r WHERE r.tenant = ? AND r.request_id = ?`;
    const [found] = await this.store.all(text, [tenantId, requestId]);
    return found as unknown as ListedRun | undefined;
  }

  /** The viewer’s own sessions, the one that went on last first. */
  async sessions(
    { tenantId, actorId, subjectId }: Viewer,
    before: number | null,
    limit: number,
  ): Promise<readonly ListedSession[]> {
    const text = `SELECT session_id AS "sessionId", count(*) AS runs, min(started_at) AS "startedAt", max(updated_at) AS "updatedAt"
      FROM runs WHERE tenant = ? AND actor = ? AND subject IS NOT DISTINCT FROM ? GROUP BY session_id
      HAVING max(updated_at) < ? ORDER BY max(updated_at) DESC, session_id LIMIT ?`;
    const values = [tenantId, actorId, subjectId, before ?? Number.MAX_SAFE_INTEGER, limit];
    return (await this.store.all(text, values)) as unknown as readonly ListedSession[];
  }

  /** The steps of the viewer’s own runs in a session, in order. */
  async steps(
    { tenantId, actorId, subjectId }: Viewer,
    sessionId: string,
    limit: number,
  ): Promise<readonly (readonly [string, AgentStep])[]> {
    // A session has few runs, and an actor may have all there are: written so, a database begins with the session’s.
    const text = `SELECT s.request_id AS "requestId", s.step AS step
      FROM runs r CROSS JOIN steps s WHERE s.tenant = r.tenant AND s.request_id = r.request_id
      AND r.tenant = ? AND r.session_id = ? AND r.actor || '' = ? AND r.subject IS NOT DISTINCT FROM ?
      ORDER BY r.started_at, s.request_id, s.iteration, s.place LIMIT ?`;
    const rows = await this.store.all(text, [tenantId, sessionId, actorId, subjectId, limit]);
    return rows.map((row) => [row['requestId'] as string, JSON.parse(row['step'] as string) as AgentStep]);
  }

  /** A page of the calls of the tenant that wait for an approval at this time, the oldest first. */
  approvals(
    viewer: Viewer,
    at: number,
    after: ApprovalCursor | null,
    limit: number,
  ): Promise<readonly WaitingApproval[]> {
    return waitingApprovals(this.store, viewer, at, after, limit);
  }

  /** The call of the tenant that waits for this approval; undefined if none does. */
  approval(viewer: Viewer, approvalId: string): Promise<WaitingApproval | undefined> {
    return waitingApproval(this.store, viewer, approvalId);
  }

  /** The first 500 characters of what these runs of the tenant were asked, by their ids; of those that are listed. */
  questions(viewer: Viewer, requestIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return questionsOf(this.store, viewer, requestIds);
  }

  /** A page of what the audit has of the tenant, the newest first. */
  async audit(
    { tenantId }: Viewer,
    filter: AuditFilter,
    after: AuditCursor | null,
    limit: number,
  ): Promise<readonly ListedEntry[]> {
    return (await this.store.all(...auditPage(tenantId, filter, after, limit))) as unknown as readonly ListedEntry[];
  }

  /** A page of the outcomes of approvals of the tenant, the newest first; the ledger says which of them counted. */
  decidedApprovals(viewer: Viewer, after: AuditCursor | null, limit: number): Promise<readonly DecidedApproval[]> {
    return decidedApprovals(this.store, viewer, after, limit);
  }

  /** A page of the dead letters of all tenants, the newest first. */
  async letters(filter: LetterListFilter, after: LetterCursor | null, limit: number): Promise<readonly ListedLetter[]> {
    return (await this.store.all(...lettersPage(filter, after, limit))) as unknown as readonly ListedLetter[];
  }

  /** Forgets what is older than these times, each where it is given: runs in which nothing has happened since. */
  async forget({ approvals, runs, audit, letters, usage }: Forgetting): Promise<void> {
    await this.store.write([
      ...(approvals === undefined ? [] : [forgetApprovals(approvals)]),
      ...(letters === undefined ? [] : [forgetLetters(letters)]),
      ...(usage === undefined ? [] : forgetUsage(usage)),
    ]);
    if (runs !== undefined) await this.inPortions(oldRuns(runs), forgetRuns(runs));
    if (audit !== undefined) await this.inPortions(oldAudit(audit), [forgetAudit(audit)]);
  }

  /**
   * Forgets all but approvals, so that the log is read from its beginning: only who has the ledger can tell which of
   * these count.
   */
  async clear(): Promise<void> {
    await this.store.write(clearAll());
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /** Repeats what deletes one portion for as long as `left` finds a row, so that others write in between. */
  private async inPortions(left: Statement, portion: readonly Statement[]): Promise<void> {
    while ((await this.store.all(left.text, left.values)).length > 0) {
      await this.store.write(portion);
      await new Promise(setImmediate);
    }
  }
}

interface Standing {
  readonly runs: { readonly count: number; readonly oldestAt: number | null };
  readonly approvals: { readonly count: number; readonly oldestAt: number | null };
  readonly letters: { readonly count: number; readonly latestAt: number | null };
}

interface Forgetting {
  readonly approvals?: number;
  readonly runs?: number;
  readonly audit?: number;
  readonly letters?: number;
  readonly usage?: number;
}

function statementsOf(message: Incoming, isCountingApproval: boolean, costOf: RunCost): readonly Statement[] {
  switch (message.topic) {
    case topics.approvals:
      return isCountingApproval ? approvalStatements(message) : [];
    case topics.audit:
      return auditStatements(message.record);
    case topics.deadLetters:
      return [letterStatement(message)];
    default: {
      const change = changeOf(message, costOf);
      return change === null ? [] : runStatements(change);
    }
  }
}
