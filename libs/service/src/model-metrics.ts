import { Fault } from '@sluice/core';
import type { ModelPrice, ModelSettings, ModelTurn } from '@sluice/core';
import type { Metrics } from './metrics.js';
import { providerNames } from './traces/spans.js';

function labels({ provider, name }: ModelSettings) {
  return {
    gen_ai_operation_name: 'chat',
    gen_ai_provider_name: providerNames[provider],
    gen_ai_request_model: name ?? provider,
  };
}

/** A turn that came: what it took, and what it cost where a price is configured. */
export function measureTurn(turn: ModelTurn, seconds: number, model: ModelSettings, metrics: Metrics): void {
  const named = labels(model);
  metrics.modelTurns.observe(named, seconds);
  metrics.modelTokens.observe({ ...named, gen_ai_token_type: 'input' }, turn.inputTokens);
  metrics.modelTokens.observe({ ...named, gen_ai_token_type: 'output' }, turn.outputTokens);
  const { gen_ai_request_model } = named;
  if (model.price !== undefined) metrics.modelCost.inc({ gen_ai_request_model }, costOf(turn, model.price));
}

/** A turn that did not come. Each attempt counts, since each is one to the provider. */
export function measureFailure(error: unknown, seconds: number, model: ModelSettings, metrics: Metrics): void {
  const error_type = error instanceof Fault ? error.code : 'unexpected';
  metrics.modelTurns.observe({ ...labels(model), error_type }, seconds);
}

function costOf({ inputTokens, outputTokens }: ModelTurn, { input, output }: ModelPrice): number {
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}
