import type { Kinds } from './kinds.js';

/** The buckets that OpenTelemetry's conventions for generative AI advise. */
const turnSeconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/**
 * What models do, under the names that OpenTelemetry's conventions for generative AI give it, written as Prometheus
 * writes names.
 */
export function modelMetrics({ counter, histogram }: Kinds) {
  return {
    modelTurns: histogram(
      'gen_ai_client_operation_duration_seconds',
      'Time a model took for a turn of the agent or a text of text-completion; those that failed have the fault code as error_type.',
      turnSeconds,
      'gen_ai_operation_name',
      'gen_ai_provider_name',
      'gen_ai_request_model',
      'error_type',
    ),
    modelTokens: histogram(
      'gen_ai_client_token_usage',
      'Tokens of a turn or a text by type: input, output and, where the provider has a cache, input_cached (read of it) and input_cache_write, which are part of input.',
      tokens,
      'gen_ai_operation_name',
      'gen_ai_provider_name',
      'gen_ai_request_model',
      'gen_ai_token_type',
    ),
    modelsPassedOver: counter(
      'sluice_models_passed_over_total',
      'Turns or texts for which the next model of the list was asked, by the model that was out of reach or had no capacity.',
      'gen_ai_provider_name',
      'gen_ai_request_model',
    ),
    modelsLeftOut: counter(
      'sluice_models_left_out_total',
      'Turns or texts for which a model of the list was not asked, since it had just failed: it is asked again after 30 seconds.',
      'gen_ai_provider_name',
      'gen_ai_request_model',
    ),
    modelCost: counter(
      'sluice_model_cost_total',
      'Cost of the tokens by the configured price, in its currency.',
      'gen_ai_request_model',
    ),
    budgetRefusals: counter(
      'sluice_model_budget_refusals_total',
      'Model calls that were not made since a budget with a span had no room for them, by whose calls the budget counts and by unit, tokens or usd.',
      'per',
      'unit',
    ),
    promptTokens: counter(
      'sluice_prompt_tokens_total',
      'Tokens of requests to the agent’s model by part: definitions of tools, results of calls, and other; counted here, not by the provider.',
      'gen_ai_request_model',
      'part',
    ),
  };
}
