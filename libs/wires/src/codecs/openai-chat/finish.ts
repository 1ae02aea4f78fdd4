import { type JsonObject } from '@sluice/core';
import { text } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Finish } from '../../types.js';

const finishes: Readonly<Record<string, Finish>> = {
  stop: 'stop',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  content_filter: 'filtered',
  error: 'error',
};

export function finish(builder: TurnBuilder, choice: JsonObject, at: string): void {
  const reason = text(choice, 'finish_reason', at);
  if (reason === undefined) return;
  builder.finishAs = reason;
  builder.finish = finishes[reason] ?? 'other';
}

export const words: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filtered: 'content_filter',
  error: 'error',
  other: 'stop',
};
