import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { decodeTurn } from '@sluice/wires';
import type { DecodedTurn, WireFault } from '@sluice/wires';
import { parse } from 'yaml';
import { cutAt, readPieces } from './streams.js';

const fixture = parse(readFileSync(new URL('fixtures/gemini-partial-arguments.yaml', import.meta.url), 'utf8')) as {
  readonly events: readonly string[];
  readonly decoded: DecodedTurn;
};
const bytesOf = (events: readonly string[]) => Buffer.from(events.map((data) => `data: ${data}\n\n`).join(''));
const event = (call: object, rest: object = {}) =>
  JSON.stringify({ candidates: [{ content: { parts: [{ functionCall: call }] }, ...rest }] });
const argsOf = ({ parts }: DecodedTurn) => parts.map((part) => (part.type === 'call' ? part.args : part.type));

describe('arguments that Gemini streams in pieces (T-08a, T-15c)', () => {
  const bytes = bytesOf(fixture.events);

  it('are put together, each value at its path, with the digits it came with', () => {
    expect(readPieces('gemini', [bytes])).toEqual(fixture.decoded);
    for (let at = 0; at <= bytes.length; at += 3)
      expect(readPieces('gemini', cutAt(bytes, [at]))).toEqual(fixture.decoded);
  });

  it('are read from a list of pieces that came whole', () => {
    expect(decodeTurn('gemini', `[${fixture.events.join(',')}]`)).toEqual(fixture.decoded);
  });

  it('are no JSON where the call did not end, so that it is not run', () => {
    const begun = event({ name: 'a', partialArgs: [{ jsonPath: '$.n', numberValue: 1 }], willContinue: true });
    const ends = [
      event({ name: 'b', args: {} }, { finishReason: 'STOP' }),
      JSON.stringify({ candidates: [{ finishReason: 'MAX_TOKENS' }] }),
    ];
    for (const end of ends) expect(argsOf(readPieces('gemini', [bytesOf([begun, end])]))[0]).toBe('{"n":1');
  });

  it.each(['', '$', 'n', '$..n', '$.n[', '$.list[2]', '$.text.more', `$${'.a'.repeat(65)}`, '$.n'])(
    'have a path that can be followed: not “%s”',
    (jsonPath) => {
      const before = [
        { jsonPath: '$.n', numberValue: 1 },
        { jsonPath: '$.list[0]', numberValue: 1 },
        { jsonPath: '$.text', stringValue: 'a' },
      ];
      const text = event(
        { name: 'a', partialArgs: [...before, { jsonPath, stringValue: 'x' }] },
        { finishReason: 'STOP' },
      );
      try {
        readPieces('gemini', [bytesOf([text])]);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'wrong_type', isRetryable: false });
        expect((error as WireFault).predicate).toContain('partialArgs[3].jsonPath');
        return;
      }
      throw new Error('A fault was expected.');
    },
  );

  it('may have any name, also one that objects have of their own', () => {
    const partialArgs = [
      { jsonPath: '$.__proto__.a', numberValue: 1 },
      { jsonPath: '$["it\\"s"]', stringValue: '' },
    ];
    const turn = readPieces('gemini', [bytesOf([event({ name: 'a', partialArgs }, { finishReason: 'STOP' })])]);
    expect(argsOf(turn)).toEqual(['{"__proto__":{"a":1},"it\\"s":""}']);
  });
});
