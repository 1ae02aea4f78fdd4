import type { AgentStep, AgentStepResult } from '@sluice/contracts';
import { sha256 } from '../content.js';
import { argumentsOf, caller, cut, time, told } from './told.js';
import type { Told, ToolLookup } from './told.js';

/** Each call of a turn, also one that was refused (M-79), and each change of state (G-96). */
export function stepEntries(result: AgentStepResult, tools: ToolLookup): readonly Told[] {
  const { steps } = result;
  if (steps.length === 0) return [told('turn_without_calls', result, { iteration: result.iteration })];
  return steps.flatMap((step) => {
    const call = callEntry(step, result, tools);
    return step.state === step.stateBefore ? [call] : [call, transitionEntry(step, result)];
  });
}

function callEntry(step: AgentStep, result: AgentStepResult, tools: ToolLookup): Told {
  const { run, configVersion } = result;
  const tool = tools(configVersion, step.action);
  return told('tool_call', result, {
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
    // A call of a tool that the present state does not have (ruling XG-14).
    invalid_state_transition: step.reason === 'not_eligible_state',
    state_before: step.stateBefore,
    state_after: step.state,
    started_at: time(step.startedAt),
    ended_at: time(step.endedAt),
    duration_ms: Math.max(0, step.endedAt - step.startedAt),
    ...argumentsOf(step.arguments, tool),
    observation: cut(step.observation),
    observation_hash: sha256(step.observation),
  });
}

function transitionEntry(step: AgentStep, result: AgentStepResult): Told {
  return told('state_transition', result, {
    iteration: step.iteration,
    tool: step.action,
    from: step.stateBefore,
    to: step.state,
    timestamp: time(step.endedAt),
    ...caller(result.run.principal),
  });
}
