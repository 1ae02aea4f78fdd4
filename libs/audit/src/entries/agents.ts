import { normaliseState } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentStepResult, ParentCall } from '@sluice/contracts';
import { caller, cut, time, draftEntry } from './draft-entry.js';
import type { Facts, EntryDraft } from './draft-entry.js';

/** A call of an agent that became a run of its own: whose call it is, what is asked, and what the run may use. */
export function agentBegunEntry(result: AgentStepResult, parent: ParentCall, { authentic }: Facts): EntryDraft {
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
