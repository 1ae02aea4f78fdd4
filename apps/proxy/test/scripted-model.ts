import type { ServerResponse } from 'node:http';
import type { ProxyApi } from '@sluice/core';
import {
  encodeStream,
  encodeTurn,
  streamContentType,
  type Turn,
  type TurnPart,
  type Usage,
  type WireName,
} from '@sluice/wires';

/** What a scripted upstream says, as the wires write it. */
export const searchName = 'gateway_search_tools';

export const tools = [
  { name: 'read_file', description: 'Reads a file', inputSchema: { type: 'object', properties: {} } },
  {
    name: 'get_weather',
    description: 'The weather of a city',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  },
  { name: 'send_mail', description: 'Sends a letter', inputSchema: { type: 'object', properties: {} } },
] as const;

export const usage: Usage = {
  inputTokens: 10,
  outputTokens: 5,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

export const call = (name: string, args: unknown, id = `id-${name}`): TurnPart => ({
  type: 'call',
  toolCallId: id,
  name,
  args: JSON.stringify(args),
});
export const text = (said: string): TurnPart => ({ type: 'text', text: said });
export const searchCall = (query: string, id = 'search-1'): TurnPart => call(searchName, { query }, id);

/** Where a model is asked over a wire. */
export function pathOf(wire: WireName, stream: boolean): string {
  switch (wire) {
    case 'openai-chat':
      return '/v1/chat/completions';
    case 'openai-responses':
      return '/v1/responses';
    case 'anthropic':
      return '/v1/messages';
    case 'bedrock':
      return `/model/m/${stream ? 'converse-stream' : 'converse'}`;
    case 'bedrock-anthropic':
      return `/model/m/${stream ? 'invoke-with-response-stream' : 'invoke'}`;
    case 'gemini':
      return `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
  }
}

/** The `api` of an upstream that speaks a wire. */
export function apiOf(wire: WireName): ProxyApi {
  switch (wire) {
    case 'openai-chat':
    case 'openai-responses':
      return 'openai';
    case 'bedrock':
    case 'bedrock-anthropic':
      return 'bedrock';
    case 'anthropic':
    case 'gemini':
      return wire;
  }
}

/** The bytes of a model’s turn. */
export function turnBytes(
  wire: WireName,
  stream: boolean,
  { parts, id = 'turn-0', rounds = 1 }: { parts: readonly TurnPart[]; id?: string; rounds?: number },
): Buffer {
  const finish = parts.some(({ type }) => type === 'call') ? 'calls' : 'stop';
  const summed = { ...usage, inputTokens: usage.inputTokens * rounds, outputTokens: usage.outputTokens * rounds };
  const turn: Turn = { id, model: 'm', parts, finish, usage: summed };
  const bytes = (): Buffer => {
    if (!stream) return Buffer.from(encodeTurn(wire, turn, 0).body);
    const encoder = encodeStream(wire, { id: turn.id, model: 'm', createdAtMs: 0 });
    return Buffer.concat([encoder.start(), ...parts.map((part) => encoder.part(part)), encoder.end(finish, summed)]);
  };
  // OpenAI gives no item the id of another one.
  return wire === 'openai-responses'
    ? Buffer.from(
        bytes()
          .toString()
          .replace(/"(msg|fc)_/g, `"$1_${id}_`),
      )
    : bytes();
}

/** Answers with bytes in pieces, each in a turn of the event loop of its own. */
export async function answerIn(
  response: ServerResponse,
  type: string,
  pieces: readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  response.writeHead(200, { 'content-type': type, ...headers });
  for (const piece of pieces) {
    response.write(piece);
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

export function contentTypeOf(wire: WireName, stream: boolean): string {
  return stream ? streamContentType(wire) : 'application/json';
}

/** The bytes in pieces of a size. */
export function piecesOf(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
