import type { TurnBuilder } from './turn-builder.js';
import type { Finish, WireName } from './types.js';

/**
 * Words that one provider alone has, by whose the parts are. `paused` is said of a turn that its provider goes on
 * with once it is sent back.
 */
const own: Readonly<Partial<Record<WireName, Readonly<Record<string, Finish>>>>> = {
  anthropic: { pause_turn: 'paused' },
  gemini: {
    LANGUAGE: 'filtered',
    IMAGE_PROHIBITED_CONTENT: 'filtered',
    IMAGE_RECITATION: 'filtered',
    MODEL_ARMOR: 'filtered',
    UNEXPECTED_TOOL_CALL: 'error',
    TOO_MANY_TOOL_CALLS: 'error',
    MALFORMED_RESPONSE: 'error',
    MISSING_THOUGHT_SIGNATURE: 'error',
  },
};

/**
 * All other words, in lower case, on any wire: servers that imitate one write words of their own there, and those of
 * the provider behind them.
 */
const shared: Readonly<Record<Exclude<Finish, 'paused' | 'other'>, readonly string[]>> = {
  stop: [
    ...['stop', 'end', 'eos', 'eos_token', 'end_of_turn', 'end_turn', 'stop_sequence', 'stop_token'],
    ...['complete', 'completed', 'done', 'finished'],
  ],
  calls: ['tool_calls', 'tool_call', 'tool_use', 'function_call', 'function_calls'],
  length: [
    ...['length', 'max_tokens', 'max_output_tokens', 'max_length', 'max_new_tokens', 'model_length'],
    ...['model_context_window_exceeded', 'context_length_exceeded'],
  ],
  filtered: [
    ...['content_filter', 'content_filtered', 'safety', 'refusal', 'sensitive', 'recitation', 'blocklist'],
    ...['prohibited_content', 'spii', 'guardrail_intervened', 'image_safety'],
  ],
  error: [
    ...['error', 'failed', 'failure', 'cancelled', 'canceled', 'abort', 'aborted', 'timeout', 'network_error'],
    ...['server_error', 'insufficient_system_resource', 'malformed_model_output', 'malformed_tool_use'],
  ],
};

const ownWords = new Map(Object.entries(own).map(([wire, words]) => [wire, new Map(Object.entries(words))] as const));
const sharedWords = new Map(
  Object.entries(shared).flatMap(([finish, words]) => words.map((word) => [word, finish as Finish] as const)),
);

/** What a wire’s word for the end of a turn means; `other` where it is none that is known. */
export function finishOf(wire: WireName, word: string): Finish {
  return ownWords.get(wire)?.get(word) ?? sharedWords.get(word.trim().toLowerCase()) ?? 'other';
}

/**
 * Takes a provider’s word for the end of the turn. Servers send an empty one with each piece, which says nothing, and
 * a stop behind the end: that does not make a whole turn of one that was cut.
 */
export function endTurn(builder: TurnBuilder, word: string | undefined, meaning?: Finish): void {
  if (word === undefined || word.trim() === '') return;
  const finish = meaning ?? finishOf(builder.wire, word);
  const isCut = builder.finish !== null && builder.finish !== 'stop' && builder.finish !== 'calls';
  if (isCut && (finish === 'stop' || finish === 'calls')) return;
  builder.finishAs = word;
  builder.finish = finish;
}
