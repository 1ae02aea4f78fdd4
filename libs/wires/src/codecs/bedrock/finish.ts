import { type JsonObject } from '@sluice/core';
import { text } from '../../json/read.js';
import type { TurnBuilder } from '../../turn-builder.js';
import { type Finish } from '../../types.js';

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'filtered',
  content_filtered: 'filtered',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
};

export function finish(builder: TurnBuilder, holder: JsonObject): void {
  const reason = text(holder, 'stopReason', '');
  if (reason === undefined) return;
  builder.finishAs = reason;
  builder.finish = finishes[reason] ?? 'other';
}

export const words: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'content_filtered',
  error: 'malformed_model_output',
  other: 'end_turn',
};
