import { describe, expect, it } from '@jest/globals';
import {
  decodeRequest,
  decodeTurn,
  encodeRequest,
  encodeStream,
  encodeTurn,
  type Message,
  type MessagePart,
  type Turn,
  type TurnPart,
  type WireName,
  wireNames,
} from '@sluice/wires';
import fc from 'fast-check';
import { cutAt, readPieces } from './streams.js';

const isBedrock = (wire: WireName) => wire === 'bedrock';
const isOpenAi = (wire: WireName) => wire === 'openai-chat' || wire === 'openai-responses';
const own = (wire: WireName) => (wire === 'bedrock-anthropic' ? 'anthropic' : wire);

const said = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map((text) => text.toWellFormed());
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const objectText = fc.oneof(
  fc.constantFrom(
    '{}',
    '{ "n": 12345678901234567890 }',
    '{"x":1.0,"y":1e400,"z":-0}',
    '{"a":1,"a":2}',
    '{\n\t"ü" : "\\u00fc" }',
  ),
  fc.dictionary(name, fc.jsonValue(), { maxKeys: 4 }).map((value) => JSON.stringify(value)),
);
/** What a model may write for arguments, JSON or not. */
const anyText = fc.oneof(
  objectText,
  fc.constantFrom('[1]', '7', '{"na', 'find(a)'),
  said.filter((text) => text.trim() !== ''),
);

const reasoningFields = (wire: WireName) => {
  switch (wire) {
    case 'openai-chat':
      return fc.constantFrom({ as: 'reasoning_content' }, { as: 'reasoning' });
    case 'openai-responses':
      return fc.record({ id, encrypted_content: id });
    case 'anthropic':
    case 'bedrock-anthropic':
      return fc.record({ signature: id });
    case 'gemini':
      return fc.oneof(fc.constant({}), fc.record({ thoughtSignature: id }));
    case 'bedrock':
      return fc.oneof(fc.constant({}), fc.record({ signature: id }));
  }
};

function textParts(wire: WireName): fc.Arbitrary<TurnPart> {
  if (wire === 'openai-responses')
    return fc.record({ type: fc.constant('text' as const), text: said, echo: echoOf(wire, fc.record({ id })) });
  return fc.record({ type: fc.constant('text' as const), text: said });
}

function echoOf(wire: WireName, fields: fc.Arbitrary<Record<string, string>>) {
  return fields.map((value) => ({ wire: own(wire), fields: value }));
}

function callParts(wire: WireName, args: fc.Arbitrary<string>): fc.Arbitrary<TurnPart> {
  const call = { type: fc.constant('call' as const), toolCallId: id, name, args };
  if (wire === 'openai-responses') return fc.record({ ...call, echo: echoOf(wire, fc.record({ id })) });
  if (wire === 'gemini') return fc.record({ ...call, echo: echoOf(wire, fc.record({ thoughtSignature: id })) });
  return fc.record(call);
}

function reasoningParts(wire: WireName): fc.Arbitrary<TurnPart> {
  return fc.record({
    type: fc.constant('reasoning' as const),
    text: said,
    echo: echoOf(wire, reasoningFields(wire) as fc.Arbitrary<Record<string, string>>),
  });
}

/** Neighbours of one kind are one part on every wire. */
const apart = (parts: readonly TurnPart[]) =>
  parts.filter((part, index) => part.type === 'call' || part.type !== parts[index - 1]?.type);

function parts(wire: WireName, args: fc.Arbitrary<string>): fc.Arbitrary<readonly TurnPart[]> {
  const calls = fc.uniqueArray(callParts(wire, args), {
    maxLength: 4,
    selector: (part) => JSON.stringify(part).slice(0, 40),
  });
  if (wire === 'openai-chat')
    return fc
      .tuple(fc.array(reasoningParts(wire), { maxLength: 1 }), fc.array(textParts(wire), { maxLength: 1 }), calls)
      .map((all) => all.flat());
  return fc.array(fc.oneof(reasoningParts(wire), textParts(wire), callParts(wire, args)), { maxLength: 6 }).map(apart);
}

const count = fc.nat(1_000_000);

function turns(wire: WireName, args: fc.Arbitrary<string>): fc.Arbitrary<Turn> {
  const caches = wire === 'anthropic' || wire === 'bedrock-anthropic' || isBedrock(wire);
  const usage = fc.tuple(count, count, count, count, count).map(([fresh, output, cached, written, reasoning]) => ({
    inputTokens: fresh + cached + (caches ? written : 0),
    outputTokens: output + reasoning,
    cachedInputTokens: cached,
    cacheWriteTokens: caches ? written : 0,
    reasoningTokens: caches ? 0 : reasoning,
  }));
  return fc
    .tuple(id, id, parts(wire, args), fc.constantFrom('stop', 'length', 'filtered'), usage)
    .map(([turnId, model, all, finish, used]) => ({
      id: isBedrock(wire) ? '' : turnId,
      model: isBedrock(wire) ? '' : model,
      parts: distinctIds(all),
      finish:
        finish === 'stop' && all.some(({ type }) => type === 'call') ? ('calls' as const) : (finish as Turn['finish']),
      usage: used,
    }));
}

/** A repeated id is another matter (assembly.test.ts). */
function distinctIds(all: readonly TurnPart[]): readonly TurnPart[] {
  return all.map((part, index) =>
    part.type === 'call' ? { ...part, toolCallId: `${part.toolCallId}-${String(index)}` } : part,
  );
}

function messages(wire: WireName): fc.Arbitrary<readonly Message[]> {
  // Wires of objects have no place for arguments that are none.
  const turn = parts(wire, isOpenAi(wire) ? anyText : objectText).filter((all) => all.length > 0);
  return fc
    .array(
      fc.record({
        question: said,
        said: turn.map(distinctIds),
        results: fc.array(fc.record({ text: said, isError: isOpenAi(wire) ? fc.constant(false) : fc.boolean() }), {
          minLength: 8,
          maxLength: 8,
        }),
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map((rounds) =>
      rounds.flatMap(({ question, said: turnParts, results }, round): readonly Message[] => {
        const all = turnParts.map((part) =>
          part.type === 'call' ? { ...part, toolCallId: `${part.toolCallId}.${String(round)}` } : part,
        );
        const answered = all.flatMap((part, index): MessagePart[] =>
          part.type === 'call'
            ? [
                {
                  type: 'result',
                  toolCallId: part.toolCallId,
                  name: part.name,
                  ...(results[index] ?? { text: 'x', isError: false }),
                },
              ]
            : [],
        );
        const asked: Message = { role: 'user', parts: [{ type: 'text', text: question }] };
        return answered.length === 0
          ? [asked, { role: 'assistant', parts: all }]
          : [
              asked,
              { role: 'assistant', parts: all },
              { role: 'user', parts: answered },
              {
                role: 'assistant',
                parts: all
                  .slice(0, 1)
                  .filter(({ type }) => type === 'text')
                  .concat({ type: 'text', text: 'So.' })
                  .slice(0, 1),
              },
            ];
      }),
    );
}

describe.each(wireNames)('over %s', (wire) => {
  it('a turn comes back as it was written, whole', () => {
    fc.assert(
      fc.property(turns(wire, isOpenAi(wire) ? anyText : objectText), (turn) => {
        const { body, dropped } = encodeTurn(wire, turn, 1_700_000_000_000);
        expect(dropped).toEqual([]);
        const { finishAs, notes, ...back } = decodeTurn(wire, body);
        expect(notes).toEqual([]);
        expect(finishAs).not.toBeNull();
        expect(back).toEqual(turn);
      }),
    );
  });

  it('a turn comes back as it was streamed, however its bytes are cut', () => {
    // Gemini sends arguments as an object even in a stream.
    fc.assert(
      fc.property(turns(wire, wire === 'gemini' ? objectText : anyText), fc.array(fc.nat(4_000)), (turn, places) => {
        const encoder = encodeStream(wire, { id: turn.id, model: turn.model, createdAtMs: 0 });
        const bytes = Buffer.concat([
          encoder.start(),
          ...turn.parts.map((part) => encoder.part(part)),
          encoder.end(turn.finish, turn.usage),
        ]);
        const { finishAs, notes, ...back } = readPieces(wire, cutAt(bytes, places));
        expect(notes).toEqual([]);
        expect(finishAs).not.toBeNull();
        expect(back).toEqual(turn);
      }),
    );
  });

  it('a text comes back however many pieces it was streamed in', () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 20 }), fc.array(fc.nat(2_000)), (pieces, places) => {
        const encoder = encodeStream(wire, { id: 'i', model: 'm', createdAtMs: 0 });
        const usage = {
          inputTokens: 1,
          outputTokens: 1,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
        };
        const written = pieces.map((text) => encoder.part({ type: 'text', text }));
        const bytes = Buffer.concat([encoder.start(), ...written, encoder.end('stop', usage)]);
        const back = readPieces(wire, cutAt(bytes, places));
        expect(back.parts.map((part) => (part.type === 'text' ? part.text : ''))).toEqual([pieces.join('')]);
      }),
    );
  });

  it('a request comes back as it was written', () => {
    const request = fc.record({
      model: wire === 'bedrock' || wire === 'gemini' || wire === 'bedrock-anthropic' ? fc.constant('') : id,
      instructions: fc.oneof(fc.constant(''), said),
      messages: messages(wire),
      tools: fc.uniqueArray(
        fc.record({
          name,
          description: fc.oneof(fc.constant(''), said),
          inputSchema: fc.constant({ type: 'object', properties: { a: { type: 'string' } } }),
        }),
        { selector: (tool) => tool.name, maxLength: 4 },
      ),
      toolChoice: fc.constantFrom(
        null,
        { type: 'auto' as const },
        { type: 'required' as const },
        { type: 'tool' as const, id: 'a' },
      ),
      maxOutputTokens: fc.integer({ min: 1, max: 100_000 }),
      temperature: fc.constantFrom(null, 0.5),
      topP: fc.constantFrom(null, 0.9),
      stopSequences: wire === 'openai-responses' ? fc.constant([]) : fc.array(said, { maxLength: 2 }),
      stream:
        wire === 'bedrock' || wire === 'gemini' || wire === 'bedrock-anthropic' ? fc.constant(false) : fc.boolean(),
    });
    fc.assert(
      fc.property(request, (given) => {
        const expected = given.tools.length === 0 ? { ...given, toolChoice: null } : given;
        const { body, dropped } = encodeRequest(wire, given);
        expect(dropped).toEqual([]);
        const { query, beyond, ...back } = decodeRequest(wire, body);
        expect(beyond).toEqual([]);
        expect(query).not.toBe('');
        expect(back).toEqual(expected);
      }),
    );
  });
});

describe('instructions in the middle of a conversation', () => {
  it('of Anthropic belong to no speaker, and stay messages of their own', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Now?' }] },
    ];
    const decoded = decodeRequest('anthropic', JSON.stringify({ model: 'm', max_tokens: 9, messages }));
    expect(decoded.query).toBe('Now?');
    expect(decoded.messages[1]?.parts).toMatchObject([{ type: 'other', kind: 'message system' }]);
    expect(JSON.parse(encodeRequest('anthropic', decoded).body)).toMatchObject({ messages });
  });
});
