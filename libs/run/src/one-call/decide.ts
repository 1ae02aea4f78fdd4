import type { Decision, Evaluator, RunState } from '@sluice/core';
import type { AgentRequest, AgentResponse, CallDecision, ToolCall, Toolset } from '@sluice/contracts';
import { boundedTurn } from '../bounded-turn.js';
import type { Cancelled } from '../claims/cancel.js';
import { directTurn } from '../direct-call.js';
import { decideIteration } from '../filter.js';
import type { RunIds } from '../filter.js';
import { namingFewTools } from '../tool-list.js';

/** What is decided about a call that its request makes itself: how its turn begins, or the end of its run. */
type DecidedCall =
  | { readonly kind: 'end'; readonly response: AgentResponse }
  | {
      readonly kind: 'turn';
      /** The turn, without a signature. */
      readonly turn: ToolCall;
      readonly decided: CallDecision;
      /** What a filter would have granted, for metrics. */
      readonly toolset: Toolset;
      readonly decision: Decision;
    };

/**
 * Decides about the one call of a run without a model, whose run has its conditions (withConditions): what the filter
 * decides for a turn, and what the agent makes of it, with nothing in between. `now` is in milliseconds since the
 * epoch. Throws where the request makes no call.
 */
export function decideCall(
  ids: RunIds,
  request: AgentRequest,
  given: RunState,
  evaluator: Evaluator,
  now: number,
  cancelled: Cancelled | null = null,
): DecidedCall {
  const iteration = decideIteration(ids, request, given, evaluator, now, cancelled);
  if (iteration.kind === 'end') return iteration;
  const { decision } = iteration;
  const toolset = namingFewTools(iteration.record, decision, evaluator);
  const made = directTurn(toolset, evaluator);
  if (made === null) throw new Error('The request makes no call itself.');
  const turn = boundedTurn(toolset, toolset.run, { ...made, model: null }, evaluator.configuration.limits);
  return { kind: 'turn', turn, decided: decisionIn(toolset, decision, turn, evaluator), toolset, decision };
}

/** The decision as the record of the call has it: of a long list its hash, and of the tool why it was hidden. */
function decisionIn(
  { decidedAt, groups, hiddenCounts, unknownGroups, fallbackGroups, toolChoice, list }: Toolset,
  { hidden }: Decision,
  { calls }: ToolCall,
  evaluator: Evaluator,
): CallDecision {
  const tool = evaluator.byId(calls[0]?.tool ?? '');
  const reasons = tool === undefined ? [] : (hidden.find(({ key }) => key === tool.key)?.reasons ?? []);
  return {
    decidedAt,
    groups,
    hidden: reasons,
    hiddenCounts,
    unknownGroups,
    fallbackGroups,
    toolChoice,
    listHash: list?.hash ?? '',
  };
}
