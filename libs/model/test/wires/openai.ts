import { serverSentEvent, type Script, type Wire } from './wire.js';

const chunk = (rest: object) =>
  serverSentEvent({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...rest });
const delta = (value: object, finish: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: value, finish_reason: finish }] });

/** Chat Completions as server-sent events; the argument pieces of several calls come interleaved. */
export const openai: Wire = {
  settings: { provider: 'openai-compatible', name: 'gpt-test', apiKeyEnv: 'TEST_KEY' },
  contentType: 'text/event-stream',
  encode({
    thinking = [],
    text = [],
    calls = [],
    finish = calls.length > 0 ? 'calls' : 'stop',
    finishAs,
    inputTokens = 7,
    outputTokens = 5,
    signature,
    cached,
  }: Script) {
    const opened = calls.map(({ id, tool }, index) =>
      delta({
        tool_calls: [
          {
            ...{
              index,
              ...(id === undefined ? {} : { id }),
              type: 'function',
              function: { name: tool, arguments: '' },
            },
            ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
          },
        ],
      }),
    );
    const longest = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
    const interleaved = Array.from({ length: longest }, (_, at) =>
      calls.flatMap(({ pieces }, index) =>
        pieces[at] === undefined ? [] : [delta({ tool_calls: [{ index, function: { arguments: pieces[at] } }] })],
      ),
    ).flat();
    return [
      delta({ role: 'assistant', content: '' }),
      ...thinking.map((piece) => delta({ reasoning_content: piece })),
      ...text.map((content) => delta({ content })),
      ...opened,
      ...interleaved,
      delta(
        {},
        finishAs ?? { stop: 'stop', calls: 'tool_calls', length: 'length', filtered: 'content_filter' }[finish],
      ),
      chunk({
        choices: [],
        usage: {
          prompt_tokens: inputTokens,
          completion_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
          ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached.read } }),
        },
      }),
      serverSentEvent('[DONE]'),
    ];
  },
  error: (message) => ({ error: { message, type: 'some_error', code: 'some_code', param: null } }),
  streamError: serverSentEvent({ error: { message: 'overloaded', type: 'server_error', code: null, param: null } }),
};
