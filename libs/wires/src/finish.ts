import type { TurnBuilder } from './turn-builder.js';
import type { Finish, WireName } from './types.js';

/**
 * What each provider’s words for the end of a turn mean, by whose the parts are. `paused` is said of a turn that its provider goes on with
 * once it is sent back.
 */
const own: Readonly<Partial<Record<WireName, Readonly<Record<string, Finish>>>>> = {
  'openai-chat': {
    stop: 'stop',
    tool_calls: 'calls',
    function_call: 'calls',
    length: 'length',
    content_filter: 'filtered',
  },
  'openai-responses': {
    completed: 'stop',
    max_output_tokens: 'length',
    content_filter: 'filtered',
    cancelled: 'error',
    failed: 'error',
  },
  anthropic: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'filtered',
    pause_turn: 'paused',
  },
  gemini: {
    STOP: 'stop',
    MAX_TOKENS: 'length',
    SAFETY: 'filtered',
    RECITATION: 'filtered',
    LANGUAGE: 'filtered',
    BLOCKLIST: 'filtered',
    PROHIBITED_CONTENT: 'filtered',
    SPII: 'filtered',
    IMAGE_SAFETY: 'filtered',
    IMAGE_PROHIBITED_CONTENT: 'filtered',
    IMAGE_RECITATION: 'filtered',
    MODEL_ARMOR: 'filtered',
    UNEXPECTED_TOOL_CALL: 'error',
    TOO_MANY_TOOL_CALLS: 'error',
    MALFORMED_RESPONSE: 'error',
    MISSING_THOUGHT_SIGNATURE: 'error',
  },
  bedrock: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    guardrail_intervened: 'filtered',
    content_filtered: 'filtered',
    malformed_model_output: 'error',
    malformed_tool_use: 'error',
  },
};

/** What servers that imitate a wire write there: words of their own, and those of the provider behind them. In lower case. */
const synonyms: Readonly<Record<Exclude<Finish, 'paused' | 'other'>, readonly string[]>> = {
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
  Object.entries(synonyms).flatMap(([finish, words]) => words.map((word) => [word, finish as Finish] as const)),
);

/** What a wire’s word for the end of a turn means; `other` where it is none that is known. */
export function finishOf(wire: WireName, word: string): Finish {
  return ownWords.get(wire)?.get(word) ?? sharedWords.get(word.trim().toLowerCase()) ?? 'other';
}

/**
 * Takes a provider’s word for the end of the turn. Servers send an empty one with each piece, which says nothing, and a stop behind the end:
 * that does not make a whole turn of one that was cut.
 */
export function endTurn(builder: TurnBuilder, word: string | undefined, meaning?: Finish): void {
  if (word === undefined || word.trim() === '') return;
  const finish = meaning ?? finishOf(builder.wire, word);
  const isCut = builder.finish !== null && builder.finish !== 'stop' && builder.finish !== 'calls';
  if (isCut && (finish === 'stop' || finish === 'calls')) return;
  builder.finishAs = word;
  builder.finish = finish;
}
