import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Lanes } from '../../src/processing/lanes.js';

describe('lanes', () => {
  it('give a session’s places back one after another in order, whatever the other sessions do', () => {
    const session = fc.constantFrom('a', 'b', 'c');
    fc.assert(
      fc.property(fc.array(fc.tuple(session, fc.boolean()), { maxLength: 200 }), (steps) => {
        const lanes = new Lanes<number>();
        const model = new Map<string, number[]>();
        for (const [index, [name, isEntering]] of steps.entries()) {
          const line = model.get(name);
          if (isEntering) {
            expect(lanes.enter(name, index)).toBe(line === undefined);
            if (line === undefined) model.set(name, []);
            else line.push(index);
          } else if (line !== undefined) {
            expect(lanes.next(name)).toBe(line.shift() ?? (model.delete(name), undefined));
          }
          expect(lanes.waiting).toBe([...model.values()].reduce((sum, waiting) => sum + waiting.length, 0));
        }
      }),
    );
  });

  it('stay fast when one session has a very long line', () => {
    const lanes = new Lanes<number>();
    for (let index = -1; index < 200_000; index++) lanes.enter('a', index);
    const before = process.cpuUsage();
    for (let index = 0; index < 200_000; index++) if (lanes.next('a') !== index) throw new Error('Out of order.');
    // Of the processor: a machine with much else to do makes nothing slower by this measure. Two seconds are a
    // hundred times what it takes.
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
    expect(lanes.next('a')).toBeUndefined();
  });
});
