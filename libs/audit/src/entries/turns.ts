import { sha256 } from '@sluice/contracts';
import type { ToolCall, Toolset } from '@sluice/contracts';
import { caller, cut, time, told } from './told.js';
import type { Facts, Told } from './told.js';

/** What the filter decided for an iteration: who may have which tools, and why not the others. */
export function toolsetEntry(toolset: Toolset, { authentic }: Facts): Told {
  const { run, tools, hidden, hiddenCounts, grant } = toolset;
  return told('tools_granted', toolset, {
    authentic,
    iteration: toolset.iteration,
    ...caller(run.principal),
    permitted_groups: run.principal?.groups ?? [],
    requested_groups: run.requestedGroups,
    granted_groups: toolset.groups,
    state: toolset.state,
    offered: tools.map(({ key }) => key),
    offered_hash: sha256(JSON.stringify(tools.map(({ id, schemaHash }) => [id, schemaHash]))),
    hidden: hidden.map(({ key, reasons }) => ({ key, reasons })),
    hidden_counts: hiddenCounts,
    unknown_groups: toolset.unknownGroups,
    unavailable: toolset.unavailable,
    // Set only where there is one, so that entries of turns without are unchanged.
    ...(toolset.toolChoice === null ? {} : { tool_choice: toolset.toolChoice }),
    decided_at: time(toolset.decidedAt),
    grant_hash: grant === null ? null : sha256(grant),
    // Which request it began with: that of another tenant may have the same ids.
    ...(toolset.iteration === 1 ? { question_hash: sha256(toolset.request.question) } : {}),
  });
}

/** What the model wants to call: the arguments by their hashes, since they are not validated yet. */
export function chosenEntry(turn: ToolCall, { authentic }: Facts): Told {
  const { run, thought, calls } = turn;
  return told('calls_chosen', turn, {
    authentic,
    iteration: turn.iteration,
    ...caller(run.principal),
    granted_groups: turn.groups,
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
  });
}
