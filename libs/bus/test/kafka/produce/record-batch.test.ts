import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import record from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import batches from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { encodeBatch } from '../../../src/kafka/produce/record-batch.js';
import type { Encoded } from '../../../src/processing/outputs.js';

const texts = fc.string({ unit: 'grapheme', maxLength: 200 });
const records: fc.Arbitrary<Encoded> = fc.record({
  topic: fc.constant('agent.steps' as const),
  key: texts,
  value: fc.uint8Array({ maxLength: 20_000, size: 'max' }),
  headers: fc.dictionary(texts, texts, { maxKeys: 3 }),
});

describe('a record batch', () => {
  it('has the bytes that kafkajs writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(records, { minLength: 1, maxLength: 130, size: '+2' }),
        fc.bigInt({ min: 0n, max: 2n ** 62n }),
        fc.integer({ min: 0, max: 2 ** 15 - 1 }),
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 4_102_444_800_000 }),
        async (sent, producerId, epoch, sequence, transactional, timestamp) => {
          const theirs = await batches.RecordBatch({
            producerId: String(producerId),
            producerEpoch: epoch,
            firstSequence: sequence,
            transactional,
            firstTimestamp: timestamp,
            maxTimestamp: timestamp,
            lastOffsetDelta: sent.length - 1,
            records: sent.map(({ key, value, headers }, offsetDelta) =>
              record({ key, value: Buffer.from(value), headers, offsetDelta, timestampDelta: 0 }),
            ),
          });
          const ours = encodeBatch(sent, { producerId, epoch, sequence, transactional, timestamp });
          expect(ours.equals(theirs.buffer)).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });
});
