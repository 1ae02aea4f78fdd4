import { beforeAll, describe, expect, it } from '@jest/globals';
import { Partitioners } from 'kafkajs';
import createSendMessages from 'kafkajs/src/producer/sendMessages.js';
import createRetry from 'kafkajs/src/retry/index.js';
import type { Producer, RecordMetadata, TopicMessages } from 'kafkajs';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { isPassing } from '../../src/kafka/failure.js';
import { Placement } from '../../src/kafka/placement.js';
import { numbers, testMs } from '../contract/harness.js';
import { makeTopics, onKafka, plainKafka, withAdmin } from './on-broker.js';

const partitions = 3;

/** What a producer of kafkajs does with a send, over brokers of our own. */
interface Brokers {
  /** Answers, or fails, when the n-th request of the broker comes. */
  produce(leader: number, nth: number): Promise<void>;
  /** Who leads a partition in the n-th attempt, from 0. */
  leaderOf(partition: number, attempt: number): number;
}

/** kafkajs’s own code between sendBatch and the brokers. Returns how it went, and which partitions’ records each broker got how often. */
async function sending(brokers: Brokers, placement: Placement, sent: TopicMessages) {
  const got: string[] = [];
  const counts = new Map<number, number>();
  let attempt = -1;
  const fail = Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError', retriable: true });
  const nodes = [0, 1, 2].map((nodeId) => ({
    nodeId,
    produce: async ({ topicData }: { topicData: { topic: string; partitions: { partition: number }[] }[] }) => {
      const asked = topicData.flatMap(({ partitions: of }) => of.map(({ partition }) => partition));
      got.push(...asked.map((partition) => `${nodeId}: ${partition}`));
      const nth = counts.get(nodeId) ?? 0;
      counts.set(nodeId, nth + 1);
      await brokers.produce(nodeId, nth).catch(() => {
        throw fail;
      });
      const answered = asked.map((partition) => ({ partition, errorCode: 0 }));
      return { topics: [{ topicName: sent.topic, partitions: answered }] };
    },
  }));
  const metadata = () =>
    numbers(partitions).map((id) => ({
      partitionId: Number(id),
      leader: brokers.leaderOf(Number(id), Math.max(attempt, 0)),
    }));
  const cluster = {
    targetTopics: new Set(),
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(void attempt++),
    refreshMetadata: () => Promise.resolve(),
    isConnected: () => true,
    removeBroker: () => undefined,
    findTopicPartitionMetadata: metadata,
    findBroker: ({ nodeId }: { nodeId: string }) => Promise.resolve(nodes[Number(nodeId)]),
    findLeaderForPartitions: (_: string, wanted: string[]) => {
      const led: Record<string, number[]> = {};
      for (const id of wanted) (led[brokers.leaderOf(Number(id), attempt)] ??= []).push(Number(id));
      return led;
    },
  };
  const none = { debug: () => undefined, error: () => undefined };
  const eosManager = {
    isTransactional: () => false,
    acquireBrokerLock: () => Promise.resolve(),
    releaseBrokerLock: () => Promise.resolve(),
    getSequence: () => 0,
    updateSequence: () => undefined,
    getProducerId: () => 1,
    getProducerEpoch: () => 0,
  };
  const send = createSendMessages({
    logger: none,
    cluster,
    partitioner: placement.createPartitioner(),
    eosManager,
    retrier: createRetry({ retries: 3, initialRetryTime: 1 }),
  });
  const sender = { sendBatch: send } as unknown as Producer;
  const error = await placement.send(sender, [[sent]]).catch((thrown: unknown) => thrown);
  // What an attempt left under way may still come.
  await new Promise((go) => setTimeout(go, 100));
  return { error, got: got.sort() };
}

describe('what a producer sends to several partitions', () => {
  const sent: TopicMessages = { topic: 't', messages: numbers(50).map((key) => ({ key, value: 'x' })) };
  const soon = (): Promise<void> => new Promise((go) => setTimeout(go, 30));

  it('goes to each leader once', async () => {
    const { error, got } = await sending({ produce: soon, leaderOf: (id) => id }, new Placement(), sent);
    expect(error).toBeUndefined();
    expect(got).toEqual(['0: 0', '1: 1', '2: 2']);
  });

  it('is not sent again while one broker still writes and another one has failed', async () => {
    const produce = (leader: number, nth: number) => (leader === 1 && nth === 0 ? Promise.reject(new Error()) : soon());
    const { error, got } = await sending({ produce, leaderOf: (id) => id }, new Placement(), sent);
    expect(error).toMatchObject({ name: 'PlacementError', message: expect.stringMatching(/^One of several brokers/) });
    expect(isPassing(error)).toBe(true);
    expect(got).toEqual(['0: 0', '1: 1', '2: 2']);
  });

  it('is sent again to the one broker that leads all of it, or to those that lead it now', async () => {
    const produce = (leader: number, nth: number) => (leader === 0 && nth === 0 ? Promise.reject(new Error()) : soon());
    const again = await sending({ produce, leaderOf: () => 0 }, new Placement(), sent);
    expect(again).toEqual({ error: undefined, got: ['0: 0', '0: 0', '0: 1', '0: 1', '0: 2', '0: 2'] });
    const moved = await sending(
      { produce, leaderOf: (id, attempt) => (attempt === 0 ? 0 : 1 + (id % 2)) },
      new Placement(),
      sent,
    );
    expect(moved).toEqual({ error: undefined, got: ['0: 0', '0: 1', '0: 2', '1: 0', '1: 2', '2: 1'] });
  });

  it('has not arrived if a partition never answered; that may pass', async () => {
    const placement = new Placement();
    const choose = placement.createPartitioner();
    const partitionMetadata = numbers(partitions).map((id) => ({ partitionId: Number(id), leader: 0 }) as never);
    const sendBatch = ({ topicMessages }: { topicMessages: TopicMessages[] }): Promise<RecordMetadata[]> => {
      const [{ topic, messages }] = topicMessages as [TopicMessages];
      const chosen = new Set(messages.map((message) => choose({ topic, partitionMetadata, message })));
      return Promise.resolve([...chosen].slice(1).map((partition) => ({ topicName: topic, partition, errorCode: 0 })));
    };
    const error = await placement
      .send({ sendBatch } as unknown as Producer, [[sent]])
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'PlacementError', message: expect.stringMatching(/records for t\/\d were/) });
    expect(isPassing(error)).toBe(true);
  });

  describe('on a broker', () => {
    beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

    it(
      'is answered for partition by partition, and placed as kafkajs places it',
      () =>
        onKafka(async (_, options) => {
          const topic = `${options.prefix}placed`;
          await makeTopics(options, { topic, numPartitions: partitions });
          const placement = new Placement();
          const watched = plainKafka(options).producer({ createPartitioner: placement.createPartitioner });
          const usual = plainKafka(options).producer({ createPartitioner: Partitioners.DefaultPartitioner });
          await Promise.all([watched.connect(), usual.connect()]);
          const ends = () =>
            withAdmin(options, async (admin) =>
              (await admin.fetchTopicOffsets(topic))
                .sort((a, b) => a.partition - b.partition)
                .map(({ high }) => Number(high)),
            );
          await placement.send(watched, [[{ ...sent, topic }]]);
          const once = await ends();
          await usual.sendBatch({ topicMessages: [{ ...sent, topic }] });
          await Promise.all([watched.disconnect(), usual.disconnect()]);
          expect(once.reduce((sum, end) => sum + end)).toBe(50);
          expect(await ends()).toEqual(once.map((end) => 2 * end));
        }),
      testMs,
    );
  });
});
