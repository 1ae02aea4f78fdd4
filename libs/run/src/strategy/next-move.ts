import { isConfidence, isPlanned, toolChoiceOf } from '@sluice/core';
import type { Evaluator, ModelTurn } from '@sluice/core';
import type { StrategyDecision, Toolset } from '@sluice/contracts';
import { confidenceMove, partialNote } from './confidence/move.js';
import type { Move } from './move.js';
import { needsPlan, plannerAmong, planProgress } from './progress.js';
import type { PlanProgress } from './progress.js';
import { supervised } from './supervise.js';
import { quoted, whyNoPlan } from './why-plan.js';

const react: Move = { kind: 'react' };

const unmeasured = { attempt: 0, score: null, confidence: null, partial: false };

/** What the strategy of a run makes of its turn, from the Toolset alone: equal Toolsets give equal moves. */
export function nextMove(toolset: Toolset, evaluator: Evaluator): Move {
  const { run, request, tools, toolChoice } = toolset;
  const { strategy } = run;
  if (strategy === null || request.call !== null) return react;
  if (strategy.name === 'supervisor') return { kind: 'supervise', decision: supervised(toolset, evaluator) };
  if (!isPlanned(strategy.name)) return react;
  if (isConfidence(strategy.name)) return confidenceMove(toolset, evaluator);
  const progress = planProgress(toolset, evaluator);
  const decided = (action: string, reason: string, step = 0): StrategyDecision => {
    return { ...unmeasured, strategy: strategy.name, action, reason, plan: progress.plans, step };
  };
  const answer = (reason: string): Move => {
    return { kind: 'ask', decision: decided('answer', reason), tools: [], choice: { type: 'none' } };
  };
  if (toolChoiceOf(toolChoice).type === 'none') return answer('The request wants no tool to be called.');
  /** By what there is: a plan did not come to its end, and no other one takes its place. */
  const partial = (reason: string): Move => {
    const decision = { ...decided('answer', reason), partial: true };
    return { kind: 'ask', decision, tools: [], choice: { type: 'none' } };
  };
  const planner = plannerAmong(tools, evaluator);
  if (needsPlan(progress)) {
    const why = whyPlan(progress);
    if (planner === null) return partial(`${why} No tool that takes a plan is offered, so there is no other.`);
    if (progress.plans >= planner.plan.maxPlans)
      return partial(`${why} The run has made all of its ${planner.plan.maxPlans} plans.`);
    const decision = { ...decided('plan', why), plan: progress.plans + 1 };
    return { kind: 'ask', decision, tools: [planner], choice: { type: 'tool', id: planner.id } };
  }
  const { next, plan } = progress;
  const count = plan?.steps.length ?? 0;
  if (next === null && count === 0 && progress.plans > 1)
    return partial('The plan has no steps, and the plan before was not done.');
  if (next === null) return answer(count === 0 ? 'The plan has no steps.' : `All ${count} steps of the plan are done.`);
  const tool = evaluator.tool(next.tool);
  if (tool === undefined) return partial(`There is no tool ${next.tool} any more.`);
  if (next.arguments === null && tools.some(({ id }) => id === tool.id)) {
    const decision = decided('arguments', `Step ${next.number} of ${count} ${next.open ?? ''}.`, next.number);
    return { kind: 'ask', decision, tools: [tool], choice: { type: 'tool', id: tool.id } };
  }
  const call = {
    toolCallId: `plan-${progress.plans}-${next.number}`,
    tool: tool.id,
    arguments: next.arguments ?? '{}',
  };
  const turn = { thought: next.why, calls: [call], answer: null, inputTokens: 0, outputTokens: 0 };
  return {
    kind: 'call',
    decision: decided('call', `Step ${next.number} of ${count} as it was planned.`, next.number),
    turn,
  };
}

function whyPlan({ made, failed, done }: PlanProgress): string {
  return failed === null ? whyNoPlan(made) : `Step ${done + 1} of the plan failed: ${quoted(failed.observation)}`;
}

/**
 * The turn as the move asked for it: of one that makes a step, its first fitting call; and an answer that is not the
 * whole one says so.
 */
export function keptTo(move: Move, turn: ModelTurn): ModelTurn {
  if (move.kind !== 'ask') return turn;
  if (turn.answer !== null) return { ...turn, answer: turn.answer + partialNote(move.decision) };
  const first = turn.calls.find((call) => move.tools.some(({ id }) => id === call.tool));
  return first === undefined ? turn : { ...turn, calls: [first] };
}
