import { describe, expect, it } from '@jest/globals';
import { IndexCache } from '../src/index-cache.js';

const listOf = (mark: string, characters: number) =>
  Array.from({ length: 10 }, (_, at) => {
    const description = `${mark} ${String(at)} ${'weather '.repeat(characters / 80)}`;
    return { name: `${mark}_${String(at)}`, description, parameters: null, raw: description };
  });

describe('indexes of lists that were met', () => {
  it('are used again for an equal list', () => {
    const cache = new IndexCache();
    const list = listOf('a', 800);
    expect(cache.indexOf(structuredClone(list))).toBe(cache.indexOf(list));
  });

  it('are held as far as their bytes go, those that were used last', () => {
    const cache = new IndexCache();
    const small = listOf('small', 800);
    const [first, second] = [cache.indexOf(small), cache.indexOf(listOf('a', 800))];
    for (let at = 0; at < 5; at++) {
      cache.indexOf(listOf(`large ${String(at)}`, 2_000_000));
      expect(cache.indexOf(small)).toBe(first);
    }
    expect(cache.indexOf(listOf('a', 800))).not.toBe(second);
    const larger = listOf('larger', 8_000_000);
    expect(cache.indexOf(larger)).toBe(cache.indexOf(larger));
  });
});
