import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  decodeRequest,
  decodeTurn,
  encodeRequest,
  encodeTurn,
  type DecodedRequest,
  type DecodedTurn,
  editRequest,
  type WireName,
} from '@sluice/wires';
import { parse } from 'yaml';
import { awsMessage, cutAt, readPieces } from './streams.js';

interface Fixture {
  readonly request: {
    readonly address?: { readonly model: string; readonly stream: boolean };
    readonly body: string;
    readonly decoded: Omit<DecodedRequest, 'raw'>;
    readonly encoded: unknown;
  };
  readonly turn: { readonly body: string; readonly decoded: DecodedTurn; readonly encoded: unknown };
  readonly stream: {
    readonly named?: boolean;
    readonly events?: readonly string[];
    readonly aws?: readonly (readonly [string, string])[];
    readonly decoded: DecodedTurn;
  };
}

const names = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'bedrock'] as const;
const fixtures = Object.fromEntries(
  names.map((name) => [
    name,
    parse(readFileSync(new URL(`fixtures/${name}.yaml`, import.meta.url), 'utf8'), { intAsBigInt: false }) as Fixture,
  ]),
) as Record<(typeof names)[number], Fixture>;

function framed({ events = [], named = false, aws = [] }: Fixture['stream']): Buffer {
  if (aws.length > 0) return Buffer.concat(aws.map(([type, payload]) => awsMessage(type, payload)));
  const lines = events.map((data) => {
    const name = named ? `event: ${(JSON.parse(data) as { type: string }).type}\n` : '';
    return `${name}data: ${data}\n\n`;
  });
  return Buffer.from(lines.join(''));
}

describe.each(names)('the documented bytes of %s', (wire: WireName) => {
  const { request, turn, stream } = fixtures[wire as (typeof names)[number]];
  const bytes = framed(stream);

  it('are read as a request, with paths of all that has no neutral place (T-12a, T-15a, T-15b)', () => {
    const decoded = decodeRequest(wire, request.body, request.address);
    expect(decoded).toEqual(request.decoded);
  });

  it('are what is sent: exact members, none beside (T-15a, T-15b, T-15d)', () => {
    const { body, dropped } = encodeRequest(wire, request.decoded);
    expect(JSON.parse(body)).toEqual(request.encoded);
    expect(dropped).toEqual([]);
  });

  it('are read as a turn that came whole, arguments as they were written (T-12b)', () => {
    expect(decodeTurn(wire, turn.body)).toEqual(turn.decoded);
  });

  it('are what a client gets: exact members, none beside', () => {
    const { body } = encodeTurn(wire, turn.decoded, 1_764_150_000_000);
    expect(JSON.parse(body)).toEqual(turn.encoded);
  });

  it('are read as a stream, cut in two at every byte (T-08a, T-15c)', () => {
    expect(readPieces(wire, [bytes])).toEqual(stream.decoded);
    const whole = JSON.stringify(readPieces(wire, [bytes]));
    for (let at = 0; at <= bytes.length; at++) expect(JSON.stringify(readPieces(wire, cutAt(bytes, [at])))).toBe(whole);
  });

  it('are read as a stream of single bytes, state by stream', () => {
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(readPieces(wire, single)).toEqual(stream.decoded);
    expect(readPieces(wire, [bytes])).toEqual(stream.decoded);
  });

  it('keep every byte of what an edit does not touch', () => {
    expect(editRequest(wire, request.body, {})).toBe(request.body);
    const added = { name: 'core__new', description: '', inputSchema: { type: 'object' } };
    const edited = editRequest(wire, request.body, {
      addTools: [added],
      addMessages: [{ role: 'user', parts: [{ type: 'text', text: 'More.' }] }],
    });
    const taken = edited.length - request.body.length;
    expect(taken).toBeGreaterThan(0);
    const back = decodeRequest(wire, edited, request.address);
    expect(back.tools.map(({ name }) => name)).toEqual(['core__find', 'core__new']);
    expect(back.query).toBe('More.');
    expect(back.beyond.toSorted()).toEqual([...request.decoded.beyond].sort());
    const without = editRequest(wire, edited, { keepTool: (name) => name !== 'core__new' });
    // What was put in and taken out again leaves nothing behind.
    expect(
      editRequest(wire, request.body, { addMessages: [{ role: 'user', parts: [{ type: 'text', text: 'More.' }] }] }),
    ).toBe(without);
  });
});

describe('server-sent events', () => {
  const { stream } = fixtures['openai-chat'];
  const text = framed(stream).toString();

  it.each<[string, string]>([
    ['CRLF', text.replaceAll('\n', '\r\n')],
    ['CR', text.replaceAll('\n', '\r')],
    ['a byte order mark', `\uFEFF${text}`],
    ['comments', `: hello\n\n${text.replaceAll('data: ', ': ping\ndata: ')}`],
    ['no space behind the colon', text.replaceAll('data: ', 'data:')],
    ['fields that are not known', text.replaceAll('data: ', 'x-trace: 1\nretry: soon\nid: 7\ndata: ')],
    ['blank lines before', `\n\n  \n${text}`],
    ['no blank line behind the last event', text.trimEnd()],
  ])('are read with %s, cut in two anywhere', (_, written) => {
    const bytes = Buffer.from(written);
    expect(readPieces('openai-chat', [bytes])).toEqual(stream.decoded);
    const whole = JSON.stringify(readPieces('openai-chat', [bytes]));
    for (let at = 0; at <= bytes.length; at += 5)
      expect(JSON.stringify(readPieces('openai-chat', cutAt(bytes, [at])))).toBe(whole);
    expect(
      readPieces(
        'openai-chat',
        Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)),
      ),
    ).toEqual(stream.decoded);
  });
});

describe('Anthropic’s bodies over Bedrock’s InvokeModel', () => {
  const { request, stream, turn } = fixtures.anthropic;

  it('are sent with the version in place of the model', () => {
    const { model: _model, stream: _stream, ...rest } = request.encoded as Record<string, unknown>;
    const { body } = encodeRequest('bedrock-anthropic', request.decoded);
    expect(JSON.parse(body)).toEqual({ anthropic_version: 'bedrock-2023-05-31', ...rest });
  });

  it('are read whole, and as a stream of chunks in base64, cut at every byte', () => {
    expect(decodeTurn('bedrock-anthropic', turn.body)).toEqual(turn.decoded);
    const messages = (stream.events ?? []).map((data) =>
      awsMessage('chunk', JSON.stringify({ bytes: Buffer.from(data).toString('base64'), p: 'abc' })),
    );
    const bytes = Buffer.concat(messages);
    expect(readPieces('bedrock-anthropic', [bytes])).toEqual(stream.decoded);
    const whole = JSON.stringify(readPieces('bedrock-anthropic', [bytes]));
    for (let at = 0; at <= bytes.length; at++)
      expect(JSON.stringify(readPieces('bedrock-anthropic', cutAt(bytes, [at])))).toBe(whole);
  });
});
