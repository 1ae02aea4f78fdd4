import {
  chooseTools,
  evaluatorFor,
  mayRequest,
  nextIteration,
  normaliseState,
  runEnd,
  runErrorOf,
  spanBudgetEnd,
} from '@sluice/core';
import type { Decision, Evaluator, HiddenReason, Verifier } from '@sluice/core';
import type { AgentRequest, ApprovalOutcome, BudgetState, Run, Toolset } from '@sluice/contracts';
import type { Incoming, LogReader } from '@sluice/bus';
import { judgeRequest, modelsOfRun, decideTools, notRecorded, toolset, turnBudgetEnd, withTools } from '@sluice/run';
import { approvalRequestOf } from './about.js';
import { isAgentBeginning } from './agent-runs.js';
import type { Change } from './change.js';
import { changedCalls } from './changed-calls.js';
import { deriveOutcome, isByTime } from './approvals.js';
import type { AuthorizerOf } from './calls.js';
import { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import { isOfOwnCall, ownTurns } from './own-call.js';
import type { OwnTurn } from './own-call.js';
import { decisionsOf } from './replay.js';
import { overRuns, startingWith } from './over-runs.js';
import type { Reading, Threads } from './over-runs.js';
import { agentOfRun } from './run-records.js';
import type { RunRecords } from './run-records.js';
import { isSelected } from './select.js';
import type { DecisionSelection } from './select.js';
import type { ReplayJob } from './threads/replay-job.js';
import type { RunWork } from './work.js';

/** A recorded decision as the candidate would make it. */
export interface Reconsidered {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly requestId: string;
  readonly sessionId: string;
  /** From 1; null where the decision is of no iteration. */
  readonly iteration: number | null;
  /** Who asked, as in the principal; empty where the records do not say. */
  readonly actor: string;
  readonly tenant: string;
  readonly groups: readonly string[];
  readonly state: string;
  /** None: it would be the same. */
  readonly changes: readonly Change[];
  /** By the key of a tool that would be offered, or would not: why it was hidden, or would be. */
  readonly hidden: HiddenReasons;
  /** Why it cannot be said, else null. */
  readonly notReplayable: string | null;
}

type HiddenReasons = Readonly<Record<string, readonly HiddenReason[]>>;

interface Considering {
  readonly candidate: Evaluator;
  readonly selection: DecisionSelection;
  readonly authorizerOf: AuthorizerOf;
}

interface WhatIfOptions extends Considering, Reading {
  /** With which the recorded configurations are verified. */
  readonly verifier: Verifier;
  /** What else may work on it; null: this thread alone. */
  readonly threads?: Threads<ReplayJob> | null;
}

/**
 * What of the recorded decisions would be otherwise under another configuration. Each is taken by itself, with its
 * recorded inputs: what the model would have said to other tools is unknown.
 */
export async function* whatIf(
  reader: LogReader,
  options: WhatIfOptions,
): AsyncGenerator<Reconsidered, void, undefined> {
  const { candidate, selection, threads = null } = options;
  const configurations = await RecordedConfigurations.read(reader, options, options.verifier);
  const recorded = { selection, configurations: configurations.recorded };
  const job = { kind: 'what-if', candidate: candidate.configuration, ...recorded } as const;
  yield* overRuns(
    reader,
    options,
    considering(configurations, options),
    threads === null ? null : startingWith(threads, job),
  );
}

export function considering(configurations: RecordedConfigurations, options: Considering): RunWork<Reconsidered> {
  return async (run, _dead, found) => {
    for (const message of decisionsOf(run)) {
      if (!isSelected(message, run, options.selection, configurations)) continue;
      const reconsidered = await reconsider(message, run, configurations, options);
      if (reconsidered !== null) found.push(reconsidered);
    }
  };
}

async function reconsider(
  message: Incoming,
  run: RunRecords,
  recorded: RecordedConfigurations,
  given: Considering,
): Promise<Reconsidered | null> {
  const { topic, partition, offset } = message;
  const configurations = recorded.ofRun(run);
  const agent = agentOfRun(run);
  const options = agent === null ? given : { ...given, candidate: evaluatorFor(given.candidate, agent) };
  const place = { topic, partition, offset, requestId: run.requestId, sessionId: message.key };
  const about = aboutOf(message, run);
  try {
    const decided = decidedIn(message, run, configurations);
    const changes = await changesOf(message, decided, run, configurations, options);
    if (changes === null) return null;
    const hidden = hiddenIn(decided?.toolset ?? null, changes, configurations, options.candidate);
    return { ...place, ...about, changes, hidden, notReplayable: null };
  } catch (error) {
    if (!(error instanceof NotReplayable)) throw error;
    return { ...place, ...about, changes: [], hidden: nothingHidden, notReplayable: error.message };
  }
}

const nothingHidden: HiddenReasons = Object.freeze({});

/** The decision on tools that a record holds, and the turn of a call that its request makes itself. */
interface DecidedTools {
  readonly toolset: Toolset;
  readonly own: OwnTurn | null;
}

/** Null for a record that holds no decision on tools. Throws NotReplayable where that of a call cannot be had. */
function decidedIn(message: Incoming, run: RunRecords, configurations: RecordedConfigurations): DecidedTools | null {
  const { topic, record } = message;
  if (topic === 'agent.toolsets') return { toolset: record, own: null };
  if ((topic !== 'agent.steps' && topic !== 'agent.tool-calls') || !isOfOwnCall(record)) return null;
  const turns = ownTurns(record, run, configurations);
  // Of several requests under its id, the one that makes this call.
  const made = 'steps' in record ? record.steps[0]?.arguments : record.calls[0]?.arguments;
  const own = turns.find(({ turn }) => turn.calls[0]?.arguments === made) ?? turns[0];
  if (own === undefined) throw new NotReplayable('Its request is not among the records.');
  return { toolset: own.toolset, own };
}

/** Of a turn’s tools that would be others. */
function hiddenIn(
  record: Toolset | null,
  changes: readonly Change[],
  configurations: RecordedConfigurations,
  candidate: Evaluator,
): HiddenReasons {
  const [change] = changes;
  if (record === null || change?.kind !== 'tools') return nothingHidden;
  const reasonsIn = (keys: readonly string[], judge: () => Evaluator): HiddenReasons => {
    if (keys.length === 0) return nothingHidden;
    const reasons = new Map(decidedBy(judge(), record, record.decidedAt).hidden.map((one) => [one.key, one.reasons]));
    return Object.fromEntries(keys.map((key) => [key, reasons.get(key) ?? []]));
  };
  return {
    ...reasonsIn(change.lost, () => candidate),
    ...recordedReasons(() => reasonsIn(change.gained, () => configurations.get(record.configVersion))),
  };
}

/** Where the configuration of then cannot be had, it is not known why a tool was hidden. */
function recordedReasons(read: () => HiddenReasons): HiddenReasons {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NotReplayable)) throw error;
    return nothingHidden;
  }
}

/** Null for what no configuration decides: a model’s turn, an answer. */
async function changesOf(
  message: Incoming,
  decided: DecidedTools | null,
  run: RunRecords,
  configurations: RecordedConfigurations,
  { candidate, authorizerOf }: Considering,
): Promise<readonly Change[] | null> {
  const tools = (toolset: Toolset): readonly Change[] =>
    changedTools(asAsked(recordedTools(toolset, configurations), run, candidate), candidate);
  switch (message.topic) {
    case 'agent.toolsets':
      return tools(message.record);
    case 'agent.tool-calls':
      if (decided !== null) return tools(decided.toolset);
      return changedBudget('goes on', message.record.model?.budgets ?? [], candidate);
    case 'agent.steps':
      // The call that became an agent’s run is considered with its turn.
      if (isAgentBeginning(message)) return null;
      if (decided !== null) {
        const changes = tools(decided.toolset);
        if (changes.some(({ kind }) => kind === 'run')) return changes;
        return [
          ...changes,
          ...(await changedCalls(message, decided.own, run, configurations, candidate, authorizerOf)),
        ];
      }
      return changedCalls(message, null, run, configurations, candidate, authorizerOf);
    case 'agent.approvals': {
      const { outcome } = message.record;
      if (outcome === null || (isByTime(outcome) && outcome.notTaken === null)) return null;
      const judged = deriveOutcome(outcome, run, { inForce: () => candidate }).filter((one) => isOfOne(one, outcome));
      const [first] = judged;
      if (first === undefined) throw new NotReplayable('The decision or the question is not among the records.');
      // Of decisions that are word for word the same, one may count and the others come too late.
      if (judged.some(({ notTaken }) => notTaken === outcome.notTaken)) return [];
      const asked = approvalRequestOf(message, run)?.tool ?? '';
      const tool = candidate.byId(asked)?.key ?? asked;
      return [{ kind: 'approval', tool, was: outcome.notTaken ?? 'taken', would: first.notTaken ?? 'taken' }];
    }
    case 'agent.responses': {
      const { error, run: ended, endedAt, model, budgets } = message.record;
      const code = error?.code ?? '';
      if (code === 'span_budget_exceeded') return changedBudget(code, budgets, candidate);
      if (error === null) return changedBudget('goes on', model?.budgets ?? [], candidate);
      // A request that is invalid whatever is offered has no run, and is none of the filter’s decisions.
      if (runErrorOf(code)?.byFilter !== true || (code === 'invalid_request' && ended === null)) return null;
      const request = requestOf(run, ended);
      if (ended === null || request === null) throw new NotReplayable('Who asked what is not among the records.');
      const isBehindCall = run.steps.some((one) => isOfOwnCall(one.record) && one.record.iteration === ended.iteration);
      const would = endUnder(request, ended, candidate, endedAt, isBehindCall) ?? 'goes on';
      return would === code ? [] : [{ kind: 'run', was: code, would }];
    }
    default:
      return null;
  }
}

/** Whether the model would have been asked, by what is recorded of budgets with a span; null where nothing is. */
function changedBudget(was: string, states: readonly BudgetState[], candidate: Evaluator): readonly Change[] | null {
  if (states.length === 0) return null;
  const would = spanBudgetEnd(candidate.configuration.policy.budgets.spans ?? [], states)?.code ?? 'goes on';
  return was === would ? [] : [{ kind: 'run', was, would }];
}

function changedTools(record: Toolset, candidate: Evaluator): readonly Change[] {
  const before = { ...record.run, iteration: record.iteration - 1 };
  const end = endUnder(record.request, before, candidate, record.decidedAt);
  if (end !== null) return [{ kind: 'run', was: 'goes on', would: end }];
  const { offered } = decidedBy(candidate, record, record.decidedAt);
  const was = new Map(record.tools.map((tool) => [tool.key, tool]));
  const would = new Map(offered.map((tool) => [tool.key, tool.spec]));
  const gained = [...would.keys()].filter((key) => !was.has(key));
  const lost = [...was.keys()].filter((key) => !would.has(key));
  const altered = [...was].flatMap(([key, tool]) => {
    const spec = would.get(key);
    const same = spec?.description === tool.description && spec.schemaHash === tool.schemaHash;
    return spec === undefined || spec === null || same ? [] : [key];
  });
  return gained.length + lost.length + altered.length === 0 ? [] : [{ kind: 'tools', gained, lost, altered }];
}

/** With the groups that the candidate's agent would have left the request. */
function asAsked(record: Toolset, { requests }: RunRecords, { configuration }: Evaluator): Toolset {
  const { principal, parent } = record.run;
  const asked = requests.find((one) => one.record.agent === record.request.agent)?.record;
  if (asked === undefined || principal === null || parent !== null) return record;
  const { group } = judgeRequest(asked, principal, configuration);
  return { ...record, request: { ...record.request, group } };
}

/** With what each tool was then. */
function recordedTools(record: Toolset, configurations: RecordedConfigurations): Toolset {
  return record.list === null ? record : withTools(record, configurations.get(record.configVersion));
}

/** Whether both came of the same decision. */
function isOfOne(one: ApprovalOutcome, other: ApprovalOutcome): boolean {
  const { decision, decidedBy, reason, argumentsHash, editedArguments } = other;
  const same = one.decision === decision && one.reason === reason && one.argumentsHash === argumentsHash;
  return same && one.decidedBy === decidedBy && one.editedArguments === editedArguments;
}

/** The candidate’s decision from the recorded inputs. */
function decidedBy(candidate: Evaluator, about: Parameters<typeof decideTools>[0], at: number): Decision {
  const unknown = notRecorded(about.run, candidate);
  if (unknown !== null) throw new NotReplayable(unknown);
  return decideTools(about, candidate, at).decision;
}

/**
 * With which code the run would end here, or null if it would go on. `isBehindCall`: the call that its request makes
 * is done, and nothing is decided behind it.
 */
function endUnder(
  request: AgentRequest,
  run: Run,
  candidate: Evaluator,
  now: number,
  isBehindCall = false,
): string | null {
  const { limits, policy } = candidate.configuration;
  const [model] = modelsOfRun(run, candidate);
  if (run.principal === null) throw new NotReplayable('It does not say who asked.');
  if (run.iteration === 0 && !mayRequest(request, run.requestedGroups, run.principal, candidate.configuration).ok)
    return 'authz_denied';
  const maxIterations = Math.min(request.maxIterations ?? limits.maxIterations, limits.maxIterations);
  const deadline = Math.min(request.deadline ?? Infinity, run.startedAt + limits.runMs + (run.parkedMs ?? 0));
  const iteration = isBehindCall ? 0 : run.iteration;
  const end = runEnd({ ...run, iteration, maxIterations, deadline }, request.history, limits, now, model.price, {
    ...policy.budgets,
    maxOutputTokens: model.maxOutputTokens,
  });
  if (end !== null) return end.code;
  if (isBehindCall) return null;
  const decision = decidedBy(candidate, { request, run }, now);
  const next = nextIteration(run, decision);
  const chosen = chooseTools(request.toolChoice, next.iteration, decision.offered);
  if (!chosen.ok) return 'invalid_request';
  // No id decides about a budget.
  const ids = { requestId: request.requestId ?? '', sessionId: request.sessionId ?? '' };
  return turnBudgetEnd(toolset(ids, request, next, decision, chosen.choice, now), candidate)?.code ?? null;
}

/** The request as it stood at the run’s end. */
function requestOf({ requests, steps }: RunRecords, ended: Run | null): AgentRequest | null {
  if (ended === null) return null;
  if (ended.iteration === 0 && ended.parent === null) return requests[0]?.record ?? null;
  return steps.find(({ record }) => record.iteration === ended.iteration)?.record.next ?? null;
}

function aboutOf(
  message: Incoming,
  run: RunRecords,
): Pick<Reconsidered, 'tenant' | 'actor' | 'groups' | 'state' | 'iteration'> {
  const { topic, record } = message;
  const own = topic === 'agent.approvals' ? null : 'run' in record ? record.run : null;
  const first = run.toolsets[0]?.record.run ?? run.responses[0]?.record.run ?? null;
  const known = own ?? first;
  const { tenantId = '', actorId = '' } = known?.principal ?? {};
  const groups = known?.requestedGroups ?? [];
  return {
    tenant: tenantId,
    actor: actorId,
    groups,
    state: stateOf(message, run),
    iteration: iterationOf(message, run),
  };
}

function iterationOf(message: Incoming, run: RunRecords): number | null {
  if (message.topic === 'agent.toolsets' || message.topic === 'agent.steps') return message.record.iteration;
  if (message.topic === 'agent.responses') return message.record.run?.iteration ?? null;
  return message.topic === 'agent.approvals' ? (approvalRequestOf(message, run)?.iteration ?? null) : null;
}

/** In which state it was decided; of an approval, in which state the call was that waits for it. */
function stateOf(message: Incoming, run: RunRecords): string {
  if (message.topic === 'agent.toolsets' || message.topic === 'agent.responses') return message.record.state;
  if (message.topic === 'agent.steps') {
    const { steps, iteration } = message.record;
    return steps[0]?.stateBefore ?? stateIn(run, iteration);
  }
  const asked = message.topic === 'agent.approvals' ? approvalRequestOf(message, run) : undefined;
  if (asked === undefined) return run.toolsets.at(-1)?.record.state ?? stateIn(run, 1);
  const turn = run.steps.find(({ record }) => record.iteration === asked.iteration && record.steps.length > 0);
  const step = turn?.record.steps.find(({ index }) => index === asked.index);
  return step?.stateBefore ?? stateIn(run, asked.iteration);
}

/** In which state an iteration began; a call that its request makes itself has no Toolset. */
function stateIn({ toolsets, calls }: RunRecords, iteration: number): string {
  const toolset = toolsets.findLast(({ record }) => record.iteration === iteration)?.record;
  if (toolset !== undefined) return toolset.state;
  const turn = calls.findLast(({ record }) => record.iteration === iteration)?.record;
  return turn === undefined ? '' : normaliseState(turn.request.state);
}
