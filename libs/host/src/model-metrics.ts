import { costOf, Fault, modelProviderEntry } from '@sluice/core';
import type { ModelSettings, ModelTurn } from '@sluice/core';
import type { TurnModel } from '@sluice/contracts';
import type { BudgetRefusal } from '@sluice/run';
import type { Metrics } from './metrics.js';

function labels({ provider, name }: ModelSettings) {
  return {
    gen_ai_operation_name: 'chat',
    gen_ai_provider_name: modelProviderEntry(provider).telemetryName,
    gen_ai_request_model: name ?? provider,
  };
}

/** A turn that came: what it took, and what it cost where a price is configured. */
export function measureTurn(turn: ModelTurn, seconds: number, model: ModelSettings, metrics: Metrics): void {
  const named = labels(model);
  metrics.modelTurns.observe(named, seconds);
  metrics.modelTokens.observe({ ...named, gen_ai_token_type: 'input' }, turn.inputTokens);
  metrics.modelTokens.observe({ ...named, gen_ai_token_type: 'output' }, turn.outputTokens);
  const { cachedInputTokens, cacheWriteTokens } = turn;
  if (cachedInputTokens !== undefined)
    metrics.modelTokens.observe({ ...named, gen_ai_token_type: 'input_cached' }, cachedInputTokens);
  if (cacheWriteTokens !== undefined)
    metrics.modelTokens.observe({ ...named, gen_ai_token_type: 'input_cache_write' }, cacheWriteTokens);
  const { gen_ai_request_model } = named;
  if (model.price !== undefined) metrics.modelCost.inc({ gen_ai_request_model }, costOf(turn, model.price) / 1_000_000);
}

/** What a turn’s request was made of. */
export function measurePrompt(
  counted: Pick<TurnModel, 'definitionTokens' | 'resultTokens' | 'otherTokens'>,
  model: ModelSettings,
  { promptTokens }: Metrics,
): void {
  const { gen_ai_request_model } = labels(model);
  const { definitionTokens, resultTokens, otherTokens } = counted;
  promptTokens.inc({ gen_ai_request_model, part: 'definitions' }, definitionTokens ?? 0);
  promptTokens.inc({ gen_ai_request_model, part: 'results' }, resultTokens ?? 0);
  promptTokens.inc({ gen_ai_request_model, part: 'other' }, otherTokens ?? 0);
}

/** A turn that did not come. Each attempt counts, since each is one to the provider. */
export function measureFailure(error: unknown, seconds: number, model: ModelSettings, metrics: Metrics): void {
  const error_type = error instanceof Fault ? error.code : 'unexpected';
  metrics.modelTurns.observe({ ...labels(model), error_type }, seconds);
}

/** A model that was asked and gave no turn, so that the next one was. */
export function measureSkippedModels(model: ModelSettings, metrics: Metrics): void {
  const { gen_ai_provider_name, gen_ai_request_model } = labels(model);
  metrics.modelsPassedOver.inc({ gen_ai_provider_name, gen_ai_request_model });
}

/** A model that was not asked, since it had just failed. */
export function measureLeftOut(model: ModelSettings, metrics: Metrics): void {
  const { gen_ai_provider_name, gen_ai_request_model } = labels(model);
  metrics.modelsLeftOut.inc({ gen_ai_provider_name, gen_ai_request_model });
}

/** A model call for which a budget with a span had no room. */
export function measureBudgetRefusal({ budgets, limit }: BudgetRefusal, { budgetRefusals }: Metrics): void {
  const { per = '', unit = '' } = budgets[limit] ?? {};
  budgetRefusals.inc({ per, unit });
}
