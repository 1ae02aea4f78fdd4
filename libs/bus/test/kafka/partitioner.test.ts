import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { choosePartition } from '../../src/kafka/produce/partitioner.js';

const partitions = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ partitionId: id, leader: 0 }) as never);
const asked = (key: Buffer | string | null, count: number) => ({
  topic: 't',
  partitionMetadata: partitions(count),
  message: { key, value: 'x' },
});

describe('the partition of a key', () => {
  const theirs = Partitioners.DefaultPartitioner();

  it('is the one that kafkajs chooses, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 64 }), (key, count) => {
        expect(choosePartition(asked(key, count))).toBe(theirs(asked(key, count)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the one that kafkajs chooses, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 1, max: 64 }), (bytes, count) => {
        const key = Buffer.from(bytes);
        expect(choosePartition(asked(key, count))).toBe(theirs(asked(key, count)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is none without a key', () => {
    expect(() => choosePartition(asked(null, 4))).toThrow('A record without a key belongs to no session.');
  });
});
