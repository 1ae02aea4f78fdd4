import { describe, expect, it } from '@jest/globals';
import { Slots } from '../../src/processing/slots.js';

describe('room for records in work', () => {
  it('is given in the order in which it was asked for, and never beyond its limit', async () => {
    const slots = new Slots(2);
    const order: string[] = [];
    expect([slots.take(), slots.take()]).toEqual([true, true]);
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      expect(await slots.take()).toBe(true);
      order.push(name);
    });
    slots.free(1);
    await waiting[0];
    expect(slots.taken).toBe(2);
    slots.free(2);
    await Promise.all(waiting);
    expect(order).toEqual(['a', 'b', 'c']);
    expect(slots.taken).toBe(2);
  });

  it('is refused to all who wait or come when it is closed', async () => {
    const slots = new Slots(1);
    expect(slots.take()).toBe(true);
    const waiting = slots.take();
    slots.close();
    expect(await waiting).toBe(false);
    slots.free(1);
    expect(slots.take()).toBe(false);
  });

  it.each([0, -1, NaN])('cannot be %s, which would stop all work without a word', (limit) => {
    expect(() => new Slots(limit)).toThrow(/maxInFlight.*Make it 1 or more/);
  });
});
