import { normaliseState } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { CallDecision, Run, StrategyDecision, ToolCall, Toolset } from '@sluice/contracts';
import { caller, cut, time, draftEntry } from './draft-entry.js';
import type { Facts, EntryDraft } from './draft-entry.js';

/** What the filter decided for an iteration: who may have which tools, and why not the others. */
export function toolsetEntry(toolset: Toolset, { authentic }: Facts): EntryDraft {
  const { run, grant } = toolset;
  return draftEntry('tools_granted', toolset, {
    authentic,
    iteration: toolset.iteration,
    ...caller(run.principal),
    permitted_groups: run.principal?.groups ?? [],
    requested_groups: run.requestedGroups,
    granted_groups: toolset.groups,
    state: toolset.state,
    ...listOf(toolset),
    // Set only where there is one, so that entries of turns without are unchanged.
    ...(toolset.toolChoice === null ? {} : { tool_choice: toolset.toolChoice }),
    decided_at: time(toolset.decidedAt),
    grant_hash: grant === null ? null : sha256(grant),
    ...(run.strategy === null
      ? {}
      : { strategy: { name: run.strategy.name.slice(0, 200), reason: cut(run.strategy.reason) } }),
    ...(run.memory === null ? {} : { memory: run.memory.map(({ requestId }) => requestId.slice(0, 200)) }),
    // Which request it began with: that of another tenant may have the same ids.
    ...(toolset.iteration === 1 ? { question_hash: sha256(toolset.request.question) } : {}),
  });
}

/** What was offered and what was not. What a list says that an earlier iteration has as well is not said again. */
function listOf(toolset: Toolset): JsonObject {
  const { list, tools, hidden, hiddenCounts, hiddenIndexes, unknownGroups, unavailable, iteration } = toolset;
  const all = {
    offered: tools.map(({ key }) => key),
    offered_hash: list?.hash ?? sha256(JSON.stringify(tools.map(({ id, schemaHash }) => [id, schemaHash]))),
    hidden: hidden.map(({ key, reasons }) => ({ key, reasons })),
    hidden_counts: hiddenCounts,
    unknown_groups: unknownGroups,
    unavailable,
  };
  // As it is written of records of former versions, in this order and with what is empty.
  if (list === null) return all;
  const said = Object.entries({
    ...all,
    ...(list.since === iteration ? { offered_indexes: list.indexes } : { offered_hash: '' }),
    hidden_indexes: hiddenIndexes.map(({ reasons, indexes }) => ({ reasons, indexes })),
  }).filter(([, found]) => Object.keys(found).length > 0);
  return { ...Object.fromEntries(said), offered_since: list.since };
}

/**
 * What the executor decided about the call that a request makes itself, as the entry of a Toolset has it; nothing of
 * any other turn, so that its entries stay what they were.
 */
export function callDecisionOf(
  call: CallDecision | null,
  { principal, memory }: Pick<Run, 'principal' | 'memory'>,
  question: string,
): JsonObject {
  if (call === null) return {};
  const { groups, hidden, hiddenCounts, unknownGroups, fallbackGroups, toolChoice } = call;
  const some = Object.entries({
    hidden,
    hidden_counts: hiddenCounts,
    unknown_groups: unknownGroups,
    fallback_groups: fallbackGroups,
    memory: (memory ?? []).map(({ requestId }) => requestId.slice(0, 200)),
  }).filter(([, found]) => Object.keys(found).length > 0);
  return {
    decided: {
      permitted_groups: principal?.groups ?? [],
      granted_groups: groups,
      offered_hash: call.listHash,
      ...Object.fromEntries(some),
      ...(toolChoice === null ? {} : { tool_choice: toolChoice }),
      decided_at: time(call.decidedAt),
      question_hash: sha256(question),
    },
  };
}

/** What the model wants to call: the arguments by their hashes, since they are not validated yet. */
export function chosenEntry(turn: ToolCall, { authentic }: Facts): EntryDraft {
  const { run, thought, calls } = turn;
  return draftEntry('calls_chosen', turn, {
    authentic,
    iteration: turn.iteration,
    ...caller(run.principal),
    granted_groups: turn.groups,
    ...(turn.call === null ? {} : { requested_groups: run.requestedGroups, state: normaliseState(turn.request.state) }),
    ...callDecisionOf(turn.call, run, turn.request.question),
    thought: cut(thought),
    thought_hash: sha256(thought),
    calls: calls.map((call) => ({
      tool_call_id: call.toolCallId.slice(0, 200),
      tool: call.tool.slice(0, 200),
      arguments_hash: sha256(call.arguments),
    })),
    // Said where there are some, so that entries of turns without are what they always were.
    ...(turn.omittedCalls === 0 ? {} : { omitted_calls: turn.omittedCalls }),
    input_tokens: run.inputTokens,
    output_tokens: run.outputTokens,
    ...cachedTokens(run),
    ...promptTokens(run),
    ...modelOf(turn),
    ...decisionOf(turn),
  });
}

/** What the run’s strategy decided for the turn; entries of runs that work by none stay what they were. */
export function decisionOf({ decision }: Pick<ToolCall, 'decision'>): JsonObject {
  if (decision === null) return {};
  const { strategy, action, reason, plan, step } = decision;
  return {
    decision: {
      ...{ strategy: strategy.slice(0, 200), action: action.slice(0, 200), reason: cut(reason), plan, step },
      ...measuredOf(decision),
    },
  };
}

/** What a decision rests on where results are measured; entries of decisions without stay what they were. */
function measuredOf({ attempt, score, confidence }: StrategyDecision): JsonObject {
  return {
    ...(attempt === 0 ? {} : { attempt }),
    ...(score === null
      ? {}
      : {
          score: {
            ...score,
            tool: score.tool.slice(0, 200),
            kind: score.kind.slice(0, 200),
            inputs: { ...score.inputs },
          },
        }),
    ...(confidence === null ? {} : { confidence }),
  };
}

/** How much of the input was in the provider’s cache; entries of runs without any stay what they were. */
export function cachedTokens(run: Pick<Run, 'cachedInputTokens'> | null): JsonObject {
  return run === null || run.cachedInputTokens === 0 ? {} : { cached_input_tokens: run.cachedInputTokens };
}

/** What the run’s prompts were made of; entries of runs whose were not counted stay what they were. */
export function promptTokens(run: Pick<Run, 'definitionTokens' | 'resultTokens' | 'otherTokens'> | null): JsonObject {
  if (run === null || run.definitionTokens === null) return {};
  const { definitionTokens: definitions, resultTokens, otherTokens } = run;
  return { prompt_tokens: { definitions, results: resultTokens ?? 0, other: otherTokens ?? 0 } };
}

/** Which model was asked what; entries of records without it stay what they were. */
export function modelOf({ model }: Pick<ToolCall, 'model'>): JsonObject {
  if (model === null) return {};
  const { name, promptHash, passedOver, shown } = model;
  return {
    model: name.slice(0, 200),
    prompt_hash: promptHash,
    ...(shown === null ? {} : { shown_tools: shown.length, shown_hash: sha256(JSON.stringify(shown)) }),
    ...(passedOver.length === 0
      ? {}
      : {
          models_passed_over: passedOver.map((one) => ({ model: one.name.slice(0, 200), message: cut(one.message) })),
        }),
  };
}
