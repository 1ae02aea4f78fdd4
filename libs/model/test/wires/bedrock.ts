import { crc32 } from 'node:zlib';
import type { Script, Wire } from './wire.js';

/** Amazon's binary event stream: lengths, checksum, headers, JSON payload, checksum. */
export const bedrock: Wire = {
  settings: { provider: 'bedrock', name: 'anthropic.claude-test-v1:0', region: 'eu-central-1' },
  contentType: 'application/vnd.amazon.eventstream',
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
    const textAt = thinking.length > 0 ? 1 : 0;
    const first = textAt + (text.length > 0 ? 1 : 0);
    const block = (contentBlockIndex: number, deltas: readonly object[]) =>
      deltas.length === 0
        ? []
        : [
            ...deltas.map((delta) => frame('contentBlockDelta', { contentBlockIndex, delta })),
            frame('contentBlockStop', { contentBlockIndex }),
          ];
    return [
      frame('messageStart', { role: 'assistant' }),
      ...block(
        0,
        thinking.length === 0
          ? []
          : [
              ...thinking.map((piece) => ({ reasoningContent: { text: piece } })),
              { reasoningContent: { signature: 'signed' } },
            ],
      ),
      ...block(
        textAt,
        text.map((piece) => ({ text: piece })),
      ),
      ...calls.flatMap(({ id = '', tool, pieces }, index) => {
        const contentBlockIndex = first + index;
        const complete = finish !== 'length' || index < calls.length - 1;
        return [
          frame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: id, name: tool } } }),
          ...pieces.map((input) => frame('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input } } })),
          ...(complete ? [frame('contentBlockStop', { contentBlockIndex })] : []),
        ];
      }),
      frame('messageStop', {
        stopReason:
          finishAs ??
          { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', filtered: 'guardrail_intervened' }[finish],
      }),
      frame('metadata', {
        usage: {
          inputTokens: inputTokens - (cached === undefined ? 0 : cached.read + cached.written),
          outputTokens,
          totalTokens: inputTokens + outputTokens,
          ...(cached === undefined ? {} : { cacheReadInputTokens: cached.read, cacheWriteInputTokens: cached.written }),
        },
        metrics: { latencyMs: 1 },
      }),
    ];
  },
  error: (message) => ({ message, type: 'SomeException' }),
  streamError: frame('throttlingException', { message: 'overloaded' }, 'exception'),
};

export function frame(type: string, payload: unknown, kind: 'event' | 'exception' = 'event'): Buffer {
  const headers = Buffer.concat([
    header(`:${kind}-type`, type),
    header(':content-type', 'application/json'),
    header(':message-type', kind),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(12 + headers.length + body.length + 4, 0);
  lengths.writeUInt32BE(headers.length, 4);
  const head = Buffer.concat([lengths, checksum(lengths), headers, body]);
  return Buffer.concat([head, checksum(head)]);
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  const textType = Buffer.from([7]);
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    textType,
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
