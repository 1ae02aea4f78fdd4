import type { AgentStep } from '@sluice/contracts';
import { indexed } from './indexed.js';
import { statement } from './stores/store.js';
import type { Statement, Value } from './stores/store.js';

const dayMs = 86_400_000;

/** What usage is added up by. */
export const usageDimensions = ['user', 'agent', 'model', 'day', 'tool', 'outcome', 'tenant'] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** Whole days, from the first up to but without the second: milliseconds since the epoch. */
interface UsageSpan {
  readonly since: number;
  readonly until: number;
}

/** What runs that ended used, or calls of a tool, under one name of the dimension. */
export interface Usage {
  readonly name: string;
  /** Runs, or calls of the tool. */
  readonly count: number;
  /** Those that ended with an error. */
  readonly failures: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly microUsd: number;
  /** Runs whose cost is not known: no price is configured. */
  readonly unpriced: number;
  readonly durationMs: number;
}

/** Calls of a tool by how long they took. */
export interface CallTimes {
  readonly tool: string;
  readonly bucket: number;
  readonly calls: number;
  readonly failures: number;
}

/** So many buckets a doubling: a duration is known to within a tenth. */
const bucketsADoubling = 4;

function bucketOf(milliseconds: number): number {
  return milliseconds < 1 ? 0 : 1 + Math.round(Math.log2(milliseconds) * bucketsADoubling);
}

/** The duration that a bucket stands for, in milliseconds. */
export function durationIn(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 1) / bucketsADoubling));
}

/** The beginning of the UTC day. */
export function dayOf(at: number): number {
  return Math.floor(at / dayMs) * dayMs;
}

/** Of a run as it stands in the table: agents’ runs are part of the run that called them. */
const addRun = (sign: '' | '-', condition: string): string => `
  INSERT INTO usage (tenant, day, actor, agent, model, outcome, runs, failures, input_tokens, cached_input_tokens,
    output_tokens, micro_usd, unpriced, duration_ms)
  SELECT tenant, started_at - (started_at % ${dayMs}), actor, agent, model, outcome, ${sign}1,
    ${sign}(CASE WHEN outcome = 'answer' THEN 0 ELSE 1 END), ${sign}input_tokens, ${sign}cached_input_tokens,
    ${sign}output_tokens, ${sign}coalesce(micro_usd, 0), ${sign}(CASE WHEN micro_usd IS NULL THEN 1 ELSE 0 END),
    ${sign}(ended_at - started_at)
  FROM runs WHERE tenant = ? AND request_id = ? AND parent = '' AND ${condition}
  ON CONFLICT (tenant, day, actor, agent, model, outcome) DO UPDATE SET runs = usage.runs + excluded.runs,
    failures = usage.failures + excluded.failures, input_tokens = usage.input_tokens + excluded.input_tokens,
    cached_input_tokens = usage.cached_input_tokens + excluded.cached_input_tokens,
    output_tokens = usage.output_tokens + excluded.output_tokens, micro_usd = usage.micro_usd + excluded.micro_usd,
    unpriced = usage.unpriced + excluded.unpriced, duration_ms = usage.duration_ms + excluded.duration_ms`;

const removeCounted = addRun('-', 'counted = 1');
const addEnded = addRun('', 'ended_at IS NOT NULL');
const noteCounted =
  'UPDATE runs SET counted = CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END WHERE tenant = ? AND request_id = ?';

/** Around what changes a run: its usage is taken out as it was, and put in as it is then. */
export function countedAround(tenant: string, requestId: string, change: Statement): readonly Statement[] {
  const of = (text: string): Statement => statement(text, tenant, requestId);
  return [of(removeCounted), change, of(addEnded), of(noteCounted)];
}

const addCall = `
  INSERT INTO tool_usage (tenant, day, tool, bucket, calls, failures) SELECT ?, ?, ?, ?, 1, ?
  WHERE NOT EXISTS (SELECT 1 FROM steps WHERE tenant = ? AND request_id = ? AND iteration = ? AND place = ? AND counted = 1)
  ON CONFLICT (tenant, day, tool, bucket) DO UPDATE SET calls = tool_usage.calls + 1,
    failures = tool_usage.failures + excluded.failures`;

/** Before a step is put: a call counts once, however often its record comes. */
export function callCounted(tenant: string, requestId: string, step: AgentStep): readonly Statement[] {
  const { action, outcome, startedAt, endedAt, iteration, index } = step;
  // A step that the request brought along, or that was refused before it began, has no time.
  if (startedAt === 0) return [];
  const bucket = bucketOf(endedAt - startedAt);
  const failed = outcome === 'ok' ? 0 : 1;
  const at = [tenant, requestId, iteration, index];
  return [statement(addCall, tenant, dayOf(startedAt), indexed(action), bucket, failed, ...at)];
}

type Select = readonly [text: string, values: readonly Value[]];

const columnOf = {
  user: 'actor',
  agent: 'agent',
  model: 'model',
  outcome: 'outcome',
  tenant: 'tenant',
  day: 'day',
} as const;
const sum = (column: string, name: string): string => `CAST(sum(${column}) AS bigint) AS "${name}"`;

/** `tenant` null: of all. The days in their order, others by what most was used of. */
export function usageBy(
  dimension: Exclude<UsageDimension, 'tool'>,
  tenant: string | null,
  { since, until }: UsageSpan,
  limit: number,
): Select {
  const column = columnOf[dimension];
  const sums = [
    ...[sum('runs', 'count'), sum('failures', 'failures'), sum('input_tokens', 'inputTokens')],
    ...[sum('cached_input_tokens', 'cachedInputTokens'), sum('output_tokens', 'outputTokens')],
    ...[sum('micro_usd', 'microUsd'), sum('unpriced', 'unpriced'), sum('duration_ms', 'durationMs')],
  ].join(', ');
  const order = dimension === 'day' ? 'day DESC' : `sum(micro_usd) DESC, sum(runs) DESC, ${column}`;
  const ofTenant = tenant === null ? '' : 'tenant = ? AND ';
  const text = `SELECT ${column} AS name, ${sums} FROM usage WHERE ${ofTenant}day >= ? AND day < ?
    GROUP BY ${column} HAVING sum(runs) > 0 ORDER BY ${order} LIMIT ?`;
  return [text, [...(tenant === null ? [] : [tenant]), since, until, limit]];
}

/** Calls by tool and duration. */
export function callTimes(tenant: string, { since, until }: UsageSpan): Select {
  const text = `SELECT tool, bucket, ${sum('calls', 'calls')}, ${sum('failures', 'failures')} FROM tool_usage
    WHERE tenant = ? AND day >= ? AND day < ? GROUP BY tool, bucket ORDER BY tool, bucket LIMIT ?`;
  return [text, [tenant, since, until, mostCallTimes]];
}

/** Rows of tools and durations that are read for one answer, at most. */
const mostCallTimes = 100_000;

/** Forgets the usage of days before. */
export function forgetUsage(before: number): readonly Statement[] {
  return ['usage', 'tool_usage'].map((table) => statement(`DELETE FROM ${table} WHERE day < ?`, before));
}
