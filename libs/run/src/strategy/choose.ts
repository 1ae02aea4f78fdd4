import { isPlanned } from '@sluice/core';
import type { Configuration, Decision, Evaluator, RunState } from '@sluice/core';
import type { AgentRequest, RunStrategy } from '@sluice/contracts';
import { plannerAmong } from './progress.js';

/**
 * The strategy of a run as its records have it: null for `react`. `brought` is how many steps the request brought
 * along.
 */
export function strategyRecord(name: string, brought: number, reason = ''): RunStrategy | null {
  return name === 'react' ? null : { name, reason, brought };
}

/** The strategy of a request’s run: its own choice, where it has one, else the configuration’s. */
export function strategyFor(
  { strategy: asked, call, history }: Pick<AgentRequest, 'strategy' | 'call' | 'history'>,
  { strategy }: Pick<Configuration, 'strategy'>,
): RunStrategy | null {
  if (call !== null) return null;
  return strategyRecord(asked || (strategy?.byDefault ?? 'react'), history.length);
}

/** Why a request’s choice of a strategy cannot be had, as a sentence that says what to write; null if it can. */
export function strategyRefused(
  { strategy: asked }: Pick<AgentRequest, 'strategy'>,
  { strategy }: Pick<Configuration, 'strategy'>,
): string | null {
  const allowed = new Set<string>([strategy?.byDefault ?? 'react', ...(strategy?.forRequests ?? [])]);
  if (!asked || allowed.has(asked)) return null;
  const names = `Requests may choose: ${[...allowed].join(', ')}.`;
  return `The strategy \`${asked.slice(0, 64)}\` is not one that a request may choose. Leave strategy out. ${names}`;
}

/** Why a run cannot begin by its strategy, as a sentence; null if it can. */
export function cannotBegin(
  { strategy }: Pick<RunState, 'strategy'>,
  { offered }: Pick<Decision, 'offered'>,
  toolChoice: string | null,
  evaluator: Evaluator,
): string | null {
  if (strategy === null || !isPlanned(strategy.name) || offered.length === 0) return null;
  const planner = plannerAmong(offered, evaluator);
  if (planner === null)
    return `The run works by a plan (${strategy.name}), and no tool that takes one is offered for these groups in this state. Ask for a group and a state that have one.`;
  if (toolChoice === null || toolChoice === 'none' || toolChoice === 'required' || toolChoice === planner.id)
    return null;
  return `tool_choice names a tool, and the run works by a plan (${strategy.name}), which says what is called. Leave one of the two out.`;
}
