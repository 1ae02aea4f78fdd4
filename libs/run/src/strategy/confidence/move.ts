import { cut, isConfidence, normaliseState, toolChoiceOf } from '@sluice/core';
import type { ConfiguredTool, Evaluator, ModelTurn } from '@sluice/core';
import type { StrategyDecision, Toolset } from '@sluice/contracts';
import type { Move } from '../move.js';
import { quoted } from '../why-plan.js';
import { expected, measured } from './expected.js';
import type { Expected, TurnFacts } from './expected.js';
import { answerConfidence, flowOf } from './flow.js';
import type { Flow } from './flow.js';

/** What a Toolset says that a turn of a run by `confidence` goes by. */
function factsOfTurn({ request, tools }: Pick<Toolset, 'request' | 'tools'>): TurnFacts {
  return { state: normaliseState(request.state), offered: tools.map(({ id }) => id) };
}

/** What comes next in a run whose results are measured, from the Toolset alone. */
export function confidenceMove(toolset: Toolset, evaluator: Evaluator): Move {
  const flow = flowOf(toolset, evaluator);
  const next = withTurnsLeft(toolset, flow, expected(flow, factsOfTurn(toolset), evaluator));
  switch (next.kind) {
    case 'plan': {
      const decision = { ...decided(toolset, flow, 'plan', next.why), plan: flow.plans + 1 };
      return askFor([next.planner], decision);
    }
    case 'call': {
      const { step, tool } = next;
      const count = flow.plan?.steps.length ?? 0;
      if (step.arguments === null && toolset.tools.some(({ id }) => id === tool.id))
        return askFor(
          [tool],
          decided(toolset, flow, 'arguments', `Step ${step.number} of ${count} ${step.open ?? ''}.`, step.number, 1),
        );
      const id = `plan-${flow.plans}-${step.number}`;
      return {
        kind: 'call',
        decision: decided(toolset, flow, 'call', `Step ${step.number} of ${count} as it was planned.`, step.number, 1),
        turn: callTurn(id, tool, step.arguments ?? '{}', step.why),
      };
    }
    case 'retry':
    case 'simplify':
      return askFor(next.tools, decided(toolset, flow, next.kind, next.why, next.step.number, next.attempt));
    case 'judge': {
      const { attempt, step } = next;
      const why = `${measured(attempt, step)} Whether it does what the step is for, the formula cannot say.`;
      return askFor([next.planner], decided(toolset, flow, 'judge', why, step.number, attempt.score.attempt));
    }
    case 'override': {
      const { best, step, planner, by } = next;
      const { attempt } = best.score;
      const why = `${measured(best, step)} No attempt at the step is left.`;
      if (by === 'model') return askFor([planner], decided(toolset, flow, 'override', why, step.number, attempt));
      const decision = decided(toolset, flow, 'override', `${why} A person decides.`, step.number, attempt);
      const id = `override-${flow.plans}-${step.number}`;
      return { kind: 'call', decision, turn: callTurn(id, planner, personalReview(next), decision.reason) };
    }
    case 'answer':
    case 'partial':
      return {
        kind: 'ask',
        decision: { ...decided(toolset, flow, next.kind, next.why), confidence: answerConfidence(flow) },
        tools: [],
        choice: { type: 'none' },
      };
  }
}

/** The last turn is for the answer, whatever the plan has left. */
function withTurnsLeft({ run, toolChoice }: Toolset, flow: Flow, next: Expected): Expected {
  if (next.kind === 'answer' || next.kind === 'partial') return next;
  if (toolChoiceOf(toolChoice).type === 'none')
    return { kind: 'answer', why: 'The request wants no tool to be called.' };
  if (run.iteration < run.maxIterations) return next;
  const done = flow.plan === null ? 'no plan' : `${flow.done} of ${flow.plan.steps.length} steps of the plan`;
  return { kind: 'partial', why: `The run has no turn left but this one, with ${done} done.` };
}

function decided(
  { run }: Toolset,
  flow: Flow,
  action: string,
  reason: string,
  step = 0,
  attempt = 0,
): StrategyDecision {
  const strategy = run.strategy?.name ?? '';
  return {
    strategy,
    action,
    reason,
    plan: flow.plans,
    step,
    attempt,
    score: flow.scored,
    confidence: null,
    partial: action === 'partial',
  };
}

function askFor(tools: readonly ConfiguredTool[], decision: StrategyDecision): Move {
  const [only] = tools;
  const choice =
    tools.length === 1 && only !== undefined
      ? ({ type: 'tool', id: only.id } as const)
      : ({ type: 'required' } as const);
  return { kind: 'ask', decision, tools, choice };
}

function callTurn(toolCallId: string, tool: ConfiguredTool, args: string, thought: string): ModelTurn {
  return {
    thought,
    calls: [{ toolCallId, tool: tool.id, arguments: args }],
    answer: null,
    inputTokens: 0,
    outputTokens: 0,
  };
}

/** What a person approves: that the plan goes on with this result. */
export function personalReview({ best, step }: Expected & { readonly kind: 'override' }): string {
  const why = cut(`${measured(best, step)} It gave: ${quoted(best.step.observation)}`, 1_000);
  const { number } = step;
  return JSON.stringify({ review: { decision: 'accept', step: number, confidence: best.score.confidence, why } });
}

/** An answer, and the note behind it where it has one. */
export function withoutPartialNote(answer: string): { readonly words: string; readonly mark: string } {
  const at = answer.endsWith(']') ? answer.lastIndexOf('\n\n[Partial answer') : -1;
  return at === -1 ? { words: answer, mark: '' } : { words: answer.slice(0, at), mark: answer.slice(at) };
}

/** The note behind a partial answer, so that it does not pass for a whole one; empty for others. */
export function partialNote({ strategy, partial, reason, confidence }: StrategyDecision): string {
  if (!partial) return '';
  const sure = isConfidence(strategy) ? `, confidence ${confidence ?? 'unknown'}` : '';
  return `\n\n[Partial answer${sure}. ${reason}]`;
}
