import type { RunChange } from './changes.js';
import { indexed } from './indexed.js';
import { forgottenAtOnce, statement } from './stores/store.js';
import type { Statement } from './stores/store.js';
import { callCounted, countedAround } from './usage.js';

/**
 * A later record of the same attempt, or one of an attempt that a redrive made of the run; it began when it began at
 * first.
 */
const putRun = `INSERT INTO runs (tenant, request_id, session_id, actor, subject, question, state, outcome,
  attempt, rank, iterations, input_tokens, cached_input_tokens, output_tokens, started_at, updated_at, ended_at,
  model, micro_usd, parent, deadline, agent, changed)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT latest FROM changes WHERE id = 1))
  ON CONFLICT (tenant, request_id) DO UPDATE SET session_id = excluded.session_id, actor = excluded.actor, subject = excluded.subject,
    question = excluded.question, state = excluded.state, outcome = excluded.outcome, attempt = excluded.attempt, rank = excluded.rank,
    iterations = excluded.iterations, input_tokens = excluded.input_tokens, cached_input_tokens = excluded.cached_input_tokens,
    output_tokens = excluded.output_tokens, updated_at = excluded.updated_at, ended_at = excluded.ended_at,
    model = CASE WHEN excluded.model = '' THEN runs.model ELSE excluded.model END,
    agent = CASE WHEN excluded.agent = '' THEN runs.agent ELSE excluded.agent END,
    micro_usd = coalesce(excluded.micro_usd, runs.micro_usd), parent = excluded.parent, deadline = excluded.deadline, changed = excluded.changed
  WHERE (runs.attempt IS NOT DISTINCT FROM excluded.attempt AND excluded.rank >= runs.rank)
    OR (runs.attempt IS DISTINCT FROM excluded.attempt AND excluded.attempt IS NOT NULL)`;

/** Of a run whose later records came before its first. */
const putAgent = "UPDATE runs SET agent = ? WHERE tenant = ? AND request_id = ? AND agent = ''";

/** Labels are ordered by the time at which the run began at first. */
const putLabel = `INSERT INTO labels (tenant, kind, name, started_at, request_id)
  SELECT tenant, ?, ?, started_at, request_id FROM runs WHERE tenant = ? AND request_id = ?
  ON CONFLICT DO NOTHING`;

const putStep = `INSERT INTO steps (tenant, request_id, iteration, place, step, counted) VALUES (?, ?, ?, ?, ?, 1)
  ON CONFLICT (tenant, request_id, iteration, place) DO UPDATE SET step = excluded.step, counted = 1`;

const putPosition = `INSERT INTO positions (topic, partition, last_offset) VALUES (?, ?, ?)
  ON CONFLICT (topic, partition) DO UPDATE SET last_offset = excluded.last_offset`;

/** Before the changes of one write: they are numbered by it. */
export function nextChange(): Statement {
  return statement('UPDATE changes SET latest = latest + 1 WHERE id = 1');
}

/** What a change of a run writes. */
export function runStatements(change: RunChange): readonly Statement[] {
  const { tenant, requestId } = change;
  const run = [
    ...[tenant, requestId, change.sessionId, change.actor, change.subject, change.question],
    ...[indexed(change.state || 'undefined'), change.outcome, change.attempt, change.rank, change.iterations],
    ...[change.inputTokens, change.cachedInputTokens, change.outputTokens, change.startedAt, change.at, change.endedAt],
    ...[change.model, change.microUsd, change.parent, change.deadline, indexed(change.agent)],
  ];
  const put = statement(putRun, ...run);
  // Only an end is counted, and another attempt may take one back.
  const mayCount = change.endedAt !== null || change.attempt !== null;
  const label = (kind: string, name: string): Statement => statement(putLabel, kind, indexed(name), tenant, requestId);
  return [
    ...(mayCount ? countedAround(tenant, requestId, put) : [put]),
    ...(change.agent === ''
      ? []
      : countedAround(tenant, requestId, statement(putAgent, indexed(change.agent), tenant, requestId))),
    ...change.groups.map((group) => label('group', group)),
    ...change.words.map((word) => label('word', word)),
    ...change.steps.flatMap((step) => {
      const { observation: _, ...kept } = step;
      return [
        label('tool', step.action),
        ...callCounted(tenant, requestId, step),
        statement(putStep, tenant, requestId, step.iteration, step.index, JSON.stringify(kept)),
      ];
    }),
  ];
}

export function positionStatement(topic: string, partition: number, offset: number): Statement {
  return statement(putPosition, topic, partition, offset);
}

/** Finds a run in which nothing has happened since then. */
export function oldRuns(before: number): Statement {
  return statement('SELECT request_id FROM runs WHERE updated_at < ? LIMIT 1', before);
}

/** Forgets a portion of the runs in which nothing has happened since then. */
export function forgetRuns(before: number): readonly Statement[] {
  const order = 'updated_at, tenant, request_id';
  const old = `SELECT tenant, request_id FROM runs WHERE updated_at < ? ORDER BY ${order} LIMIT ${forgottenAtOnce}`;
  return ['labels', 'steps', 'runs'].map((table) =>
    statement(`DELETE FROM ${table} WHERE (tenant, request_id) IN (${old})`, before),
  );
}

/** Forgets all but approvals: only who has the ledger can tell which of them count. */
export function clearAll(): readonly Statement[] {
  return [
    ...['runs', 'labels', 'steps', 'audit', 'letters', 'usage', 'tool_usage'].map((table) =>
      statement(`DELETE FROM ${table}`),
    ),
    statement("DELETE FROM positions WHERE topic <> 'agent.approvals'"),
  ];
}
