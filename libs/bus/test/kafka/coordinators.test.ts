import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Kafka, RequestEvent } from 'kafkajs';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { rememberingCoordinators } from '../../src/kafka/coordinators.js';
import { testMs } from '../contract/harness.js';
import { makeTopics, onKafka, plainKafka } from './on-broker.js';

/** What a client’s producer asks of the broker in its transactions, by the names of the requests. */
async function askedIn(transactions: number, client: Kafka, prefix: string): Promise<Record<string, number>> {
  const producer = client.producer({ transactionalId: `${prefix}writer`, idempotent: true, maxInFlightRequests: 1 });
  const asked: Record<string, number> = {};
  await producer.connect();
  await (await producer.transaction()).abort();
  producer.on('producer.network.request', ({ payload }: RequestEvent) => {
    asked[payload.apiName] = (asked[payload.apiName] ?? 0) + 1;
  });
  for (let offset = 1; offset <= transactions; offset++) {
    const transaction = await producer.transaction();
    await transaction.send({ topic: `${prefix}out`, messages: [{ key: 's', value: String(offset) }] });
    await transaction.sendOffsets({
      consumerGroupId: `${prefix}group`,
      topics: [{ topic: `${prefix}out`, partitions: [{ partition: 0, offset: String(offset) }] }],
    });
    await transaction.commit();
  }
  await producer.disconnect();
  return asked;
}

describe('a producer’s transactions', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'do not ask each time who coordinates, as kafkajs’s own do',
    () =>
      onKafka(async (_, options) => {
        const { prefix = '' } = options;
        await makeTopics(options, { topic: `${prefix}out` });
        const own = await askedIn(3, plainKafka(options), `${prefix}`);
        expect(own['GroupCoordinator']).toBeGreaterThanOrEqual(12);
        const began = performance.now();
        const ours = await askedIn(3, rememberingCoordinators(plainKafka(options)), `${prefix}`);
        // Two coordinators, once for each second that it took.
        expect(ours['GroupCoordinator']).toBeLessThanOrEqual(2 * Math.ceil((performance.now() - began) / 1_000));
        for (const name of ['AddPartitionsToTxn', 'AddOffsetsToTxn', 'TxnOffsetCommit', 'Produce', 'EndTxn'])
          expect(ours[name]).toBeGreaterThanOrEqual(3);
      }),
    testMs,
  );
});
