import { describe, expect, it, jest } from '@jest/globals';
import { TransactionSlots } from '../../src/kafka/transaction-slots.js';
import { deferred, numbers } from '../contract/harness.js';

const never = new AbortController().signal;
/** What is granted is granted in the same turn of the event loop. */
const turn = (): Promise<void> => new Promise(setImmediate);

/** A transaction each, which ends when it is told to. */
function transactions(slots: TransactionSlots, count: number) {
  const begun: number[] = [];
  const gates = numbers(count).map(() => deferred());
  const runs = gates.map((gate, n) => slots.run(() => (begun.push(n), gate.promise), never));
  return { begun, runs, end: (n: number) => gates[n]?.resolve() };
}

describe('the transactions of a consumer', () => {
  it.each([
    [1, 2],
    [8, 2],
    [9, 3],
    [32, 8],
  ])('of %i partitions are under way %i at a time, the next in the order of asking', async (partitions, atOnce) => {
    const { begun, runs, end } = transactions(new TransactionSlots(() => partitions), 12);
    await turn();
    expect(begun).toEqual(numbers(12).slice(0, atOnce).map(Number));
    for (let n = 0; n < 12; n++) {
      end(n);
      await turn();
      expect(begun).toEqual(numbers(Math.min(12, n + 1 + atOnce)).map(Number));
    }
    await Promise.all(runs);
  });

  it('make room whether they succeed or fail', async () => {
    const slots = new TransactionSlots(() => 1);
    const failing = () => Promise.reject(new Error('fenced'));
    await expect(slots.run(failing, never)).rejects.toThrow('fenced');
    await expect(slots.run(failing, never)).rejects.toThrow('fenced');
    const { begun } = transactions(slots, 3);
    await turn();
    expect(begun).toEqual([0, 1]);
  });

  it('hold up no other for long: one whose coordinator is away gives up its room, once', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const { begun, end } = transactions(new TransactionSlots(() => 1), 6);
      await turn();
      expect(begun).toEqual([0, 1]);
      await jest.advanceTimersByTimeAsync(10_000);
      expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
      for (let n = 0; n < 6; n++) end(n);
      await turn();
    } finally {
      jest.useRealTimers();
    }
  });

  it('are not begun for a partition that is given up while it waits, which leaves its place to the next', async () => {
    const slots = new TransactionSlots(() => 1);
    const { begun, runs, end } = transactions(slots, 2);
    const given = new AbortController();
    const work = jest.fn(() => Promise.resolve());
    const [waiting, next] = [slots.run(work, given.signal), transactions(slots, 1)];
    await turn();
    given.abort();
    await waiting;
    await slots.run(work, given.signal);
    end(0);
    await turn();
    expect(begun).toEqual([0, 1]);
    expect(next.begun).toEqual([0]);
    expect(work).not.toHaveBeenCalled();
    end(1);
    next.end(0);
    await Promise.all([...runs, ...next.runs]);
  });

  it('are not begun for a partition that is given up as soon as there is room, which leaves it to the next', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const slots = new TransactionSlots(() => 1);
      transactions(slots, 2);
      await turn();
      const given = new AbortController();
      const work = jest.fn(() => Promise.resolve());
      const [waiting, next] = [slots.run(work, given.signal), transactions(slots, 2)];
      // Both give up their room in this moment: one to it, one to the next.
      jest.advanceTimersByTime(250);
      given.abort();
      await waiting;
      await turn();
      expect(work).not.toHaveBeenCalled();
      expect(next.begun).toEqual([0, 1]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('grow in number with the partitions that come meanwhile', async () => {
    let partitions = 8;
    const slots = new TransactionSlots(() => partitions);
    const { begun, end } = transactions(slots, 5);
    await turn();
    partitions = 16;
    end(0);
    await turn();
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });
});
