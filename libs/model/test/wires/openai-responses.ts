import { serverSentEvent, type Script, type Wire } from './wire.js';

/**
 * The Responses API as named server-sent events, an item after the other; the argument pieces of several calls come
 * interleaved.
 */
export const openaiResponses: Wire = {
  settings: { provider: 'openai-responses', name: 'gpt-test', apiKeyEnv: 'TEST_KEY' },
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
    let sequence_number = 0;
    const event = (type: string, rest: object) =>
      serverSentEvent({ type, sequence_number: sequence_number++, ...rest }, type);
    const textAt = thinking.length > 0 ? 1 : 0;
    const first = textAt + (text.length > 0 ? 1 : 0);
    const added = (output_index: number, item: object) => event('response.output_item.added', { output_index, item });
    const done = (output_index: number, item: object) => event('response.output_item.done', { output_index, item });
    const callItem = (index: number, written: string) => ({
      id: `fc_${String(index)}`,
      type: 'function_call',
      status: written === '' ? 'in_progress' : 'completed',
      arguments: written,
      call_id: calls[index]?.id ?? '',
      name: calls[index]?.tool ?? '',
    });
    const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' };
    const summary = [{ type: 'summary_text', text: thinking.join('') }];
    const longest = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
    const isStatus = finishAs === 'cancelled' || finishAs === 'completed' || finishAs === 'incomplete';
    const cut = { stop: undefined, calls: undefined, length: 'max_output_tokens', filtered: 'content_filter' }[finish];
    const reason = isStatus ? undefined : (finishAs ?? cut);
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: isStatus ? finishAs : reason === undefined ? 'completed' : 'incomplete',
      error: null,
      incomplete_details: reason === undefined ? null : { reason },
      model: 'gpt-test',
      output: [],
      usage: {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
        ...(cached === undefined ? {} : { input_tokens_details: { cached_tokens: cached.read } }),
      },
    };
    return [
      event('response.created', { response: { ...response, status: 'in_progress', usage: null } }),
      ...(thinking.length > 0
        ? [
            added(0, { id: 'rs_1', type: 'reasoning', summary: [] }),
            ...thinking.map((delta) =>
              event('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta }),
            ),
            done(0, { id: 'rs_1', type: 'reasoning', summary, encrypted_content: 'secret' }),
          ]
        : []),
      ...(text.length > 0
        ? [
            added(textAt, { ...message, status: 'in_progress', content: [] }),
            ...text.map((delta) =>
              event('response.output_text.delta', { output_index: textAt, content_index: 0, delta }),
            ),
            done(textAt, { ...message, content: [{ type: 'output_text', text: text.join(''), annotations: [] }] }),
          ]
        : []),
      ...calls.map((_, index) => added(first + index, callItem(index, ''))),
      ...Array.from({ length: longest }, (_, at) =>
        calls.flatMap(({ pieces }, index) =>
          pieces[at] === undefined
            ? []
            : [event('response.function_call_arguments.delta', { output_index: first + index, delta: pieces[at] })],
        ),
      ).flat(),
      ...calls.map(({ pieces }, index) => done(first + index, callItem(index, pieces.join('')))),
      event(`response.${response.status}`, { response }),
    ];
  },
  error: (message) => ({ error: { message, type: 'some_error', code: 'some_code', param: null } }),
  streamError: serverSentEvent({ type: 'error', code: 'server_error', message: 'overloaded', param: null }, 'error'),
};
