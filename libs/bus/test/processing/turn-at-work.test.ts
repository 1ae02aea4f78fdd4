import { describe, expect, it } from '@jest/globals';
import { Slots } from '../../src/processing/slots.js';
import { TurnAtWork } from '../../src/processing/turn-at-work.js';

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
    other.free();
    await waits;
    expect(working.taken).toBe(1);
    one.free();
    one.free();
    expect(working.taken).toBe(0);
  });

  it('passes on how a wait fails, and needs no room where there is no limit', async () => {
    const turn = new TurnAtWork(undefined, 'a');
    await turn.take();
    await expect(turn.aside(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    turn.free();
  });
});
