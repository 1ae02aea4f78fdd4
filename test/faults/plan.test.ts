import { describe, expect, it } from '@jest/globals';
import { readArguments } from './arguments.ts';
import { faultNames, planOf } from './plan.ts';
import { Random } from './random.ts';

describe('the plan of the fault suite', () => {
  it('is the same for the same seed, and another one for another', () => {
    for (const long of [false, true]) {
      expect(planOf(4711, long)).toEqual(planOf(4711, long));
      expect(planOf(4711, long)).not.toEqual(planOf(4712, long));
    }
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'has every fault once, also in its short form (seed %i)',
    (seed) => {
      const names = planOf(seed, false).oneBroker.flatMap(({ faults }) => faults);
      expect([...names].sort()).toEqual([...faultNames].sort());
      expect(planOf(seed, false).threeBrokers.length).toBeGreaterThan(0);
    },
  );

  it('has several faults at the same time in its long form, and no fault twice at once', () => {
    const pairs = planOf(1, true).oneBroker.filter(({ faults }) => faults.length > 1);
    expect(pairs.length).toBeGreaterThan(2);
    for (const { faults } of pairs) expect(new Set(faults).size).toBe(faults.length);
  });

  it('draws evenly', () => {
    const random = new Random(1);
    const counts = [0, 0, 0, 0];
    for (let draws = 0; draws < 4_000; draws++) {
      const drawn = random.between(0, 3);
      counts[drawn] = (counts[drawn] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    expect(random.shuffled([1, 2, 3]).sort()).toEqual([1, 2, 3]);
  });
});

describe('the arguments of the fault suite', () => {
  const read = (...args: string[]) => readArguments(args, () => 7);

  it('have a seed of their own if none is named, and an hour for the long form', () => {
    expect(read()).toEqual({ seed: 7, minutes: 0, long: false, only: null });
    expect(read('--seed', '4711', '--long')).toEqual({ seed: 4711, minutes: 60, long: true, only: null });
    expect(read('--long', '--minutes', '5', '--only', 'zombies')).toMatchObject({ minutes: 5, only: 'zombies' });
  });

  it.each([
    [['--seed', 'x'], /--seed is “x”; it must be a whole number/],
    [['--minutes', '-1'], /minutes/],
    [['--only', 'nothing'], /There is no “nothing”[^]*crash points/],
  ])('say what to change: %j', (args, sentence) => expect(() => read(...args)).toThrow(sentence));
});
