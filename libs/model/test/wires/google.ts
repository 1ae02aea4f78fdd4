import { argumentsOf, serverSentEvent, type Script, type Wire } from './wire.js';

/**
 * Gemini's streamGenerateContent as server-sent events; a call comes whole, its arguments as an object, its id only
 * perhaps.
 */
export const google: Wire = {
  settings: { provider: 'google', name: 'gemini-test', apiKeyEnv: 'TEST_KEY' },
  contentType: 'text/event-stream',
  encode({
    thinking = [],
    text = [],
    calls = [],
    finish = 'stop',
    finishAs,
    inputTokens = 7,
    outputTokens = 5,
    signature,
    cached,
  }: Script) {
    // A call that the limit cut off never leaves Gemini.
    const sent = finish === 'length' ? calls.slice(0, -1) : calls;
    const parts = [
      ...thinking.map((piece) => ({ text: piece, thought: true })),
      ...text.map((piece) => ({ text: piece })),
      ...sent.map(({ id, tool, pieces }) => ({
        functionCall: { ...(id === undefined ? {} : { id }), name: tool, args: argumentsOf(pieces) },
        ...(signature === undefined ? {} : { thoughtSignature: signature }),
      })),
    ];
    return [
      ...parts.map((part) =>
        serverSentEvent({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] }),
      ),
      serverSentEvent({
        candidates: [
          {
            content: { role: 'model', parts: [] },
            finishReason: finishAs ?? { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', filtered: 'SAFETY' }[finish],
            index: 0,
          },
        ],
        usageMetadata: {
          promptTokenCount: inputTokens,
          candidatesTokenCount: outputTokens,
          ...(cached === undefined ? {} : { cachedContentTokenCount: cached.read }),
          totalTokenCount: inputTokens + outputTokens,
        },
      }),
    ];
  },
  error: (message) => ({ error: { code: 400, message, status: 'SOME_ERROR' } }),
  streamError: serverSentEvent({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }),
};
