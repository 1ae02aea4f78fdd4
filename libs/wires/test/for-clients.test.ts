import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { encodeStream, encodeTurn, noUsage, type TurnPart } from '@sluice/wires';

const parts: readonly TurnPart[] = [
  { type: 'reasoning', text: 'First. ' },
  { type: 'text', text: 'Half' },
  { type: 'reasoning', text: 'Then.' },
  { type: 'text', text: ' done.' },
];
const head = { id: 'i', model: 'm', createdAtMs: 1_000 };

function streamOf(wire: 'openai-chat' | 'openai-responses'): Uint8Array {
  const encoder = encodeStream(wire, { ...head, beside: { metadata: { run: 'r' } } });
  return Buffer.concat([encoder.start(), ...parts.map((part) => encoder.part(part)), encoder.end('stop', noUsage)]);
}

const clientOf = (bytes: Uint8Array) =>
  new OpenAI({
    apiKey: 'k',
    baseURL: 'http://127.0.0.1:1',
    fetch: () =>
      Promise.resolve(new Response(Buffer.from(bytes), { headers: { 'content-type': 'text/event-stream' } })),
  });

describe('what the encoders write for clients', () => {
  it('lets the SDK of OpenAI read thoughts in a stream of Responses', async () => {
    const stream = clientOf(streamOf('openai-responses')).responses.stream({ model: 'm', input: 'i' });
    const { output, output_text: text, metadata } = await stream.finalResponse();
    expect(text).toBe('Half done.');
    expect(metadata).toEqual({ run: 'r' });
    const thoughts = output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map((one) => one.text) : []));
    expect(thoughts).toEqual(['First. ', 'Then.']);
  });

  it('keeps every thought of a turn in Chat Completions, whole and streamed', async () => {
    const { body } = encodeTurn('openai-chat', { ...head, parts, finish: 'stop', usage: noUsage }, 0, { metadata: {} });
    const { choices, metadata } = JSON.parse(body) as { choices: { message: object }[]; metadata: object };
    expect(choices[0]?.message).toMatchObject({ content: 'Half done.', reasoning_content: 'First. Then.' });
    expect(metadata).toEqual({});
    const said = { text: '', thought: '' };
    const stream = await clientOf(streamOf('openai-chat')).chat.completions.create({ model: 'm', messages: [], stream: true }); // prettier-ignore
    for await (const { choices: pieces } of stream) {
      const delta = pieces[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
      said.text += delta?.content ?? '';
      said.thought += delta?.reasoning_content ?? '';
    }
    expect(said).toEqual({ text: 'Half done.', thought: 'First. Then.' });
  });
});
