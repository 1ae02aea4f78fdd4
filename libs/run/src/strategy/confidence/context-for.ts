import { isConfidence } from '@sluice/core';
import type { Evaluator, ModelRequest } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import type { Move } from '../move.js';
import { contextOf } from './context.js';
import { flowOf, heldStep } from './flow.js';

/**
 * The request with what the model is shown of the past: in a run whose results are measured its own steps alone, as
 * far as their tokens go, and no earlier runs; else all.
 */
export function inContext(request: ModelRequest, move: Move, toolset: Toolset, evaluator: Evaluator): ModelRequest {
  const { strategy } = toolset.run;
  if (move.kind !== 'ask' || strategy === null || !isConfidence(strategy.name)) return request;
  const flow = flowOf(toolset, evaluator);
  const after = heldStep(flow)?.after ?? [];
  const needed = new Set(after.flatMap((number) => flow.results[number - 1]?.toolCallId ?? []));
  const { earlier: _, ...own } = request;
  const tokens = flow.settings.contextTokens;
  return { ...own, history: contextOf(request.history, { brought: strategy.brought, tokens, needed }) };
}
