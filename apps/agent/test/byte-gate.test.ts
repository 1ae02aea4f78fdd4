import { describe, expect, it } from '@jest/globals';
import { ByteGate } from '../src/byte-gate.js';

const never = new AbortController().signal;

/** Work that ends when it is let, and what has begun so far. */
function workers(gate: ByteGate) {
  const begun: string[] = [];
  return {
    begun,
    start: (name: string, bytes: number, signal = never) => {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const done = gate.within(bytes, signal, () => {
        begun.push(name);
        return ended;
      });
      return { end, done };
    },
  };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('the bytes that an agent holds', () => {
  it('are at most so many together, and who comes first goes first', async () => {
    const { begun, start } = workers(new ByteGate(10));
    const [a, b, c, d] = [start('a', 6), start('b', 5), start('c', 1), start('d', 4)];
    await soon();
    expect(begun).toEqual(['a']);
    a.end();
    await a.done;
    await soon();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    [b, c, d].forEach(({ end }) => end());
    await Promise.all([b.done, c.done, d.done]);
  });

  it('of work that is larger than all are held alone, and work that stops waiting lets the next begin', async () => {
    const { begun, start } = workers(new ByteGate(10));
    const giving = new AbortController();
    const [large, waiting, small] = [start('large', 99), start('waiting', 99, giving.signal), start('small', 1)];
    await soon();
    expect(begun).toEqual(['large']);
    giving.abort(new Error('enough'));
    await expect(waiting.done).rejects.toThrow('enough');
    large.end();
    await large.done;
    await soon();
    expect(begun).toEqual(['large', 'small']);
    small.end();
    await small.done;
  });

  it('are free again where work fails', async () => {
    const gate = new ByteGate(1);
    await expect(gate.within(1, never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate.within(1, never, () => Promise.resolve('yes'))).toBe('yes');
  });
});
