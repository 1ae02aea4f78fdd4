import { describe, expect, it } from '@jest/globals';
import { PerServerLimit } from '../src/per-server-limit.js';

const never = new AbortController().signal;
const atOnce = 64;

describe('the room at a server', () => {
  it('lets as many in at once as it is given, the others in the order of asking, and other servers’ calls pass', async () => {
    const room = new PerServerLimit();
    const ends: (() => void)[] = [];
    const began: number[] = [];
    const calls = Array.from({ length: 70 }, (_, n) =>
      room.in(
        'a',
        never,
        () => {
          began.push(n);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        atOnce,
      ),
    );
    await new Promise(setImmediate);
    expect(began).toHaveLength(64);
    expect(await room.in('b', never, () => Promise.resolve('passes'), atOnce)).toBe('passes');
    ends.splice(0, 3).forEach((end) => end());
    await new Promise(setImmediate);
    expect(began.slice(64)).toEqual([64, 65, 66]);
    while (ends.length > 0) {
      ends.splice(0).forEach((end) => end());
      await new Promise(setImmediate);
    }
    await Promise.all(calls);
    expect(began).toEqual(Array.from({ length: 70 }, (_, n) => n));
  });

  it('is given back by a call that fails, and not taken by one that gave up waiting', async () => {
    const room = new PerServerLimit();
    const held = Array.from({ length: 64 }, () => {
      let end: () => void = () => undefined;
      const work = room.in(
        'a',
        never,
        () => new Promise<void>((_, reject) => (end = () => reject(new Error('fails')))),
        atOnce,
      );
      return { work, fail: () => end() };
    });
    await new Promise(setImmediate);
    const given = new AbortController();
    const waiting = room.in('a', given.signal, () => Promise.resolve(), atOnce);
    given.abort(new Error('moved'));
    await expect(waiting).rejects.toThrow('moved');
    const next = room.in('a', never, () => Promise.resolve('in'), atOnce);
    held.forEach(({ fail }) => fail());
    await Promise.allSettled(held.map(({ work }) => work));
    expect(await next).toBe('in');
  });
});
