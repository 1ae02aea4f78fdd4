import { bytesPerToken, Fault, historyBytes, memoryBytes, modelInputs, runBudgetEnd, utf8Length } from '@sluice/core';
import type { Configuration, Evaluator, ModelRequest, RunEnd } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import { modelsOfRun } from './agent-runs.js';
import { contentTokens } from './given/tokens.js';
import { definitionBytes } from './definition-bytes.js';
import { directTurn } from './direct-call.js';
import { modelRequestOf } from './model-request.js';
import type { Move } from './strategy/move.js';
import { nextMove } from './strategy/next-move.js';

/**
 * Why the run may not begin this turn, or null if it may: all that its model would be sent is more than what is left
 * of its tokens or money. Where discovery will choose among the tools, the smallest that it may show are set aside. A
 * turn without a model needs nothing.
 */
export function turnBudgetEnd(toolset: Toolset, evaluator: Evaluator): RunEnd | null {
  const { run, request } = toolset;
  const { policy } = evaluator.configuration;
  const [model] = modelsOfRun(run, evaluator);
  // The model of rules reads no tokens.
  const isFree = model.provider === 'rules' || directTurn(toolset, evaluator) !== null;
  if (policy.budgets.setsAsideAll !== true || isFree) return null;
  const move = nextMove(toolset, evaluator);
  if (move.kind === 'call') return null;
  const modelRequest = requestOf(toolset, evaluator, move);
  if (modelRequest === null) return null;
  // A model that a later version knows to read images must not change what a replay finds, so this one counts as such.
  const bytes =
    historyBytes(request.history) +
    memoryBytes(run) +
    fixedBytes(modelRequest, evaluator.configuration) +
    contentTokens(modelRequest, { ...model, inputs: model.inputs ?? modelInputs }) * bytesPerToken;
  return runBudgetEnd(run, model.price, bytes, { ...policy.budgets, maxOutputTokens: model.maxOutputTokens });
}

/** A tool whose schema is none is for the agent to refuse. */
function requestOf(toolset: Toolset, evaluator: Evaluator, move: Move): ModelRequest | null {
  try {
    return modelRequestOf(toolset, evaluator, null, move).request;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Bytes of what each turn sends again: instructions, question, conversation and definitions. */
function fixedBytes(
  { instructions, question, tools, conversation = [] }: ModelRequest,
  { agentDiscovery }: Configuration,
): number {
  const sizes = tools.map(definitionBytes).sort((one, other) => one - other);
  const shown = agentDiscovery === undefined ? sizes : sizes.slice(0, agentDiscovery.maxTools);
  const said = conversation.reduce((sum, { text }) => sum + utf8Length(text), 0);
  return utf8Length(instructions) + utf8Length(question) + said + shown.reduce((sum, size) => sum + size, 0);
}
