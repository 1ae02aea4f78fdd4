import { evaluatorFor, normaliseState } from '@sluice/core';
import type { Evaluator } from '@sluice/core';
import type { AgentRequest, AgentStepResult, CallDecision, Run, ToolCall, Toolset } from '@sluice/contracts';
import { toolset } from '../toolset.js';
import { decideCall } from './decide.js';

/** A record with the decision about a call that its request makes itself. */
export interface OfOwnCall {
  readonly requestId: string;
  readonly sessionId: string;
  /** As it was decided on. */
  readonly request: AgentRequest;
  readonly run: Run;
  readonly configVersion: string;
  readonly call: CallDecision;
}

/** What the record says of a call that its request makes itself; null for any other. */
export function ownCallIn(record: AgentStepResult | ToolCall): OfOwnCall | null {
  const { requestId, sessionId, run, configVersion, call } = record;
  const asked = 'request' in record ? record.request : record.next;
  // A forged record may say so of a request that makes no call: nothing was decided about that.
  if (call === null || asked.call === null) return null;
  const ids = { requestId, sessionId };
  if ('request' in record) return { ...ids, request: record.request, run, configVersion, call };
  const { next, steps } = record;
  const history = next.history.slice(0, next.history.length - steps.length);
  const request = { ...next, history, state: steps[0]?.stateBefore ?? next.state };
  return { ...ids, request, run, configVersion, call };
}

/**
 * What a filter would have granted: the decision made once more from what the record says, under the configuration
 * that it names, whose evaluator this is, for any agent. Null where the decision comes out as another than the record
 * says.
 */
export function toolsetOfCall(own: OfOwnCall, common: Evaluator): Toolset | null {
  const evaluator = evaluatorFor(common, own.request);
  const { conditions } = own.run;
  const before = conditions === null ? null : { ...conditions, succeeded: {}, approved: {} };
  const run = { ...own.run, iteration: 0, toolCalls: {}, answer: null, conditions: before };
  const decided = decideCall(own, own.request, run, evaluator, own.call.decidedAt);
  return decided.kind === 'turn' && decided.decided.listHash === own.call.listHash ? decided.toolset : null;
}

/** The same as far as the record itself says it: without its tools. */
export function bareToolset(own: OfOwnCall): Toolset {
  const { request, run, configVersion, call } = own;
  const { groups, toolChoice, decidedAt, hiddenCounts, unknownGroups, fallbackGroups } = call;
  const none = {
    offered: [],
    hidden: [],
    eligible: [],
    filteredByGroup: [],
    filteredByState: [],
    permitted: [],
    closed: 0,
  };
  const decision = { ...none, state: normaliseState(request.state), groups, unknownGroups, configVersion };
  const bare = toolset(own, request, run, decision, toolChoice, decidedAt);
  return { ...bare, hiddenCounts, fallbackGroups };
}
