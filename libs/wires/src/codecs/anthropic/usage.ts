import { type JsonObject } from '@sluice/core';
import { type Writable } from '../../json/json-text.js';
import { tokens } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Usage } from '../../types.js';

export function usageOf(usage: JsonObject | undefined, before: Usage, { notes }: TurnBuilder): Usage {
  if (usage === undefined) return before;
  const has = (name: string): boolean => usage[name] !== undefined && usage[name] !== null;
  const cached = has('cache_read_input_tokens')
    ? tokens(usage, 'cache_read_input_tokens', notes)
    : before.cachedInputTokens;
  const written = has('cache_creation_input_tokens')
    ? tokens(usage, 'cache_creation_input_tokens', notes)
    : before.cacheWriteTokens;
  const fresh = has('input_tokens')
    ? tokens(usage, 'input_tokens', notes)
    : before.inputTokens - before.cachedInputTokens - before.cacheWriteTokens;
  return {
    inputTokens: fresh + cached + written,
    outputTokens: has('output_tokens') ? tokens(usage, 'output_tokens', notes) : before.outputTokens,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: 0,
  };
}

/** What a turn used; `isWhole` adds the members that say nothing here, and that the API’s schema asks for. */
export function usageIn(usage: Usage, isWhole = false): Writable {
  const others = { output_tokens_details: null, inference_geo: null, server_tool_use: null, service_tier: 'standard' };
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    ...(isWhole ? { cache_creation: null, ...others } : {}),
  };
}
