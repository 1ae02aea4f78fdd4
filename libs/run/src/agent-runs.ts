import {
  afterWait,
  beginRun,
  briefAnswer,
  callsAround,
  evaluatorFor,
  budgetOf,
  modelsFor,
  normaliseState,
  notPermitted,
  runBudgetEnd,
  runBudgetLeft,
  runErrorOf,
  sumOfOthers,
  utf8Length,
  whyIncomplete,
} from '@sluice/core';
import type {
  AgentRun,
  AgentSettings,
  Evaluator,
  HandedBack,
  JsonValue,
  ModelSettings,
  RunBudget,
  RunState,
  Step,
  Verdict,
} from '@sluice/core';
import { make, sha256 } from '@sluice/contracts';
import type { AgentResponse, AgentStepResult, FanOut, RequestedCall, Run, ToolCall } from '@sluice/contracts';
import { wantedBy } from './approvals/request.js';
import type { LoggedTurn } from './approvals/request.js';
import { callIdOf, callKeyOf } from './calls.js';
import { agentPromptBytes } from './definition-bytes.js';
import { othersOfAgent } from './other-models.js';
import { promptTokensOf } from './prompt-tokens.js';
import { withoutPartialNote } from './strategy/confidence/move.js';
import { strategyRecord } from './strategy/choose.js';
import { shareOfTime } from './strategy/fan-out.js';

const agentRunIdForm = /^agent-[0-9a-f]{32}$/;

/**
 * The request_id of the run that a call of an agent is, and its session_id: derived, so that a repeated call is the
 * same run. As any request_id it names one run of its tenant.
 */
export function agentRunIdOf(
  record: Pick<ToolCall, 'requestId' | 'iteration'>,
  call: RequestedCall,
  index: number,
): string {
  return `agent-${sha256(callKeyOf(record.requestId, record, call, index)).slice(0, 32)}`;
}

/** Whether the id can be that of a sub-agent’s run; a caller may have chosen it for a run of its own. */
export function isAgentRunId(requestId: string): boolean {
  return agentRunIdForm.test(requestId);
}

/** A call that becomes a run of its own. */
export interface Handing {
  readonly agentRunId: string;
  readonly question: string;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
  /** The calls that begin with it, side by side; null where it runs alone. */
  readonly fanOut: FanOut | null;
}

/**
 * Whether the call’s caller could have asked for the run himself (K-63): its groups are among those that he may ask
 * for, as a whole or not at all, and the agent is under the configuration in force the one that was granted.
 */
export function mayHandOver(toolId: string, { run }: Pick<ToolCall, 'run'>, judges: readonly Evaluator[]): Verdict {
  const [granted, ...others] = judges.map(({ byId, configuration: { groupTree } }) => ({
    agent: byId(toolId)?.agent,
    groupTree,
  }));
  const groups = granted?.agent?.groups ?? [];
  if (
    others.some(({ agent, groupTree }) => notPermitted(groups, agent?.groups ?? [], groupTree).length > 0 || !agent)
  ) {
    const message = `The tool ${toolId} was changed while this turn was under way. Call it again, or go on without it.`;
    return { ok: false, code: 'policy_denied', reason: 'not_allowed', message };
  }
  if (notPermitted(groups, run.principal?.groups ?? [], granted?.groupTree).length === 0) return { ok: true };
  const message = `The tool ${toolId} works with tool groups that this caller may not ask for. Use another tool, or answer without it.`;
  return { ok: false, code: 'authz_denied', reason: 'agent_groups', message };
}

/**
 * Whether what is left of the run's tokens and money lets an agent's model take one turn: that much is set aside
 * before the call, as before a turn of the run's own model. What the run's agents used is counted in it.
 */
export function mayAfford(
  toolId: string,
  question: string,
  { run }: Pick<ToolCall, 'run'>,
  judges: readonly Evaluator[],
): Verdict {
  for (const judge of judges) {
    const { configuration } = judge;
    const [model] = modelsOfRun(run, judge);
    const [asked] = modelsFor(configuration, judge.byId(toolId)?.agent);
    const turnPrice = asked === model ? undefined : asked.price;
    const { maxOutputTokens } = asked;
    const budget = { ...configuration.policy.budgets, maxOutputTokens, ...(turnPrice && { turnPrice }) };
    const bytes = utf8Length(question) + agentPromptBytes(toolId, configuration);
    if (runBudgetEnd(run, model.price, bytes, budget) === null) continue;
    const message = `The tool ${toolId} is an agent, and a turn of it may use more than is left of this run’s tokens or money. Answer without it.`;
    return { ok: false, code: 'policy_denied', reason: 'budget_used', message };
  }
  return { ok: true };
}

/** What the call asks: its one argument. */
export function questionOf(args: JsonValue | undefined): string {
  const question = typeof args === 'object' && args !== null && 'question' in args ? args.question : '';
  return typeof question === 'string' ? question : '';
}

/**
 * The run that the call at `index` becomes, as the executor hands it to the filter, before it signs it: a turn’s end
 * without steps and before the first iteration. It asks for the same principal, with the agent’s groups and the
 * connections of the run that calls it, and has the images and files of that run’s question as its own.
 */
export function agentBeginning(
  { partition, offset, record }: LoggedTurn,
  index: number,
  { agentRunId, question, startedAt, fanOut }: Handing,
  done: readonly Step[],
  judges: { readonly granting: Evaluator; readonly inForce: Evaluator },
): AgentStepResult {
  const call = record.calls[index] as RequestedCall;
  const { granting, inForce } = judges;
  const tool = granting.byId(call.tool);
  const { principal } = record.run;
  if (tool?.agent === undefined || principal === null) throw new Error('Only an agent’s call, granted, is a run.');
  const { groups, state, maxIterations, agent = null } = tool.agent;
  const { tokens, microUsd } = leftFor(tool.agent, record.run, done, [granting, inForce], fanOut?.size ?? 1);
  const ends = fanOut === null ? record.run.deadline : startedAt + shareOfTime * (record.run.deadline - startedAt);
  const deadline = Math.min(startedAt + allowedMs(tool.id, [granting, inForce]), Math.floor(ends));
  const ids = { requestId: agentRunId, sessionId: agentRunId };
  const { connections, content } = record.request;
  const next = {
    ...make.agentRequest({ question, state, group: groups, connections, maxIterations, deadline, content, agent }),
    ...ids,
  };
  const { limits } = evaluatorFor(granting, next).configuration;
  const begun = beginRun(next, groups, normaliseState(state), limits, principal, startedAt);
  const { requestId, sessionId } = record;
  const parent = {
    ...{ tool: tool.id, requestId, sessionId, toolCallId: callIdOf(record, call, index), partition, offset, index },
    ...{ startedAt, maxTokens: tokens, maxMicroUsd: microUsd, steps: done, fanOut, wantedBy: wantedBy(record) },
    outer: record.run.parent === null ? null : callsAround(record.run),
  };
  return {
    ...ids,
    iteration: 0,
    steps: [],
    next,
    run: {
      ...begun,
      parent,
      conditions: conditionsOfCalled(record.run),
      strategy: strategyRecord(tool.agent.strategy ?? 'react', 0),
      // What is left of the time for people is one for the whole.
      parkedMs: record.run.parkedMs,
    },
    configVersion: record.configVersion,
    signature: null,
    recordSignature: null,
    call: null,
    list: null,
    inForceVersion: inForce.configuration.version,
  };
}

/**
 * What the agent's run may use: its own budget, and no more than is left of the run that calls it, by the policy and,
 * where that is an agent's itself, by its own budget, with what agents
 * before it in this turn used; agents side by side share that evenly.
 */
function leftFor(
  { tokens, microUsd }: Pick<AgentSettings, 'tokens' | 'microUsd'>,
  run: RunState,
  done: readonly Step[],
  judges: readonly Evaluator[],
  among: number,
): Pick<AgentSettings, 'tokens' | 'microUsd'> {
  const used = done.reduce(
    (sum, { agentRun }) => ({
      ...sum,
      inputTokens: sum.inputTokens + (agentRun?.inputTokens ?? 0),
      outputTokens: sum.outputTokens + (agentRun?.outputTokens ?? 0),
      otherModels: sumOfOthers(sum.otherModels, agentRun?.otherModels ?? null),
    }),
    run,
  );
  const left = judges.flatMap((judge) => {
    const { price } = modelsOfRun(run, judge)[0];
    return [judge.configuration.policy.budgets, budgetOfCalled(run)].map((budget) =>
      runBudgetLeft(used, price, budget),
    );
  });
  const least = (own: number | null, others: readonly (number | null)[]): number | null => {
    const shares = others.map((limit) => (limit === null ? null : Math.floor(limit / among)));
    const limits = [own, ...shares].filter((limit) => limit !== null);
    return limits.length === 0 ? null : Math.min(...limits);
  };
  return {
    tokens: least(
      tokens,
      left.map((one) => one.tokens),
    ),
    microUsd: least(
      microUsd,
      left.map((one) => one.microUsd),
    ),
  };
}

/** What the run may use up as the agent of another one’s call. */
function budgetOfCalled({ parent }: RunState): RunBudget {
  const { maxTokens = null, maxMicroUsd = null } = parent ?? {};
  return {
    ...(maxTokens === null ? {} : { tokensPerRun: maxTokens }),
    ...(maxMicroUsd === null ? {} : { microUsdPerRun: maxMicroUsd }),
  };
}

/** A sub-agent’s request came as that of its caller; what it does is counted by itself. */
function conditionsOfCalled({ conditions }: RunState): RunState['conditions'] {
  return conditions === null ? null : { ...conditions, loads: {}, held: [], succeeded: {}, approved: {}, facts: null };
}

/** The shortest time that any of the configurations gives a call of the tool, in milliseconds. */
function allowedMs(toolId: string, judges: readonly Evaluator[]): number {
  const budget = budgetOf(toolId, ...judges.map(({ configuration }) => configuration.policy));
  return Math.min(budget.timeoutMs ?? Infinity, ...judges.map(({ byId }) => byId(toolId)?.timeoutMs ?? Infinity));
}

/** Whether the parked turn is the one whose call the run answers: the run’s name is derived from that very call. */
export function isCallOf(agentRunId: string, record: ToolCall, index: number): boolean {
  const call = record.calls[index];
  return call !== undefined && agentRunIdOf(record, call, index) === agentRunId;
}

/** The instructions of the model in this run: its agent’s own, and how an agent answers (K-66). */
export function instructionsFor({ parent }: Pick<RunState, 'parent'>, evaluator: Evaluator): string {
  const { instructions } = evaluator.configuration;
  if (parent === null) return instructions;
  const agent = evaluator.byId(parent.tool)?.agent;
  const own = agent?.instructions ?? instructions;
  const long = agent === undefined ? '' : ` and keep it within ${agent.answerBytes} bytes: what is longer is cut`;
  return `${own}\n\nYou answer another agent’s call. Begin your answer with a summary of two or three sentences${long}.`;
}

/** The models that the run asks, in order: those of the configuration, and first the one that its agent names. */
export function modelsOfRun(
  { parent }: Pick<RunState, 'parent'>,
  { byId, configuration }: Pick<Evaluator, 'byId' | 'configuration'>,
): readonly [ModelSettings, ...ModelSettings[]] {
  return modelsFor(configuration, parent === null ? undefined : byId(parent.tool)?.agent);
}

/** What the run’s end means for the call. An answer is cut to what the tool, or any result, may have. */
export function handedBack(
  { answer, error, incomplete }: Pick<AgentResponse, 'answer' | 'error' | 'incomplete'>,
  agent: Pick<AgentSettings, 'answerBytes'> | undefined,
  resultBytes: number,
): HandedBack {
  // The limit of a result counts the quotes around it.
  if (error === null) {
    const atMost = Math.min(agent?.answerBytes ?? Infinity, resultBytes - 2);
    // The model that reads it must not take half an answer for a whole one, nor one by what there is for a sure one.
    const { words, mark } = withoutPartialNote(answer ?? '');
    const note = incomplete === null ? mark : `${mark}\n\n[${whyIncomplete(incomplete)}]`;
    if (note === '') return { ok: true, answer: briefAnswer(words, atMost) };
    const brief = briefAnswer(words, Math.max(1, atMost - utf8Length(JSON.stringify(note))));
    return { ok: true, answer: brief + note };
  }
  const { code, message } = error;
  const reason = runErrorOf(code)?.isBudget === true ? 'agent_budget_used' : 'agent_failed';
  return { ok: false, reason, message: `The agent ended without an answer (${code}): ${message}` };
}

/** What is kept of the run beside the step of the call that `calling` made. */
export function agentRunOf(
  { requestId }: Pick<AgentResponse, 'requestId'>,
  run: Run,
  calling: Pick<Run, 'parent'>,
  granting: Pick<Evaluator, 'byId' | 'configuration'>,
): AgentRun {
  const { inputTokens, outputTokens } = run;
  const otherModels = othersOfAgent(run, modelsOfRun(run, granting)[0], modelsOfRun(calling, granting)[0]);
  return { requestId, inputTokens, outputTokens, ...promptTokensOf(run), otherModels };
}

/** The turn as it goes on behind its agents: their runs may have waited for people, and its own deadline with them. */
export function afterAgents(turn: ToolCall, ended: readonly Pick<Run, 'parkedMs'>[]): ToolCall {
  const total = Math.max(0, ...ended.map(({ parkedMs }) => parkedMs ?? 0));
  return { ...turn, run: afterWait(turn.run, total, wantedBy(turn)) };
}
