import { beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { EarlyOffset } from '../../src/kafka/commit/early-offset.js';
import type { OffsetCommit } from '../../src/kafka/produce/requests.js';
import type { TransactionalProducer } from '../../src/kafka/produce/transactional-producer.js';
import {
  all,
  deferred,
  entries,
  entry,
  eventually,
  numbers,
  questionOf,
  request,
  testMs,
} from '../contract/harness.js';
import { onKafka, standing } from './on-broker.js';

const at = (offset: number, metadata = '', partition = 0, generation = 1): OffsetCommit => ({
  groupId: 'g',
  member: { memberId: 'm', generation },
  offsets: [{ topic: 't', partition, offset, metadata }],
});

/** An early offset whose producer notes what it is asked for, and answers as it is told. */
function early(answers: { readonly offset?: () => Promise<void>; readonly abort?: () => Promise<void> } = {}) {
  const asked: string[] = [];
  const failures: unknown[] = [];
  const producer = {
    sendOffsets: ({ offsets }: OffsetCommit) => {
      asked.push(`offset ${offsets.map(({ offset }) => offset).join()}`);
      return answers.offset?.() ?? Promise.resolve();
    },
    abort: () => (asked.push('abort'), answers.abort?.() ?? Promise.resolve()),
  } as unknown as TransactionalProducer;
  return { asked, failures, offset: new EarlyOffset({ producer, failed: (error) => failures.push(error) }) };
}

/** Longer than a transaction is kept open. */
const tooLong = () => delay(120);

describe('an offset that goes ahead', () => {
  it('is in the transaction if it is the one that is due, once the broker has answered', async () => {
    const answer = deferred();
    const { offset, asked } = early({ offset: () => answer.promise });
    offset.begin(at(5, 'm'));
    let taken: boolean | undefined;
    const taking = offset.take(at(5, 'm')).then((value) => (taken = value));
    await delay(10);
    expect(taken).toBeUndefined();
    answer.resolve();
    await taking;
    expect(taken).toBe(true);
    expect(await offset.take(at(5, 'm'))).toBe(false);
    await tooLong();
    expect(asked).toEqual(['offset 5']);
  });

  it.each([
    ['another one is due', at(6)],
    ['other metadata are', at(5, 'm')],
    ['the group has given out its partitions since', at(5, '', 0, 2)],
  ])('counts for nothing if %s', async (_, due) => {
    const { offset, asked } = early();
    offset.begin(at(5));
    expect(await offset.take(due)).toBe(false);
    expect(asked).toEqual(['offset 5']);
  });

  it('is not left in a transaction of other partitions', async () => {
    const { offset, asked } = early();
    offset.begin(at(5));
    expect(await offset.take(at(7, '', 1))).toBe(false);
    expect(asked).toEqual(['offset 5', 'abort']);
    const both = early();
    both.offset.begin(at(5));
    expect(await both.offset.take({ ...at(4), offsets: [...at(4).offsets, ...at(7, '', 1).offsets] })).toBe(false);
    expect(both.asked).toEqual(['offset 5']);
  });

  it('counts for nothing if the broker refused it', async () => {
    const { offset } = early({ offset: () => Promise.reject(new Error('closed')) });
    offset.begin(at(5));
    expect(await offset.take(at(5))).toBe(false);
  });

  it('is aborted after a while, and the producer is free again when that is through', async () => {
    const aborting = deferred();
    const { offset, asked, failures } = early({ abort: () => aborting.promise });
    offset.begin(at(5));
    await tooLong();
    expect(asked).toEqual(['offset 5', 'abort']);
    let taken: boolean | undefined;
    const taking = offset.take(at(5)).then((value) => (taken = value));
    // Nothing is begun meanwhile.
    offset.begin(at(6));
    await delay(10);
    expect(taken).toBeUndefined();
    aborting.resolve();
    await taking;
    expect(taken).toBe(false);
    expect(asked).toEqual(['offset 5', 'abort']);
    expect(failures).toEqual([]);
  });

  it('has no transaction to abort if the markers of the one before were in the way', async () => {
    const concurrent = Object.assign(new Error('concurrent'), { type: 'CONCURRENT_TRANSACTIONS' });
    const { offset, asked } = early({ offset: () => Promise.reject(concurrent) });
    offset.begin(at(5));
    await tooLong();
    expect(asked).toEqual(['offset 5']);
  });

  it('says so if it could not be aborted: the transaction’s state is unknown, and nothing may follow in it', async () => {
    const error = new Error('closed');
    const { offset, failures } = early({ abort: () => Promise.reject(error) });
    offset.begin(at(5));
    await tooLong();
    expect(failures).toEqual([error]);
    const aborting = deferred();
    const slow = early({ abort: () => aborting.promise.then(() => Promise.reject(error)) });
    slow.offset.begin(at(5));
    await tooLong();
    const taking = slow.offset.take(at(5));
    aborting.resolve();
    await expect(taking).rejects.toBe(error);
    expect(slow.failures).toEqual([error]);
  });

  it('ends the transaction if it is unknown whether it is there and another one is due: it might come after that', async () => {
    const { offset, asked } = early({ offset: () => Promise.reject(new Error('closed')) });
    offset.begin(at(5));
    expect(await offset.take(at(6))).toBe(false);
    expect(asked).toEqual(['offset 5', 'abort']);
  });

  it('is left to the next owner to fence when the partition is lost', async () => {
    const { offset, asked } = early();
    offset.begin(at(5));
    await offset.drop();
    await tooLong();
    expect(asked).toEqual(['offset 5']);
  });

  describe('on a broker', () => {
    beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

    it(
      'loses and repeats nothing, whether records are as quick as the ones before or not, and whether they leave something',
      () =>
        onKafka(async (start, options) => {
          const { bus, said } = await start();
          const handled: string[] = [];
          await bus.subscribe({
            group: 'e-1',
            topics: ['agent.requests'],
            handle: async (message) => {
              const question = questionOf(message);
              handled.push(question);
              if (question.endsWith('slow')) await tooLong();
              return question.endsWith('silent') ? [] : [entry(message, question)];
            },
          });
          const questions = numbers(60).map(
            (n) => `${n} ${['quick', 'quick', 'slow', 'quick', 'silent'][Number(n) % 5]}`,
          );
          for (const [index, question] of questions.entries()) {
            await bus.publish([request(`s-${index % 3}`, question)]);
            await eventually(question, () => handled.includes(question));
            // Some come while the one before is still being committed.
            if (index % 2 === 0) await delay(30);
          }
          const left = questions.filter((question) => !question.endsWith('silent'));
          await eventually('all outputs', async () => (await all(bus, 'agent.audit')).length >= left.length);
          await eventually('no lag', async () => {
            const { committed, end } = await standing(options, 'e-1', 'agent.requests');
            return committed === end;
          });
          expect(handled).toEqual(questions);
          expect((await entries(bus)).map(String).sort()).toEqual(left.sort());
          expect(said).toEqual([]);
        }),
      testMs,
    );
  });
});
