import { isPlanned, normaliseState, toolChoiceOf, transition } from '@sluice/core';
import type { Configuration, ConfiguredTool, Evaluator, RunState, Step, StrategyName } from '@sluice/core';
import type { AgentRequest } from '@sluice/contracts';
import { decideTools } from '../decide-tools.js';
import { strategyRecord } from './choose.js';
import { scoreStep } from './confidence/score.js';
import { plannerAmong } from './progress.js';
import { toolsWithinReach } from './walk.js';

/** A run by `auto` with the strategy that the rules choose for it, and why; any other run as it is. */
export function routed(request: AgentRequest, run: RunState, evaluator: Evaluator, at: number): RunState {
  const { strategy } = run;
  if (strategy?.name !== 'auto') return run;
  const { name, reason } = route(factsFor(request, run, evaluator, at));
  // That it is `react` has a reason too, so it stands there.
  return { ...run, strategy: { ...strategy, name, reason } };
}

/** What the choice goes by. */
export interface RouteFacts {
  /** Strategies that may be chosen and that the run can begin with, in this order. */
  readonly possible: readonly StrategyName[];
  readonly question: string;
  /** Whether the request says itself what is called: by its tool_choice, or by offering nothing. */
  readonly isSettled: boolean;
  /** Whether a tool that changes something is in reach. */
  readonly changes: boolean;
  /** Whether a state has to be left to reach some of the tools. */
  readonly hasStates: boolean;
  /** Steps that the request brought along, and those of them that gave nothing much. */
  readonly brought: number;
  readonly weak: number;
}

interface Route {
  readonly name: StrategyName;
  readonly reason: string;
}

/** The first rule that holds, and whose strategy is possible. docs/strategies.md has them. */
export function route(facts: RouteFacts): Route {
  const { possible, brought, weak } = facts;
  const parts = partsOf(facts.question);
  const several = `The question has ${parts} parts`;
  const rules: readonly (readonly [boolean, StrategyName, string])[] = [
    [facts.isSettled, 'react', 'The request says itself what is called.'],
    [asksForCertainty(facts.question), 'confidence', 'The question asks how sure the answer is.'],
    [weak * 2 >= brought && brought > 1, 'confidence', `${weak} of ${brought} steps before gave little or nothing.`],
    [parts > 1 && facts.changes, 'plan', `${several}, and a tool that changes something is in reach.`],
    [parts > 1 && facts.hasStates, 'plan', `${several}, and some tools are only reached through other states.`],
    [parts > 1, 'confidence', `${several}, and all tools in reach only read.`],
    [parts > 1, 'plan', `${several}.`],
    [true, 'react', 'The question has one part.'],
  ];
  for (const [holds, name, reason] of rules) if (holds && possible.includes(name)) return { name, reason };
  const [first = 'react'] = possible;
  return { name: first, reason: `No rule chooses another one, and ${first} is possible.` };
}

function factsFor(request: AgentRequest, run: RunState, evaluator: Evaluator, at: number): RouteFacts {
  // What takes plans is offered to runs that work by one alone.
  const planned = { ...run, strategy: strategyRecord('plan', run.strategy?.brought ?? 0) };
  const { offered } = decideTools({ request, run: planned }, evaluator, at).decision;
  const isPlannable = plannerAmong(offered, evaluator) !== null;
  const others = offered.filter(({ plan }) => plan === undefined);
  const within = isPlannable ? toolsWithinReach({ request, run: planned, at }, evaluator) : others;
  const state = normaliseState(request.state);
  const allowed = allowedByAuto(evaluator.configuration);
  const possible = allowed.filter((name) => !isPlanned(name) || isPlannable);
  return {
    // Where none is possible the run ends, and says what it lacks.
    possible: possible.length > 0 ? possible : allowed,
    question: request.question,
    isSettled: others.length === 0 || toolChoiceOf(request.toolChoice || null).type !== 'auto',
    changes: within.some(({ spec }) => spec !== null && spec.effect !== 'read_only'),
    hasStates: within.length > others.length && others.some((tool) => transition(tool, state) !== state),
    brought: request.history.length,
    weak: request.history.filter((step) => isWeak(step, evaluator.tool(step.action))).length,
  };
}

/** Strategies that `auto` may choose, in the order in which the configuration’s list of all has them. */
function allowedByAuto({ strategy }: Pick<Configuration, 'strategy'>): readonly StrategyName[] {
  return strategy?.auto ?? ['react', 'plan', 'confidence'];
}

/** Below it a result counts as weak. */
const weakBelow = 0.5;

function isWeak(step: Step, tool: ConfiguredTool | undefined): boolean {
  return scoreStep(step, tool).formula < weakBelow;
}

/** Words that begin another request within a sentence. */
const verbs =
  'what|which|who|where|when|how|why|is|are|does|do|list|find|look|read|get|show|give|tell|say|update|add|delete|remove|reset|compare|write|create|send|summari[sz]e|translate';

const separator = new RegExp(`[.?!;]+(?:\\s+|$)|,?\\s+(?:and\\s+)?then\\s+|,?\\s+and\\s+(?=(?:${verbs})\\b)|\\n+`, 'i');

/** Things that a question asks for, by its sentences and joining words. */
export function partsOf(question: string): number {
  return question.split(separator).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;
}

const certainty =
  /\b(?:how (?:sure|certain|confident|reliable)|confidence|certainty|double-?check|verif(?:y|ied)|cross-?check|make sure)\b/i;

function asksForCertainty(question: string): boolean {
  return certainty.test(question);
}
