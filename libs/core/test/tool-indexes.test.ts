import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { atToolIndexes, toolIndexCount, toToolIndexes } from '@sluice/core';

describe('indexes of tools in a configuration', () => {
  const tools = Array.from({ length: 1_000 }, (_, index) => index);

  it('are two numbers for all of a thousand, and as few for each gap', () => {
    expect(toToolIndexes(tools)).toEqual([0, 1_000]);
    expect(toToolIndexes([])).toEqual([]);
    expect(toToolIndexes([0, 1, 5])).toEqual([0, 2, 3, 1]);
    expect(toToolIndexes([3])).toEqual([3, 1]);
  });

  it('give back what they were made of', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 999 })), (chosen) => {
        const indexes = chosen.toSorted((one, other) => one - other);
        expect(atToolIndexes(toToolIndexes(indexes), tools)).toEqual(indexes);
        expect(toolIndexCount(toToolIndexes(indexes))).toBe(indexes.length);
      }),
    );
  });

  it('name no tool that the configuration does not have', () => {
    expect(() => atToolIndexes([0, 1_001], tools)).toThrow(RangeError);
    expect(() => atToolIndexes([-1, 2], tools)).toThrow(RangeError);
  });
});
