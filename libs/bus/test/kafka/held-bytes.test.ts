import { expect, it } from '@jest/globals';
import { HeldBytes } from '../../src/kafka/consume/held-bytes.js';

it('half of the limit is first come, first served; of the other a partition has its share, and one record in any case', () => {
  const held = new HeldBytes(2_400, () => 4);
  held.take(1_200);
  expect(held.hasRoom(1_200)).toBe(true);
  held.take(1);
  expect(held.hasRoom(1_201)).toBe(false);
  expect(held.hasRoom(301)).toBe(false);
  expect(held.hasRoom(300)).toBe(true);
  expect(held.hasRoom(0)).toBe(true);
});

it('a waiting partition is notified once, when there is room again; not who has left', () => {
  const held = new HeldBytes(200, () => 1);
  const told: string[] = [];
  const leaves = (): void => void told.push('gone');
  held.take(150);
  held.whenThereIsRoom(() => told.push('here'));
  held.whenThereIsRoom(leaves);
  held.forget(leaves);
  held.release(40);
  expect(told).toEqual([]);
  held.release(10);
  held.release(10);
  expect(told).toEqual(['here']);
});
