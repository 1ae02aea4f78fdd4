import { type JsonObject } from '@sluice/core';
import { type Writable } from '../../json/json-text.js';
import { tokens } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import type { Usage } from '../../types.js';

export function usageOf(usage: JsonObject, { notes }: TurnBuilder): Usage {
  const reasoning = tokens(usage, 'thoughtsTokenCount', notes);
  return {
    inputTokens: tokens(usage, 'promptTokenCount', notes) + tokens(usage, 'toolUsePromptTokenCount', notes),
    outputTokens: tokens(usage, 'candidatesTokenCount', notes) + reasoning,
    cachedInputTokens: tokens(usage, 'cachedContentTokenCount', notes),
    cacheWriteTokens: 0,
    reasoningTokens: reasoning,
  };
}

export function usageIn(usage: Usage): Writable {
  return {
    promptTokenCount: usage.inputTokens,
    candidatesTokenCount: Math.max(0, usage.outputTokens - usage.reasoningTokens),
    thoughtsTokenCount: usage.reasoningTokens,
    cachedContentTokenCount: usage.cachedInputTokens,
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
}
