import {
  agentBegunBy,
  clientToolGroup,
  clientToolId,
  clientToolsIn,
  isClientTool,
  normaliseState,
  standingFact,
} from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentStep, AgentStepResult, ParentCall } from '@sluice/contracts';
import { argumentsOf, caller, contentOf, cut, time, draftEntry } from './draft-entry.js';
import type { AuditedTool, Facts, EntryDraft } from './draft-entry.js';
import { callDecisionOf } from './turns.js';

/** Each call of a turn, also one that was refused (M-79), and each change of state (G-96). */
export function stepEntries(result: AgentStepResult, facts: Facts): readonly EntryDraft[] {
  const { steps } = result;
  const begunBy = agentBegunBy(result);
  if (begunBy !== null) return [agentBegunEntry(result, begunBy, facts)];
  if (steps.length === 0)
    return [
      draftEntry('turn_without_calls', result, {
        authentic: facts.authentic,
        iteration: result.iteration,
        ...caller(result.run.principal),
        ...decisionIn(result),
      }),
    ];
  return steps.flatMap((step) => {
    const call = callEntry(step, result, facts);
    return step.state === step.stateBefore ? [call] : [call, transitionEntry(step, result, facts)];
  });
}

function callEntry(step: AgentStep, result: AgentStepResult, { tools, authentic }: Facts): EntryDraft {
  const { run, configVersion } = result;
  const tool = tools(configVersion, step.action) ?? clientTool(step.action, result);
  return draftEntry('tool_call', result, {
    authentic,
    iteration: step.iteration,
    index: step.index,
    tool_call_id: step.toolCallId,
    tool: step.action,
    tool_id: tool?.id ?? null,
    tool_groups: tool?.groups ?? [],
    ...caller(run.principal),
    requested_groups: run.requestedGroups,
    outcome: step.outcome,
    reason: step.reason,
    // A call of a tool that the present state does not have.
    invalid_state_transition: step.reason === 'not_eligible_state',
    state_before: step.stateBefore,
    state_after: step.state,
    started_at: time(step.startedAt),
    ended_at: time(step.endedAt),
    duration_ms: Math.max(0, step.endedAt - step.startedAt),
    ...argumentsOf(step.arguments, tool),
    observation: cut(step.observation),
    observation_hash: sha256(step.observation),
    result_hash: step.resultHash,
    ...(step.rule === null ? {} : { rule: cut(step.rule) }),
    ...agentRun(step),
    ...cached(step),
    ...contentOf(step.content),
    ...questionsOf(step),
    ...editedIn(step),
    ...standingIn(step),
    ...decisionIn(result),
  });
}

function decisionIn({ call, run, next }: AgentStepResult): JsonObject {
  return callDecisionOf(call, run, next.question);
}

/** The standing approval by which the call ran; of any other call nothing is said. */
function standingIn({ facts }: AgentStep): JsonObject {
  const id = facts[standingFact];
  return id === undefined ? {} : { standing_approval: id };
}

/** What its approver changed the arguments to; of any other call nothing is said. */
function editedIn({ edited }: AgentStep): JsonObject {
  if (edited === null) return {};
  const { arguments: args, argumentsHash, editedBy } = edited;
  return { edited_arguments: cut(args), edited_hash: argumentsHash, edited_by: editedBy };
}

/** Of what was no agent’s nothing is said, so that its entry stays what it was before there were agents. */
function agentRun({ agentRun: run }: AgentStep): JsonObject {
  if (run === null) return {};
  const { requestId, inputTokens, outputTokens } = run;
  return { agent_request_id: requestId, agent_input_tokens: inputTokens, agent_output_tokens: outputTokens };
}

/** The tool did not run for this call: what it gave an equal one then was given again. */
function cached({ cachedAt }: AgentStep): JsonObject {
  return cachedAt === null ? {} : { cached_at: time(cachedAt) };
}

/** What the tool’s server asked meanwhile and how that was answered, without a word of either. */
function questionsOf({ questions }: AgentStep): JsonObject {
  if (questions.length === 0) return {};
  return {
    questions: questions.map((one) => ({
      ...{ kind: one.kind, server: one.server, outcome: one.outcome, reason: one.reason, by: one.by },
      ...{ asked_at: time(one.askedAt), ended_at: time(one.endedAt) },
      ...(one.inputTokens + one.outputTokens === 0
        ? {}
        : { input_tokens: one.inputTokens, output_tokens: one.outputTokens }),
      ...(one.count === 1 ? {} : { count: one.count }),
    })),
  };
}

function transitionEntry(step: AgentStep, result: AgentStepResult, { authentic }: Facts): EntryDraft {
  return draftEntry('state_transition', result, {
    authentic,
    iteration: step.iteration,
    tool: step.action,
    from: step.stateBefore,
    to: step.state,
    timestamp: time(step.endedAt),
    ...caller(result.run.principal),
  });
}

/** A call of an agent that became a run of its own: whose call it is, what is asked, and what the run may use. */
function agentBegunEntry(result: AgentStepResult, parent: ParentCall, { authentic }: Facts): EntryDraft {
  const { next, run } = result;
  return draftEntry('agent_begun', result, {
    authentic,
    tool_id: parent.tool,
    parent_request_id: parent.requestId,
    parent_session_id: parent.sessionId,
    tool_call_id: parent.toolCallId,
    ...caller(run.principal),
    question: cut(next.question),
    question_hash: sha256(next.question),
    ...contentOf(next.content),
    requested_groups: run.requestedGroups,
    initial_state: normaliseState(next.state),
    max_iterations: run.maxIterations,
    deadline: time(run.deadline),
    max_tokens: parent.maxTokens,
    max_micro_usd: parent.maxMicroUsd,
    // Set only where there is one, so that entries of agents that ran alone are unchanged.
    ...(parent.fanOut === null ? {} : { side_by_side: parent.fanOut.size }),
  });
}

/** The tool that the run’s client brought under this key. */
function clientTool(key: string, { next: { clientTools } }: AgentStepResult): AuditedTool | undefined {
  if (clientTools === null || !isClientTool(key)) return undefined;
  const found = clientToolsIn(clientTools)?.tools.find(({ name }) => clientToolId(name) === key);
  return found === undefined ? undefined : { id: key, groups: [clientToolGroup], inputSchema: found.schema };
}
