import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Producer, Transaction } from 'kafkajs';
import type { KafkaBusOptions } from '@sluice/bus';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { deferred, entries, entry, eventually, questionOf, testMs } from '../contract/harness.js';
import { onKafka, withProducer } from './on-broker.js';

const topics = ['agent.requests'] as const;

describe('records of transactions that were aborted', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  /**
   * Three writers of one partition: two begin, one after the other, and are aborted in the other order; the third one
   * commits.
   */
  async function interleaved({ prefix, ...options }: KafkaBusOptions): Promise<void> {
    const topic = `${prefix}agent.requests`;
    const say = (transaction: Transaction | Producer, question: string) =>
      transaction.send({ topic, messages: [{ key: 's', value: JSON.stringify({ question }) }] });
    const writer = (name: string, use: (producer: Producer) => Promise<void>) =>
      withProducer({ ...options, prefix }, `${prefix}${name}`, use);
    await writer('a', (a) =>
      writer('b', async (b) => {
        const [first, second] = [await a.transaction(), await b.transaction()];
        await say(first, 'aborted later');
        await say(second, 'aborted sooner');
        await second.abort();
        await say(first, 'aborted as well');
        await first.abort();
      }),
    );
    await writer('c', async (c) => {
      const last = await c.transaction();
      await say(last, 'committed');
      await last.commit();
    });
  }

  it(
    'are not handled, however the transactions were interleaved',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        await interleaved(options);
        const handled: string[] = [];
        await bus.subscribe({
          group: 'aborted',
          topics,
          handle: async (message) => {
            handled.push(questionOf(message));
            return [entry(message)];
          },
        });
        await eventually('what was committed', async () => (await entries(bus)).includes('committed'));
        expect(handled).toEqual(['committed']);
      }),
    testMs,
  );

  it(
    'are not read, wherever the reading begins',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        await interleaved(options);
        for (let offset = 0; offset < 6; offset++) {
          const read: string[] = [];
          for await (const message of bus.read(topics, { from: { offset } })) read.push(questionOf(message));
          expect([offset, read]).toEqual([offset, ['committed']]);
        }
      }),
    testMs,
  );

  it(
    'are not given to who follows while they are still open',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        const ending = new AbortController();
        const seen = deferred();
        const read: string[] = [];
        const following = (async () => {
          for await (const message of bus.read(topics, { from: 'start', follow: true, signal: ending.signal })) {
            read.push(questionOf(message));
            seen.resolve();
          }
        })();
        await interleaved(options);
        await seen.promise;
        ending.abort();
        await following;
        expect(read).toEqual(['committed']);
      }),
    testMs,
  );
});
