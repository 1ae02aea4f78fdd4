import { type JsonObject } from '@sluice/core';
import { type Writable } from '../../json/json-text.js';
import { object, tokens } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { noUsage, type Usage } from '../../types.js';

export function usageOf(usage: JsonObject | undefined, { notes }: TurnBuilder): Usage {
  if (usage === undefined) return noUsage;
  const details = object(usage, 'prompt_tokens_details', 'usage');
  return {
    inputTokens: tokens(usage, 'prompt_tokens', notes),
    outputTokens: tokens(usage, 'completion_tokens', notes),
    // DeepSeek, OpenRouter and LiteLLM have names of their own.
    cachedInputTokens: tokens(details, 'cached_tokens', notes) || tokens(usage, 'prompt_cache_hit_tokens', notes),
    cacheWriteTokens:
      tokens(details, 'cache_write_tokens', notes) || tokens(usage, 'cache_creation_input_tokens', notes),
    reasoningTokens: tokens(object(usage, 'completion_tokens_details', 'usage'), 'reasoning_tokens', notes),
  };
}

export function usageIn(usage: Usage): Writable {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
