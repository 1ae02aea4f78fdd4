import { configurationKeys } from './keys.js';
import type { NumberRange, Section } from './section.js';
import type { Limits } from './types.js';

/**
 * Defaults and maxima of `limits`. A record on Kafka holds about 1,048,400 bytes, and a turn's record carries the history,
 * the reasons of the decision and the calls: that bounds the history.
 */
export const limitRanges = {
  max_iterations: { byDefault: 10, most: 1_000 },
  run_seconds: { byDefault: 300, most: 86_400 },
  tool_seconds: { byDefault: 30, most: 3_600 },
  model_seconds: { byDefault: 60, most: 3_600 },
  history_bytes: { byDefault: 524_288, most: 786_432 },
  argument_bytes: { byDefault: 8_192, most: 65_536 },
  result_bytes: { byDefault: 32_768, most: 262_144 },
} as const satisfies Record<(typeof configurationKeys.limits)[number], NumberRange>;

export function readLimits(section: Section): Limits {
  section.closed(configurationKeys.limits);
  const read = (key: keyof typeof limitRanges): number => section.wholeNumber(key, limitRanges[key]);
  return {
    maxIterations: read('max_iterations'),
    runMs: read('run_seconds') * 1_000,
    toolMs: read('tool_seconds') * 1_000,
    modelMs: read('model_seconds') * 1_000,
    historyBytes: read('history_bytes'),
    argumentBytes: read('argument_bytes'),
    resultBytes: read('result_bytes'),
  };
}
