import type { ConfidenceSettings } from './agent-types.js';

/** Of `tool.<tool>.plan.confidence`. */
export const confidenceRanges = {
  threshold: { byDefault: 0.6, least: 0, most: 1 },
  retries: { byDefault: 1, least: 0, most: 5 },
  timeout_seconds: { byDefault: 1, least: 1, most: 3_600 },
  context_tokens: { byDefault: 16_000, least: 500, most: 1_000_000 },
} as const;

/** What holds where a file says nothing of it. */
export const defaultConfidence: ConfidenceSettings = Object.freeze({
  threshold: confidenceRanges.threshold.byDefault,
  retries: confidenceRanges.retries.byDefault,
  timeoutMs: null,
  simplify: true,
  judge: 'formula',
  override: 'model',
  contextTokens: confidenceRanges.context_tokens.byDefault,
});
