import { describe, expect, it } from '@jest/globals';
import { byBeginning } from '../apps/sluice/src/by-beginning.js';

describe('what is named by the beginning of its name', () => {
  const all = ['a-1111', 'a-1122', 'a-2222', 'a-2222', 'a-3'].map((name, place) => ({ name, place }));
  const find = (written: string) => byBeginning(all, written, 'approval', ({ name }) => name);

  it.each([
    ['a-1111', 0],
    ['a-112', 1],
    ['a-22', 3],
    ['a-3', 4],
    ['a-4444', undefined],
  ])('%j is found', (written, place) => expect(find(written)?.place).toBe(place));

  it.each([
    ['', 'Name the approval.'],
    ['a', 'Write at least 4 characters.'],
    ['a-1', 'Write at least 4 characters.'],
    ['a-11', 'More than one approval begins with a-11. Write more of it.'],
  ])('%j is refused', (written, said) => expect(() => find(written)).toThrow(said));

  it('is not taken from what is there, if nothing is', () => {
    expect(() => byBeginning([], '', 'version', String)).toThrow('Name the version.');
  });
});
