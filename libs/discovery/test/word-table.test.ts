import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashOf, WordTable } from '../src/word-table.js';

const numberIn = (table: WordTable, text: string, from: number, to: number): number =>
  table.numberOf(text, from, to, hashOf(text, from, to));

it('words have numbers in the order in which they are met, wherever they stand', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.string({ minLength: 60, maxLength: 70 }))),
      (words) => {
        const table = new WordTable();
        const distinct = [...new Set(words)];
        for (let time = 0; time < 2; time++)
          for (const word of words)
            expect(numberIn(table, `a${word}b`, 1, word.length + 1)).toBe(distinct.indexOf(word));
        expect(table.words).toEqual(distinct);
      },
    ),
  );
});

it('many words are found again', () => {
  const table = new WordTable();
  const words = Array.from({ length: 20_000 }, (_, at) => `word-${String(at)}`);
  for (let time = 0; time < 2; time++)
    words.forEach((word, at) => expect(numberIn(table, word, 0, word.length)).toBe(at));
});
