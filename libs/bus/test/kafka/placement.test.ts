import { beforeAll, describe, expect, it } from '@jest/globals';
import { Partitioners } from 'kafkajs';
import type { Producer, RecordMetadata, TopicMessages } from 'kafkajs';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { isPassing } from '../../src/kafka/failure.js';
import { Placement } from '../../src/kafka/placement.js';
import { numbers, testMs } from '../contract/harness.js';
import { makeTopics, onKafka, plainKafka, withAdmin } from './on-broker.js';

const partitions = 3;

describe('what a producer sends to several partitions', () => {
  const sent: TopicMessages = { topic: 't', messages: numbers(50).map((key) => ({ key, value: 'x' })) };

  /** A producer that places each record as kafkajs does, and answers as it would after a retry. */
  function answering(placement: Placement, change: (answers: RecordMetadata[]) => RecordMetadata[]): Producer {
    const choose = placement.createPartitioner();
    const partitionMetadata = numbers(partitions).map((id) => ({ partitionId: Number(id), leader: 0 }) as never);
    const sendBatch = ({ topicMessages }: { topicMessages: TopicMessages[] }): Promise<RecordMetadata[]> => {
      const places = new Map<string, RecordMetadata>();
      for (const { topic, messages } of topicMessages) {
        for (const message of messages) {
          const partition = choose({ topic, partitionMetadata, message });
          places.set(`${topic}/${partition}`, { topicName: topic, partition, errorCode: 0 });
        }
      }
      return Promise.resolve(change([...places.values()]));
    };
    return { sendBatch } as unknown as Producer;
  }

  const outcome = async (change: (answers: RecordMetadata[]) => RecordMetadata[]): Promise<unknown> => {
    const placement = new Placement();
    return placement.send(answering(placement, change), [[sent], [sent]]).catch((error: unknown) => error);
  };

  it('has arrived if each partition answered once', async () => {
    expect(await outcome((answers) => answers)).toBeUndefined();
  });

  it.each<[string, (answers: RecordMetadata[]) => RecordMetadata[], RegExp]>([
    ['one of them never answered: its records were left out', (answers) => answers.slice(1), /records for t\/\d were/],
    ['one of them answered twice', (answers) => [...answers, ...answers.slice(0, 1)], /written twice/],
  ])('has not if %s; that may pass', async (_, change, sentence) => {
    const error = await outcome(change);
    expect(error).toMatchObject({ name: 'PlacementError', message: expect.stringMatching(sentence) });
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
