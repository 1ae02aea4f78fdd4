import { serverSentEvent, type Script, type Wire } from './wire.js';

const event = (type: string, rest: object = {}) => serverSentEvent({ type, ...rest }, type);

/** The Messages API as named server-sent events, a content block after the other. */
export const anthropic: Wire = {
  settings: { provider: 'anthropic', name: 'claude-test', apiKeyEnv: 'TEST_KEY' },
  contentType: 'text/event-stream',
  encode({
    thinking = [],
    text = [],
    calls = [],
    finish = calls.length > 0 ? 'calls' : 'stop',
    finishAs,
    inputTokens = 7,
    outputTokens = 5,
    cached,
  }: Script) {
    const usage = {
      input_tokens: inputTokens - (cached === undefined ? 0 : cached.read + cached.written),
      output_tokens: 1,
      ...(cached === undefined
        ? {}
        : { cache_read_input_tokens: cached.read, cache_creation_input_tokens: cached.written }),
    };
    const message = {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const textAt = thinking.length > 0 ? 1 : 0;
    const first = textAt + (text.length > 0 ? 1 : 0);
    const block = (index: number, start: object, deltas: object[], complete = true) => [
      event('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      ...(complete ? [event('content_block_stop', { index })] : []),
    ];
    return [
      event('message_start', { message }),
      event('ping'),
      ...(thinking.length > 0
        ? block(0, { type: 'thinking', thinking: '', signature: '' }, [
            ...thinking.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
            { type: 'signature_delta', signature: 'signed' },
          ])
        : []),
      ...(text.length > 0
        ? block(
            textAt,
            { type: 'text', text: '' },
            text.map((piece) => ({ type: 'text_delta', text: piece })),
          )
        : []),
      ...calls.flatMap(({ id = '', tool, pieces }, index) =>
        block(
          first + index,
          { type: 'tool_use', id, name: tool, input: {} },
          pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
          finish !== 'length' || index < calls.length - 1,
        ),
      ),
      event('message_delta', {
        delta: {
          stop_reason:
            finishAs ?? { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', filtered: 'refusal' }[finish],
          stop_sequence: null,
        },
        usage: { output_tokens: outputTokens },
      }),
      event('message_stop'),
    ];
  },
  error: (message) => ({ type: 'error', error: { type: 'some_error', message } }),
  streamError: event('error', { error: { type: 'overloaded_error', message: 'overloaded' } }),
};
