import { beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import type { Handler, KafkaBusOptions } from '@sluice/bus';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { makerOf } from '../../src/kafka/kafkajs/cluster.js';
import { reportingOutOfRange } from '../../src/kafka/kafkajs/out-of-range.js';
import { TruncationCheck } from '../../src/kafka/consume/log-truncation.js';
import { eventually, grace, questionOf, request, testMs } from '../contract/harness.js';
import { makeTopics, onKafka, standing, withAdmin } from './on-broker.js';

const topics = ['agent.requests'] as const;
const nameOf = ({ prefix }: KafkaBusOptions) => `${prefix}agent.requests`;

const setBack = (options: KafkaBusOptions, group: string, offset: number) =>
  withAdmin(options, (admin) =>
    admin.setOffsets({
      groupId: options.prefix + group,
      topic: nameOf(options),
      partitions: [{ partition: 0, offset: String(offset) }],
    }),
  );

async function madeAnew(options: KafkaBusOptions): Promise<void> {
  const name = nameOf(options);
  await withAdmin(options, async (admin) => {
    await admin.deleteTopics({ topics: [name] });
    await eventually('its end', async () => !(await admin.listTopics()).includes(name));
  });
  await makeTopics(options, { topic: name, numPartitions: 1, replicationFactor: 1 });
}

const collecting =
  (into: string[]): Handler =>
  (message) => {
    into.push(questionOf(message));
    return Promise.resolve([]);
  };

describe('a log that ends before what its group has finished', () => {
  describe('on a broker', () => {
    beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

    it(
      'is not read, however it grows, until the offset is set back: its new records would be skipped',
      () =>
        onKafka(async (start, options) => {
          const { bus, said } = await start();
          const handled: string[] = [];
          await setBack(options, 'c-1', 6);
          await bus.publish([request('s', 'one')]);
          const waiting = await bus.subscribe({ group: 'c-1', topics, handle: collecting(handled) });
          // A broker that has just made the topic may refuse to read it first, which is a line of its own.
          const why = /^error: The partition waits\. The log of .*\/0 ended at \d, .* has finished 6/;
          await eventually('it says so', () => said.some((line) => why.test(line)));
          expect(waiting.standing.trouble).toMatch(/set the offset of the group back/);
          await expect(bus.check()).rejects.toThrow(/new records at finished offsets would be skipped/);
          for (const question of ['two', 'three', 'four', 'five', 'six', 'seven', 'eight']) {
            await bus.publish([request('s', question)]);
            const seen = said.length;
            // The next look may have begun before; the one after that sees a log that grew and is still too short.
            if (question === 'two') await eventually('it is looked at twice', () => said.length > seen + 1);
          }
          const seen = said.length;
          await eventually('and once more', () => said.length > seen);
          expect(handled).toEqual([]);
          expect(waiting.standing.partitions).toBe(0);
          expect(await standing(options, 'c-1', 'agent.requests')).toMatchObject({ committed: 6 });

          await waiting.stop(0);
          await setBack(options, 'c-1', 0);
          const consumer = await bus.subscribe({ group: 'c-1', topics, handle: collecting(handled) });
          await eventually('all of it', () => handled.length === 8);
          expect(consumer.standing.trouble).toBeUndefined();
        }),
      testMs,
    );

    it(
      'a topic that is created again while it is read is read from its beginning, or it is said that it is not',
      () =>
        onKafka(async (start, options) => {
          const { bus, said } = await start();
          const handled: string[] = [];
          await bus.publish([...'abcdefgh'].map((question) => request(question, question)));
          await bus.subscribe({ group: 'c-2', topics, handle: collecting(handled) });
          await eventually('the old ones', () => handled.length === 8);
          await eventually('their commit', async () => {
            const { committed, end } = await standing(options, 'c-2', 'agent.requests');
            return committed === end;
          });
          await madeAnew(options);
          const other = await start();
          await other.bus.publish([request('n', 'new')]);
          // Who commits once more between the end of the old topic and the new one has finished what is not there.
          const told = () => said.some((line) => /records were lost, or the topic was created again/.test(line));
          await eventually('the new one, or word of it', () => handled.includes('new') || told());
          await grace();
          expect(handled).toHaveLength(told() ? 8 : 9);
        }),
      testMs,
    );

    it(
      'is begun again by a follower, who would else see nothing until there is as much as before',
      () =>
        onKafka(async (start, options) => {
          const { bus } = await start();
          await bus.publish([...'abc'].map((question) => request('s', question)));
          const seen: string[] = [];
          const ending = new AbortController();
          const following = (async () => {
            const reading = bus.read(topics, { from: 'start', follow: true, signal: ending.signal });
            for await (const message of reading) seen.push(questionOf(message));
          })();
          await eventually('the old ones', () => seen.length === 3);
          await madeAnew(options);
          const other = await start();
          await other.bus.publish([request('s', 'new')]);
          await eventually('the new one', () => seen.length === 4);
          await other.bus.publish([request('s', 'newer')]);
          await eventually('what follows it', () => seen.length === 5);
          expect(seen).toEqual(['a', 'b', 'c', 'new', 'newer']);
          ending.abort();
          await following;
        }),
      testMs,
    );
  });

  it('nothing is committed where the log has nothing at an offset: the owner is asked instead', async () => {
    const asked: string[] = [];
    const client = reportingOutOfRange(
      new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING }),
      (topic, partition) => Promise.resolve(void asked.push(`${topic}/${partition}`)),
    );
    const commits: unknown[] = [];
    const manager = (cluster: object) => {
      const made = Object.create(OffsetManager.prototype) as OffsetManager & Record<string, unknown>;
      const coordinator = {
        isConnected: () => true,
        offsetCommit: (what: unknown) => Promise.resolve(void commits.push(what)),
      };
      const own = { topicConfigurations: {}, memberAssignment: {}, topics: [], resolvedOffsets: { t: {} } };
      return Object.assign(made, { cluster, coordinator, committedOffsets: () => ({ t: {} }), ...own });
    };
    await manager(makerOf(client).make({})).setDefaultOffset({ topic: 't', partition: 3 });
    expect(asked).toEqual(['t/3']);
    expect(commits).toEqual([]);
    // Somebody else’s consumers in the process are let be.
    await manager({ defaultOffset: () => -2 }).setDefaultOffset({ topic: 't', partition: 3 });
    expect(commits).toHaveLength(1);
  });

  it('a leader that was behind is believed when it has all of it, and a log that grew is not when it is long enough', () => {
    const short = /ended at 4, and the group g has finished 9/;
    const behind = new TruncationCheck();
    expect(() => behind.assert('g', 't/0', 9, 4)).toThrow(short);
    expect(() => behind.assert('g', 't/0', 9, 4)).toThrow(short);
    behind.assert('g', 't/0', 9, 9);
    const cut = new TruncationCheck();
    expect(() => cut.assert('g', 't/0', 9, 4)).toThrow(short);
    expect(() => cut.assert('g', 't/0', 9, 5)).toThrow(short);
    expect(() => cut.assert('g', 't/0', 9, 12)).toThrow(short);
    cut.assert('g', 't/0', 4, 12);
    cut.assert('g', 't/0', 9, 12);
  });
});
