import { describe, expect, it, jest } from '@jest/globals';
import { Slots } from '../../src/processing/slots.js';
import { TurnAtWork } from '../../src/processing/turn-at-work.js';
import { deferred } from '../contract/harness.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a record at work', () => {
  it('leaves its place to another while it waits for what is elsewhere, and has its turn again then', async () => {
    const working = new Slots(1);
    const [one, other] = [new TurnAtWork(working, 'a'), new TurnAtWork(working, 'b')];
    await one.take();
    const answers: (() => void)[] = [];
    const wait = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
    // A turn can make several calls at once.
    const waits = Promise.all([one.aside(wait), one.aside(wait)]);
    await other.take();
    expect(working.taken).toBe(1);
    for (const answer of answers) answer();
    let isBack = false;
    void waits.then(() => (isBack = true));
    await settled();
    expect(isBack).toBe(false);
    other.end();
    await waits;
    expect(working.taken).toBe(1);
    one.end();
    one.end();
    expect(working.taken).toBe(0);
  });

  it('passes on how a wait fails, and needs no room where there is no limit', async () => {
    const turn = new TurnAtWork(undefined, 'a');
    await turn.take();
    await expect(turn.aside(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    turn.end();
  });

  it('loses its place when it waits for long and does not say so, else as many as there are places would stop all others', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const working = new Slots(2);
      const turns = Array.from({ length: 5 }, () => new TurnAtWork(working, 'a'));
      let begun = 0;
      for (const turn of turns) void turn.take().then(() => begun++);
      for (const expected of [2, 4, 5]) {
        await settled();
        expect(begun).toBe(expected);
        jest.advanceTimersByTime(249);
        await settled();
        expect(begun).toBe(expected);
        jest.advanceTimersByTime(1);
      }
      for (const turn of turns) turn.end();
      expect(working.taken).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('takes no place after its end, and one at most, however its waits overlap', async () => {
    const working = new Slots(2);
    const [turn, other] = [new TurnAtWork(working, 'a'), new TurnAtWork(working, 'b')];
    await turn.take();
    await other.take();
    const [first, second, last] = [deferred(), deferred(), deferred()];
    const waits = [turn.aside(() => first.promise)];
    const third = new TurnAtWork(working, 'b');
    await third.take();
    // Stands in line for its place again, and waits for something else meanwhile.
    first.resolve();
    await settled();
    waits.push(turn.aside(() => second.promise));
    other.end();
    await settled();
    expect(working.taken).toBe(1);
    second.resolve();
    await Promise.all(waits);
    expect(working.taken).toBe(2);
    const late = turn.aside(() => last.promise);
    turn.end();
    third.end();
    last.resolve();
    await late;
    expect(working.taken).toBe(0);
  });
});
