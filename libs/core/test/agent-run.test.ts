import { describe, expect, it } from '@jest/globals';
import { briefAnswer, budgetEnd } from '@sluice/core';
import type { ParentCall, RunState } from '@sluice/core';

const bytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

describe('an answer that is too long (K-66)', () => {
  it('is left as it is where it fits', () => {
    expect(briefAnswer('Short.', 200)).toBe('Short.');
    expect(briefAnswer('x'.repeat(200), 200)).toBe('x'.repeat(200));
  });

  it.each([
    ['a paragraph', `${'a'.repeat(250)}\n\n${'b '.repeat(500)}`, 'a'.repeat(250)],
    ['a line', `${'a'.repeat(250)}\n${'b'.repeat(500)}`, 'a'.repeat(250)],
    ['a sentence', `${'a'.repeat(250)}. ${'b'.repeat(500)}`, `${'a'.repeat(250)}.`],
    ['a word', `${'a'.repeat(250)} ${'b'.repeat(500)}`, 'a'.repeat(250)],
  ])('ends behind %s', (_, answer, kept) => {
    const brief = briefAnswer(answer, 400);
    expect(brief.startsWith(`${kept}\n\n[`)).toBe(true);
    expect(brief).toContain(`${bytes(answer) - bytes(kept)} of its ${bytes(answer)} bytes were left out`);
  });

  it.each(['"\n\\'.repeat(400), '🦜'.repeat(300), 'ä'.repeat(900), `${'x'.repeat(199)}\ud83d`.repeat(9)])(
    'never has more bytes of JSON than it may, nor half a character: %#',
    (answer) => {
      for (let most = 200; most < 320; most++) {
        const brief = briefAnswer(answer, most);
        expect(bytes(brief)).toBeLessThanOrEqual(most);
        expect(brief.isWellFormed()).toBe(true);
      }
    },
  );
});

describe('the budget of a run that answers a call (K-65)', () => {
  const used = (parent: Partial<ParentCall> | null, inputTokens: number, outputTokens: number): RunState =>
    ({ parent: parent && { maxTokens: null, maxMicroUsd: null, ...parent }, inputTokens, outputTokens }) as RunState;
  const price = { input: 2, output: 10 };

  it.each<[string, RunState, typeof price | undefined, boolean]>([
    ['no call, no budget', used(null, 1e9, 1e9), price, false],
    ['none is written', used({}, 1e9, 1e9), price, false],
    ['a token is left', used({ maxTokens: 10 }, 6, 3), price, false],
    ['the last token is used', used({ maxTokens: 10 }, 6, 4), price, true],
    ['some money is left', used({ maxMicroUsd: 61 }, 10, 4), price, false],
    ['the money is used', used({ maxMicroUsd: 60 }, 10, 4), price, true],
    ['nobody says what it costs', used({ maxMicroUsd: 60 }, 0, 0), undefined, true],
  ])('%s', (_, run, cost, ends) => {
    expect(budgetEnd(run, cost)?.code).toBe(ends ? 'budget_exceeded' : undefined);
  });
});
