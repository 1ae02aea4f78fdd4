import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunChange } from './changes.js';

/** Writes changes of runs, each in the transaction of its caller. */
export class Writer {
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #label: StatementSync;
  readonly #step: StatementSync;
  readonly #position: StatementSync;

  constructor(private readonly database: DatabaseSync) {
    this.#find = database.prepare('SELECT attempt, rank, started_at FROM runs WHERE tenant = ? AND request_id = ?');
    this.#put =
      database.prepare(`INSERT OR REPLACE INTO runs (tenant, request_id, session_id, actor, subject, question, state, outcome,
      attempt, rank, iterations, input_tokens, cached_input_tokens, output_tokens, started_at, updated_at, ended_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#label = database.prepare(
      'INSERT OR IGNORE INTO labels (tenant, kind, name, started_at, request_id) VALUES (?, ?, ?, ?, ?)',
    );
    this.#step = database.prepare(
      'INSERT OR REPLACE INTO steps (tenant, request_id, iteration, place, step) VALUES (?, ?, ?, ?, ?)',
    );
    this.#position = database.prepare(
      'INSERT OR REPLACE INTO positions (topic, partition, last_offset) VALUES (?, ?, ?)',
    );
  }

  write(change: RunChange): void {
    const { tenant, requestId } = change;
    const before = this.#find.get(tenant, requestId);
    // Labels are ordered by the time that the run began at first; an attempt that was re-driven starts over.
    const startedAt = before === undefined ? change.startedAt : (before['started_at'] as number);
    if (before === undefined || isLater(change, before['attempt'] as string | null, before['rank'] as number))
      this.#put.run(
        ...[tenant, requestId, change.sessionId, change.actor, change.subject, change.question],
        ...[change.state || 'undefined', change.outcome, change.attempt, change.rank, change.iterations],
        ...[change.inputTokens, change.cachedInputTokens, change.outputTokens, startedAt, change.at, change.endedAt],
      );
    for (const group of change.groups) this.#label.run(tenant, 'group', group, startedAt, requestId);
    for (const step of change.steps) {
      this.#label.run(tenant, 'tool', step.action, startedAt, requestId);
      const { observation: _, ...kept } = step;
      this.#step.run(tenant, requestId, step.iteration, step.index, JSON.stringify(kept));
    }
  }

  keepPosition(topic: string, partition: number, offset: number): void {
    this.#position.run(topic, partition, offset);
  }

  forget(before: number): void {
    for (const table of ['labels', 'steps'])
      this.database
        .prepare(
          `DELETE FROM ${table} WHERE (tenant, request_id) IN (SELECT tenant, request_id FROM runs WHERE updated_at < ?)`,
        )
        .run(before);
    this.database.prepare('DELETE FROM runs WHERE updated_at < ?').run(before);
  }

  clear(): void {
    for (const table of ['runs', 'labels', 'steps']) this.database.exec(`DELETE FROM ${table}`);
    this.database.exec("DELETE FROM positions WHERE topic <> 'agent.approvals'");
  }
}

/** A later record of the same attempt, or one of an attempt that a redrive made of the run. */
function isLater(change: RunChange, attempt: string | null, rank: number): boolean {
  return change.attempt === attempt ? change.rank >= rank : change.attempt !== null;
}
