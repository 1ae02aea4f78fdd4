import type { Configuration, ModelPrice } from '@sluice/core';
import { modelName, modelsOf } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { everything, replay } from '@sluice/replay';
import type { Replayed } from '@sluice/replay';
import { authorizerOf } from '../replay/authorizer-of.js';
import { verifierFor } from '../replay/verifier-for.js';
import type { ReplayKeys } from '../replay/verifier-for.js';
import type { QuestionCase, Expectation, RecordedCase } from './cases.js';
import { endOf, plannersOf } from './check.js';
import { resultOf } from './result.js';
import type { CaseResult } from './result.js';

/** Differences of a run that a failure names. */
const namedDifferences = 3;

/** The request_id of a case’s run: by it a recording is found again. */
export function recordedName(
  name: string,
  { strategy, model }: { readonly strategy: string; readonly model: string },
): string {
  return `eval.${name}.${strategy}.${model}`.slice(0, 256);
}

function partsOf(
  requestId: string,
): { readonly name: string; readonly strategy: string; readonly model: string } | null {
  const [, name, strategy, model] = /^eval\.([^.]+)\.([^.]+)\.(.+)$/s.exec(requestId) ?? [];
  return name === undefined || strategy === undefined || model === undefined ? null : { name, strategy, model };
}

/** Where recorded runs are read. */
interface Reading {
  readonly reader: LogReader;
  readonly keys: ReplayKeys;
  /** Says which tools take plans and what models cost; null where no configuration is named. */
  readonly configuration: Configuration | null;
  readonly signal: AbortSignal;
}

/**
 * The cases as a recording has them, under the strategies and models that it was made with: each run is decided
 * again, and checked.
 */
export async function replayRecording(
  cases: readonly QuestionCase[],
  file: string,
  reading: Reading,
): Promise<readonly CaseResult[]> {
  const found: CaseResult[] = [];
  const expected = new Map(cases.map(({ name, expect }) => [name, expect]));
  const differing = await differencesIn(reading, null);
  for (const [requestId, run] of await runsOf(reading, null)) {
    const parts = partsOf(requestId);
    const expect = parts === null ? undefined : expected.get(parts.name);
    if (parts === null || expect === undefined || run.response === null) continue;
    found.push(judge(parts, { ...run, response: run.response }, expect, differing, reading));
  }
  const missing = [...expected.keys()].filter((name) => !found.some((one) => one.name === name));
  if (missing.length === 0) return found;
  throw new Error(
    `The recording ${file} has no run of these cases: ${missing.join(', ')}. Record them again with --record.`,
  );
}

/** A case whose run was made elsewhere. Throws a sentence if it is not there or has not ended. */
export async function replayRun({ name, run: requestId, expect }: RecordedCase, reading: Reading): Promise<CaseResult> {
  const run = (await runsOf(reading, requestId)).get(requestId);
  if (run?.response == null) {
    const why = run === undefined ? 'is not on the log' : 'has not ended';
    throw new Error(
      `The case ${name} names the run ${requestId}, which ${why}. Name another, or the export that holds it.`,
    );
  }
  const { response, model } = run;
  const sessions = [run.sessionId, ...subAgentsOf(response)];
  const differing = await differencesIn(reading, sessions);
  const of = { name, strategy: response.run?.strategy?.name ?? 'react', model: model ?? 'none' };
  return judge(of, { ...run, response }, expect, differing, reading);
}

interface RecordedRun {
  readonly sessionId: string;
  /** How many steps its request brought along. */
  readonly brought: number;
  readonly model: string | null;
  readonly response: AgentResponse | null;
}

async function runsOf({ reader, signal }: Reading, only: string | null): Promise<ReadonlyMap<string, RecordedRun>> {
  const runs = new Map<string, RecordedRun>();
  const options = { from: 'start', onUndecodable: () => undefined, signal } as const;
  for await (const { topic, key, record } of reader.read(
    [topics.requests, topics.calls, topics.toolsets, topics.toolCalls, topics.responses],
    options,
  )) {
    const { requestId } = record;
    if (requestId === null || (only !== null && requestId !== only)) continue;
    const known = runs.get(requestId) ?? { sessionId: key, brought: 0, model: null, response: null };
    if (topic === topics.requests || topic === topics.calls)
      runs.set(requestId, { ...known, brought: record.history.length });
    else if (topic === topics.toolCalls) runs.set(requestId, { ...known, model: record.model?.name ?? known.model });
    else if (topic === topics.responses)
      runs.set(requestId, { ...known, model: record.model?.name ?? known.model, response: record });
  }
  return runs;
}

function judge(
  of: Pick<CaseResult, 'name' | 'strategy' | 'model'>,
  { response, brought }: RecordedRun & { readonly response: AgentResponse },
  expect: Expectation,
  differing: ReadonlyMap<string, readonly string[]>,
  { configuration }: Reading,
): CaseResult {
  const planners = configuration === null ? new Set<string>() : plannersOf(configuration);
  const all = [response.requestId, ...subAgentsOf(response)].flatMap((id) => differing.get(id) ?? []);
  const more = all.length - namedDifferences;
  const named = more > 0 ? [...all.slice(0, namedDifferences), `${more} more decisions are otherwise.`] : all;
  // Of a run that several models took, the rest is the first one’s.
  const first = configuration?.model.price;
  const price = response.run?.otherModels == null ? priceOf(of.model, configuration) : first;
  return resultOf(of, response, endOf(response, brought, planners), { expect, brought, price }, named);
}

/** The runs of the agents that the run called; each has a session of the same name. */
function subAgentsOf({ history }: AgentResponse): readonly string[] {
  return history.flatMap(({ agentRun }) => agentRun?.requestId ?? []);
}

/** What is decided otherwise than it was recorded, by run; of these sessions, or of all. */
async function differencesIn(
  { reader, keys, signal }: Reading,
  sessions: readonly string[] | null,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const options = { verifier: verifierFor(keys), authorizerOf, signal, onUndecodable: () => undefined };
  for (const session of sessions ?? [null]) {
    for await (const replayed of replay(reader, { ...options, selection: { ...everything, session } })) {
      const { requestId, outcome } = replayed;
      if (outcome.kind === 'equal') continue;
      const of = found.get(requestId) ?? [];
      of.push(inWords(replayed));
      found.set(requestId, of);
    }
  }
  return found;
}

function inWords({ kind, topic, partition, offset, outcome }: Replayed): string {
  const place = `${topic}/${partition}/${offset}`;
  switch (outcome.kind) {
    case 'not_replayable':
      return `The decision at ${place} (${kind}) cannot be derived: ${outcome.reason}`;
    case 'different': {
      const [first] = outcome.differences;
      return `The decision at ${place} (${kind}) is derived otherwise${first === undefined ? '' : `, at ${first.path}`}.`;
    }
    case 'equal':
      return '';
  }
}

function priceOf(model: string, configuration: Configuration | null): ModelPrice | undefined {
  if (configuration === null) return undefined;
  return modelsOf(configuration).find((one) => modelName(one) === model)?.price;
}
