import type { ApprovalItem, CallItem, CallTimes, IterationItem, RunTimeline } from './model.js';
import { inOrder, plansOf } from './plan.js';
import type { Plan } from './plan.js';
import { withIdle } from './idle.js';
import type { CallStatus, OpenSpan, Row } from './row-kinds.js';
import { timeScale } from './scale.js';
import type { Span, TimeScale } from './scale.js';

export interface TimelineView {
  readonly onlyFailed: boolean;
  /** Keys of the iterations whose rows are folded. */
  readonly folded: ReadonlySet<string>;
}

interface TimelineInput {
  readonly timeline: RunTimeline;
  readonly times: CallTimes;
  /** The keys of tools by their ids, of those that are known. */
  readonly keys: ReadonlyMap<string, string>;
  /** When the filter decided for an iteration, of those that are known. */
  readonly decidedAt: ReadonlyMap<number, number>;
  /** When the run ended; null while it goes on. */
  readonly endedAt: number | null;
  readonly now: number;
}

interface TimelineRows {
  readonly rows: readonly Row[];
  readonly scale: TimeScale | null;
  readonly failed: number;
}

/** The rows of a run, in order: iterations, and within each what was decided, said and called. */
export function rowsOf(input: TimelineInput, view: TimelineView): TimelineRows {
  const rows: Row[] = [];
  const spans: Span[] = [];
  const failed = addRun(input.timeline, { depth: 0, agent: null, input, view, rows, spans });
  // A run that goes on lasts until now, also where it waits.
  if (input.timeline.end === null && input.endedAt === null) spans.push({ from: input.now, to: input.now });
  const scale = timeScale(spans);
  const asked = [...input.timeline.approvals.values()].map(({ requested_at: at }) => at);
  return { rows: view.onlyFailed || scale === null ? rows : withIdle(rows, scale, asked), scale, failed };
}

interface Making {
  readonly depth: number;
  readonly agent: string | null;
  readonly input: TimelineInput;
  readonly view: TimelineView;
  readonly rows: Row[];
  readonly spans: Span[];
}

function addRun(timeline: RunTimeline, making: Making): number {
  const { depth, agent, input, view, rows } = making;
  const plans = plansOf(timeline);
  const ordered = inOrder(timeline);
  const latest = ordered.at(-1)?.number;
  let total = 0;
  for (const iteration of ordered) {
    const key = `${timeline.runId}/${iteration.number}`;
    const inner: Row[] = [];
    const within = { ...making, rows: inner };
    const plan = plans.get(iteration.number);
    const isLast = iteration.number === latest;
    let failed = 0;
    if (!view.onlyFailed) {
      if (iteration.decision !== null) inner.push({ kind: 'decision', key: `${key}/decision`, depth, iteration });
      addTexts(iteration, { key, depth, isEnd: isLast && timeline.end?.answer != null, rows: inner });
      if (plan !== undefined) inner.push({ kind: 'plan', key: `${key}/plan`, depth, plan: withKeys(plan, input.keys) });
    }
    for (const retry of iteration.retries)
      inner.push({ kind: 'retry', key: `${key}/retry/${retry.attempt}`, depth, retry });
    failed += iteration.retries.length;
    for (const call of iteration.calls) failed += addCall(timeline, { ...within, call, key });
    const span = spanOf(iteration, { timeline, input, depth });
    if (span !== null && depth === 0) making.spans.push(...modelSpan(iteration, span, making));
    total += failed;
    if (view.onlyFailed && failed === 0) continue;
    const isOpen = !view.folded.has(key);
    const calls = iteration.calls.length;
    rows.push({ kind: 'iteration', key, depth, iteration, agent, span, calls, failed, isOpen });
    if (isOpen) rows.push(...inner);
  }
  const { end } = timeline;
  if (end?.error != null) {
    const { code, message } = end.error;
    rows.push({ kind: 'end', key: `${timeline.runId}/end`, depth, code, message });
    total++;
  }
  return total;
}

const withKeys = ({ number, steps }: Plan, keys: TimelineInput['keys']): Plan => ({
  number,
  steps: steps.map((step) => ({ ...step, tool: keys.get(step.tool) ?? step.tool })),
});

interface Texts {
  readonly key: string;
  readonly depth: number;
  readonly isEnd: boolean;
  readonly rows: Row[];
}

function addTexts({ texts }: IterationItem, { key, depth, isEnd, rows }: Texts): void {
  const last = texts.length - 1;
  for (const [n, text] of texts.entries())
    if (text !== '') rows.push({ kind: 'text', key: `${key}/text/${n}`, depth, text, isAnswer: isEnd && n === last });
}

/** Adds the rows of a call; returns how many of them say that something failed. */
function addCall(timeline: RunTimeline, adding: Making & { readonly call: CallItem; readonly key: string }): number {
  const { call, key, depth, input, view, rows, spans } = adding;
  const approvals = timeline.approvalsOf(call.id);
  const status = statusOf(call, approvals);
  const times = depth === 0 ? input.times.get(call.id) : undefined;
  const span = callSpan(call, times);
  if (span !== null && depth === 0) spans.push({ from: span.from, to: span.to ?? Math.max(span.from, input.now) });
  const agent = input.timeline.agentOfCall(timeline.runId, call.id) ?? timeline.agentOfCall(timeline.runId, call.id);
  const inner: Row[] = [];
  const tool = times?.tool ?? input.keys.get(call.tool) ?? (call.tool === '' ? 'a tool' : call.tool);
  const below = agent === null ? 0 : addRun(agent.timeline, { ...adding, depth: depth + 1, agent: tool, rows: inner });
  const isFailed = status === 'failed';
  if (!view.onlyFailed || isFailed || below > 0) {
    const place = `${key}/call/${call.id}`;
    const name = depth === 0 ? call.id : `${timeline.runId}/${call.id}`;
    const agentRun = agent?.agent.run_id ?? null;
    rows.push({ kind: 'call', key: place, depth, call, name, tool, status, span, agentRun });
    for (const item of approvals)
      rows.push({ kind: 'approval', key: `${place}/approval/${item.approval.approval_id}`, depth, item });
    rows.push(...inner);
  }
  return (isFailed ? 1 : 0) + below;
}

export function statusOf({ result, heardAt }: CallItem, approvals: readonly ApprovalItem[]): CallStatus {
  if (result !== null) {
    const outcome = result.step?.outcome;
    return result.is_error || (outcome !== undefined && outcome !== 'ok') ? 'failed' : 'ok';
  }
  if (approvals.some(({ outcome }) => outcome === null)) return 'approval';
  return heardAt === null ? 'waiting' : 'running';
}

function callSpan(
  { heardAt, result }: CallItem,
  times: { readonly started_at: number | null; readonly duration_ms: number | null } | undefined,
): OpenSpan | null {
  const from = times?.started_at ?? heardAt;
  if (from === null || from === undefined) return null;
  const duration = times?.duration_ms ?? null;
  if (duration !== null) return { from, to: from + duration };
  return result === null ? { from, to: null } : null;
}

interface SpanContext {
  readonly timeline: RunTimeline;
  readonly input: TimelineInput;
  readonly depth: number;
}

/** From the filter’s decision, or else the first call, to the end of the last call. */
function spanOf({ number, calls }: IterationItem, { timeline, input, depth }: SpanContext): OpenSpan | null {
  if (depth > 0) return null;
  const spans = calls.flatMap((call) => callSpan(call, input.times.get(call.id)) ?? []);
  const starts = spans.map(({ from }) => from);
  const from = input.decidedAt.get(number) ?? (starts.length === 0 ? null : Math.min(...starts));
  if (from === null) return null;
  const isOver = timeline.iterations.has(number + 1) || timeline.end !== null;
  const next = timeline.iterations.has(number + 1) ? input.decidedAt.get(number + 1) : input.endedAt;
  const ends = spans.map(({ to }) => to ?? input.now);
  if (!isOver) return { from, to: null };
  return { from, to: next ?? (ends.length === 0 ? from : Math.max(from, ...ends)) };
}

/** The time of the model: until the first call, or until the first request for an approval. */
function modelSpan(iteration: IterationItem, { from, to }: OpenSpan, { input }: Making): readonly Span[] {
  const moments = iteration.calls.flatMap(({ id }) => [
    ...(input.times.get(id)?.started_at == null ? [] : [input.times.get(id)?.started_at as number]),
    ...input.timeline.approvalsOf(id).map(({ approval }) => approval.requested_at),
  ]);
  const until = moments.length > 0 ? Math.min(...moments) : (to ?? input.now);
  return [{ from, to: Math.max(from, until) }];
}
