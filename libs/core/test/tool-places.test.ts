import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { atToolPlaces, sizeOfPlaces, toToolPlaces } from '@sluice/core';

describe('places of tools in a configuration', () => {
  const tools = Array.from({ length: 1_000 }, (_, place) => place);

  it('are two numbers for all of a thousand, and as few for each gap', () => {
    expect(toToolPlaces(tools)).toEqual([0, 1_000]);
    expect(toToolPlaces([])).toEqual([]);
    expect(toToolPlaces([0, 1, 5])).toEqual([0, 2, 3, 1]);
    expect(toToolPlaces([3])).toEqual([3, 1]);
  });

  it('give back what they were made of', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 999 })), (chosen) => {
        const places = chosen.toSorted((one, other) => one - other);
        expect(atToolPlaces(toToolPlaces(places), tools)).toEqual(places);
        expect(sizeOfPlaces(toToolPlaces(places))).toBe(places.length);
      }),
    );
  });

  it('name no tool that the configuration does not have', () => {
    expect(() => atToolPlaces([0, 1_001], tools)).toThrow(RangeError);
    expect(() => atToolPlaces([-1, 2], tools)).toThrow(RangeError);
  });
});
