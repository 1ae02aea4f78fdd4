import { localPrincipal, normaliseState } from '@sluice/core';
import { NamedTools, requestIds, topics } from '@sluice/contracts';
import type { AgentResponse, Run, ToolCall, Toolset } from '@sluice/contracts';
import { tenantHeader } from '@sluice/bus';
import type { Incoming, LogReader } from '@sluice/bus';
import { tenantOf } from '@sluice/run';

/** What is known of one run, as `sluice runs` lists it. Times are milliseconds since the epoch. */
export interface RunSummary {
  readonly requestId: string;
  readonly sessionId: string;
  readonly question: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** `running`, `answer`, or the code of the error that it ended with. */
  readonly outcome: string;
  readonly iterations: number;
  readonly state: string;
  /** Null where the run ended before anybody verified who asks. */
  readonly user: string | null;
  readonly tenant: string | null;
  /** The keys of the tools that it called, each once, in order. */
  readonly tools: readonly string[];
  /** With those of the agents that it called, which make a job of it. */
  readonly tokens: RunTokens;
}

/**
 * Input and output as providers count them; what prompts were made of as Sluice does, null where that was not
 * counted.
 */
export interface RunTokens {
  readonly input: number;
  readonly output: number;
  readonly definitions: number | null;
  readonly results: number | null;
  readonly other: number | null;
}

export interface RunFilter {
  /** Milliseconds since the epoch. */
  readonly since: number | null;
  readonly user: string | null;
  readonly tenant: string | null;
  /** A key or an id. */
  readonly tool: string | null;
  /** `running`, `answer`, `error` for any error, or its code. */
  readonly outcome: string | null;
  /** How many there are at most: the newest. */
  readonly most: number;
}

/** Runs that are looked at, at most; of a longer log, the newest. */
const mostRuns = 100_000;

/** The runs of a log that the filter selects, the oldest first. A record that cannot be read is skipped. */
export async function readRuns(log: LogReader, filter: RunFilter): Promise<readonly RunSummary[]> {
  const runs = new Map<string, RunSummary>();
  const from = filter.since === null ? 'start' : { time: filter.since };
  const options = { from, onUndecodable: () => undefined } as const;
  for await (const message of log.read(read, options)) {
    if (message.topic === 'agent.calls') {
      const asked = begun(message);
      if (asked !== null && !runs.has(asked.name)) runs.set(asked.name, asked.run);
      continue;
    }
    const { record } = message;
    // An end that says no tenant is of an installation without an identity, or of a request whose sender is not known.
    const name = nameOf(tenantOf(message), record);
    const known = runs.get(name);
    if (message.topic === 'agent.responses') runs.set(name, ended(message.record, known));
    // A call that its request makes itself and that waits has no Toolset.
    else if (message.topic === 'agent.toolsets' || message.record.call !== null) {
      if (known === undefined || known.endedAt === null) runs.set(name, underWay(message.record));
    }
    const oldest = runs.keys().next().value;
    if (runs.size > mostRuns && oldest !== undefined) runs.delete(oldest);
  }
  const tool = filter.tool === null ? null : await keyOf(filter.tool, log);
  const selected = [...runs.values()].filter((run) => isSelected(run, { ...filter, tool }));
  return selected.toSorted((one, other) => one.startedAt - other.startedAt).slice(-filter.most);
}

/** Records of runs; of a call that its request makes itself there is no other until it ends or waits. */
const read = [topics.calls, topics.toolsets, topics.toolCalls, topics.responses] as const;

function nameOf(tenant: string | null, { sessionId, requestId }: Pick<RunSummary, 'sessionId' | 'requestId'>): string {
  return JSON.stringify([tenant ?? localPrincipal.tenantId, sessionId, requestId]);
}

/** A call that its request makes itself; null where the record does not say whose it is. */
function begun(message: Incoming<'agent.calls'>): { readonly name: string; readonly run: RunSummary } | null {
  const { headers, record, timestamp: startedAt } = message;
  const door = headers[tenantHeader];
  // Whose a credential is that came past the doors, the executor finds out.
  if (door === undefined && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return null;
  const ids = requestIds(message, record);
  const { question } = record;
  const about = {
    ...ids,
    question,
    state: normaliseState(record.state),
    iterations: 0,
    tools: toolsOf(record.history),
  };
  const unknown = { user: null, tenant: door ?? null, tokens: tokensOf(null) };
  return {
    name: nameOf(door ?? null, ids),
    run: { ...about, ...unknown, startedAt, endedAt: null, outcome: 'running' },
  };
}

/** The key of a tool that has this id in a configuration of the log, the last one first; else what is given. */
async function keyOf(idOrKey: string, log: LogReader): Promise<string> {
  let key = idOrKey;
  const named = new NamedTools();
  for await (const { record } of log.read([topics.config], { from: 'start', onUndecodable: () => undefined })) {
    const found = named.take(record).find(({ id }) => id === idOrKey);
    if (found !== undefined) key = found.key;
  }
  return key;
}

function underWay({ requestId, sessionId, request, run, iteration }: Toolset | ToolCall): RunSummary {
  const { question, history } = request;
  const state = normaliseState(request.state);
  const about = { requestId, sessionId, question, state, iterations: iteration, tools: toolsOf(history) };
  const tokens = tokensOf(run);
  return { ...about, ...whose(run), tokens, startedAt: run.startedAt, endedAt: null, outcome: 'running' };
}

function ended(response: AgentResponse, known: RunSummary | undefined): RunSummary {
  const { requestId, sessionId, question, state, iterations, history, run, endedAt, error } = response;
  const about = { requestId, sessionId, question, state, iterations, tools: toolsOf(history) };
  const { user, tenant } =
    run === null ? { user: known?.user ?? null, tenant: known?.tenant ?? response.tenantId } : whose(run);
  const startedAt = run?.startedAt ?? known?.startedAt ?? endedAt;
  const tokens = tokensOf(run);
  return { ...about, user, tenant, tokens, startedAt, endedAt, outcome: error === null ? 'answer' : error.code };
}

function tokensOf(run: Run | null): RunTokens {
  return {
    ...{ input: run?.inputTokens ?? 0, output: run?.outputTokens ?? 0 },
    definitions: run?.definitionTokens ?? null,
    results: run?.resultTokens ?? null,
    other: run?.otherTokens ?? null,
  };
}

function whose({ principal }: Toolset['run']): Pick<RunSummary, 'user' | 'tenant'> {
  if (principal === null) return { user: null, tenant: null };
  return { user: principal.subjectId ?? principal.actorId, tenant: principal.tenantId };
}

function toolsOf(history: readonly { readonly action: string }[]): readonly string[] {
  return [...new Set(history.map(({ action }) => action))];
}

function isSelected(run: RunSummary, { since, user, tenant, tool, outcome }: RunFilter): boolean {
  if (since !== null && run.startedAt < since && run.endedAt !== null && run.endedAt < since) return false;
  if (user !== null && run.user !== user && run.user !== `user:${user}`) return false;
  if (tenant !== null && run.tenant !== tenant) return false;
  if (tool !== null && !run.tools.includes(tool)) return false;
  if (outcome === null || outcome === run.outcome) return true;
  return outcome === 'error' && !['running', 'answer'].includes(run.outcome);
}
