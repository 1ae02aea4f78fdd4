import { describe, expect, it } from '@jest/globals';
import { WeakMemory } from '../src/weak-memory.js';

describe('a memory for what was made of objects', () => {
  it('forgets everything when what it keeps weighs too much, and goes on', () => {
    const memory = new WeakMemory<object, string>(10);
    const [a, b, c] = [{}, {}, {}];
    expect(memory.find(a)).toBeUndefined();
    expect(memory.keep(a, 'a', 4)).toBe('a');
    memory.keep(b, 'b', 6);
    expect([a, b, c].map((each) => memory.find(each))).toEqual(['a', 'b', undefined]);
    memory.keep(c, 'c', 1);
    expect([a, b, c].map((each) => memory.find(each))).toEqual([undefined, undefined, 'c']);
    memory.keep(a, 'again', 9);
    expect([a, c].map((each) => memory.find(each))).toEqual(['again', 'c']);
  });
});
