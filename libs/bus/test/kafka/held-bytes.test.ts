import { expect, it } from '@jest/globals';
import { HeldBytes } from '../../src/kafka/held-bytes.js';

it('beyond what all may hold a partition has its share, and one record in any case', () => {
  const held = new HeldBytes(1_200, () => 4);
  held.take(1_200);
  expect(held.hasRoom(1_200)).toBe(true);
  held.take(1);
  expect(held.hasRoom(1_201)).toBe(false);
  expect(held.hasRoom(301)).toBe(false);
  expect(held.hasRoom(300)).toBe(true);
  expect(held.hasRoom(0)).toBe(true);
});

it('who waits is told once, when all together are within it again; not who has left', () => {
  const held = new HeldBytes(100, () => 1);
  const told: string[] = [];
  const leaves = (): void => void told.push('gone');
  held.take(150);
  held.whenWithin(() => told.push('here'));
  held.whenWithin(leaves);
  held.forget(leaves);
  held.release(40);
  expect(told).toEqual([]);
  held.release(10);
  held.release(10);
  expect(told).toEqual(['here']);
});
