import { type JsonObject } from '@sluice/core';
import { type Writable } from '../../json/json-text.js';
import { tokens } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { noUsage, type Usage } from '../../types.js';

export function usageOf(usage: JsonObject | undefined, { notes }: TurnBuilder): Usage {
  if (usage === undefined) return noUsage;
  const cached = tokens(usage, 'cacheReadInputTokens', notes);
  const written = tokens(usage, 'cacheWriteInputTokens', notes);
  return {
    inputTokens: tokens(usage, 'inputTokens', notes) + cached + written,
    outputTokens: tokens(usage, 'outputTokens', notes),
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: 0,
  };
}

export function usageIn(usage: Usage): Writable {
  return {
    inputTokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    outputTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
    cacheReadInputTokens: usage.cachedInputTokens,
    cacheWriteInputTokens: usage.cacheWriteTokens,
  };
}
