import { describe, expect, it } from '@jest/globals';
import { deserializeMessage, specTypeSchemas } from '@modelcontextprotocol/client';
import { resultIn, valueOf } from '../src/call-result.js';
import { messageIn } from '../src/message.js';

const outcome = <T>(work: () => T): { value: T } | { refused: true } => {
  try {
    return { value: work() };
  } catch {
    return { refused: true };
  }
};

const wellFormed = { jsonrpc: '2.0', id: 1, result: {} };

describe('the message in a line', () => {
  it.each([
    wellFormed,
    { ...wellFormed, id: 'one', result: { content: [{ type: 'text', text: 'ü' }] } },
    { ...wellFormed, result: { _meta: { progressToken: 3 } } },
    { ...wellFormed, result: { _meta: { progressToken: {} } } },
    { ...wellFormed, result: null },
    { ...wellFormed, result: [] },
    { ...wellFormed, result: 'text' },
    { ...wellFormed, id: 1.5 },
    { ...wellFormed, id: 1e300 },
    { ...wellFormed, id: null },
    { ...wellFormed, jsonrpc: '1.0' },
    { ...wellFormed, more: true },
    { ...wellFormed, error: { code: 1, message: 'no' } },
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'no' } },
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
    { jsonrpc: '2.0', method: 7 },
    [wellFormed],
    null,
    7,
  ])('is what the SDK reads, or refused as it refuses it: %j', (message) => {
    const line = JSON.stringify(message);
    expect(outcome(() => messageIn(line))).toEqual(outcome(() => deserializeMessage(line)));
  });
});

describe('the result in an answer', () => {
  const text = { type: 'text', text: 'a' };
  it.each([
    { content: [text] },
    { content: [text, text], isError: true },
    { content: [] },
    { content: [{ ...text, annotations: { priority: 0.5 } }] },
    { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }, text] },
    { content: [text], structuredContent: { a: 1 } },
    { structuredContent: { a: 1 } },
    {},
    { content: [text], structuredContent: 'a' },
    { content: [], structuredContent: null },
    { content: [text], isError: 'yes' },
    { content: [{ type: 'text' }] },
    { content: [{ type: 'text', text: 7 }] },
    { content: [null] },
    { content: 'a' },
    { content: [{ type: 'unheard-of' }] },
    null,
    'a',
  ])('gives the value that the SDK’s schema would let us have, or is refused as there: %j', (answer) => {
    const given = (result: unknown): unknown => outcome(() => valueOf(resultIn(result), null));
    const schema = specTypeSchemas.CallToolResult['~standard'].validate(answer);
    expect(given(answer)).toEqual(
      schema.issues === undefined ? outcome(() => valueOf(schema.value, null)) : { refused: true },
    );
  });

  it('is its text where what is structured is null beside it', () => {
    expect(valueOf(resultIn({ content: [text], structuredContent: null }), null)).toBe('a');
  });
});
