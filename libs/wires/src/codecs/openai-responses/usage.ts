import { type JsonObject } from '@sluice/core';
import { type Writable } from '../../json/json-text.js';
import { object, tokens } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import type { Usage } from '../../types.js';

export function usageOf(usage: JsonObject | undefined, builder: TurnBuilder): Usage {
  const { notes } = builder;
  if (usage === undefined) return builder.usage;
  return {
    inputTokens: tokens(usage, 'input_tokens', notes),
    outputTokens: tokens(usage, 'output_tokens', notes),
    cachedInputTokens: tokens(object(usage, 'input_tokens_details', 'usage'), 'cached_tokens', notes),
    cacheWriteTokens: 0,
    reasoningTokens: tokens(object(usage, 'output_tokens_details', 'usage'), 'reasoning_tokens', notes),
  };
}

export function usageIn(usage: Usage): Writable {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
