import { costOf, modelName, runCost, tokenSum } from '@sluice/core';
import type { ModelSettings, OtherModels, RunState, TurnTokens } from '@sluice/core';

/**
 * A turn’s tokens and their price, where a model took it that the run does not ask first; null where the first did,
 * and where the other has no price: then they count at that of the first.
 */
export function othersOfTurn(
  turn: TurnTokens,
  name: string | null,
  models: readonly [ModelSettings, ...ModelSettings[]],
): OtherModels | null {
  const by = models.find((one) => modelName(one) === name);
  if (by?.price === undefined || by === models[0]) return null;
  return { ...tokenSum({ inputTokens: 0, outputTokens: 0 }, turn), microUsd: costOf(turn, by.price) };
}

/**
 * What an agent’s run that has ended adds to those of the run that called it: `own` is the model that it asks first,
 * and `first` the one of the calling run. Tokens of a cache are no part of it: the calling run counts none of its
 * agents.
 */
export function othersOfAgent(
  run: Pick<RunState, 'inputTokens' | 'outputTokens' | 'otherModels'>,
  own: ModelSettings,
  first: ModelSettings,
): OtherModels | null {
  const { inputTokens, outputTokens, otherModels } = run;
  const cache = { cachedInputTokens: 0, cacheWriteTokens: 0 };
  if (own === first || own.price === undefined) return otherModels === null ? null : { ...otherModels, ...cache };
  if (inputTokens + outputTokens === 0) return null;
  return { inputTokens, outputTokens, ...cache, microUsd: runCost(run, own.price) };
}
