import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Outgoing } from '@sluice/bus';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { metadataLimit } from '../../src/kafka/commit/finished-set.js';
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
import { onKafka, standing, withProducer } from './on-broker.js';

const topics = ['agent.requests'] as const;
const kilobytes = (count: number) => 'x'.repeat(count * 1024);

describe('what a commit carries', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'point 7: the offset skips control records and aborted ones, to the end of the log',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        const handled: string[] = [];
        const transactions = numbers(10).map((first) => numbers(5, `${first}/`));
        for (const questions of transactions) {
          await bus.publish(questions.map((question) => request('s', question)));
        }
        await bus.subscribe({
          group: 'c-1',
          topics,
          handle: async (message) => {
            handled.push(questionOf(message));
            return [];
          },
        });
        const isThrough = async () => {
          const { committed, end } = await standing(options, 'c-1', 'agent.requests');
          return committed === end;
        };
        await eventually('no lag', isThrough);
        await withProducer(options, `${options.prefix}stranger`, async (producer) => {
          const transaction = await producer.transaction();
          const message = { key: 's', value: Buffer.from('{"question":"never"}') };
          await transaction.send({ topic: `${options.prefix}agent.requests`, messages: [message, message] });
          await transaction.abort();
        });
        await eventually('no lag after what was aborted', isThrough);
        expect(handled).toEqual(transactions.flat());
        // 50 records, ten commit markers, two aborted records and their marker.
        expect(await standing(options, 'c-1', 'agent.requests')).toEqual({ committed: 63, metadata: '', end: 63 });
      }),
    testMs,
  );

  it.each([
    ['one record', 1, 40],
    ['forty records at once', 40, 1],
  ])(
    'point 8: 40 outputs of 32 KB, of %s, go out in one transaction that no broker refuses',
    (_, records, each) =>
      onKafka(async (start) => {
        const { bus, said } = await start();
        const gate = deferred();
        let atWork = 0;
        let commits = 0;
        await bus.publish(numbers(records).map((question) => request(`s-${question}`, question)));
        await bus.subscribe({
          group: 'c-2',
          topics,
          handle: async (message, { afterCommit }) => {
            if (++atWork === records) gate.resolve();
            await gate.promise;
            afterCommit(() => commits++);
            return Array.from({ length: each }, () => ({ ...entry(message, kilobytes(32)), key: 'same' }) as Outgoing);
          },
        });
        await eventually('the commits', () => commits === records);
        expect(await all(bus, 'agent.audit')).toHaveLength(40);
        expect(atWork).toBe(records);
        expect(said).toEqual([]);
      }),
    testMs,
  );

  it(
    'point 8: outputs that together are larger than any transaction go out in several',
    () =>
      onKafka(async (start) => {
        const { bus, said } = await start();
        await bus.publish(numbers(20).map((question) => request(`s-${question}`, question)));
        await bus.subscribe({
          group: 'c-3',
          topics,
          handle: async (message) => [entry(message, kilobytes(900)), entry(message, kilobytes(10))],
        });
        await eventually('40 outputs', async () => (await all(bus, 'agent.audit')).length >= 40);
        expect(await all(bus, 'agent.audit')).toHaveLength(40);
        expect(said).toEqual([]);
      }),
    2 * testMs,
  );

  it(
    'point 9: near the limit of the metadata the partition pauses, and nothing that finished is ever done again',
    () =>
      onKafka(async (start, options) => {
        const { bus, said } = await start();
        const gate = deferred();
        const handled = new Map<string, number>();
        const count = 30_000;
        // Every tenth record does not end for now: all of them would leave more holes than bitmap or run lengths have
        // room for.
        const questions = numbers(count);
        for (let from = 0; from < count; from += 3_000) {
          await bus.publish(
            questions.slice(from, from + 3_000).map((question) => request(`s-${Number(question) % 1_500}`, question)),
          );
        }
        await bus.subscribe({
          group: 'c-4',
          topics,
          maxInFlight: 3_000,
          handle: async (message) => {
            const question = questionOf(message);
            handled.set(question, (handled.get(question) ?? 0) + 1);
            if (Number(question) % 10 === 0) await gate.promise;
            return [];
          },
        });
        let largest = 0;
        let before = -1;
        await eventually('a pause', async () => {
          const { metadata } = await standing(options, 'c-4', 'agent.requests');
          largest = Math.max(largest, Buffer.byteLength(metadata));
          const paused = handled.size === before && handled.size > 1_000;
          before = handled.size;
          await delay(500);
          return paused;
        });
        expect(handled.size).toBeLessThan(count);
        gate.resolve();
        await eventually('all of them', () => handled.size === count);
        await eventually('no lag', async () => {
          const { committed, end } = await standing(options, 'c-4', 'agent.requests');
          return committed === end;
        });
        expect(largest).toBeGreaterThan(1_000);
        expect(largest).toBeLessThanOrEqual(metadataLimit);
        expect([...handled.values()].filter((times) => times > 1)).toEqual([]);
        expect(said).toEqual([]);
      }),
    2 * testMs,
  );

  it(
    'point 9: what was aborted near the limit is skipped when there is room for it',
    () =>
      onKafka(async (start, options) => {
        const { bus, said } = await start();
        const [gate, first] = [deferred(), deferred()];
        const handled = new Map<string, number>();
        const count = 24_000;
        const questions = numbers(count);
        for (let from = 0; from < count; from += 3_000) {
          await bus.publish(
            questions.slice(from, from + 3_000).map((question) => request(`s-${Number(question) % 1_500}`, question)),
          );
        }
        await bus.subscribe({
          group: 'c-6',
          topics,
          maxInFlight: 3_000,
          handle: async (message) => {
            const question = questionOf(message);
            handled.set(question, (handled.get(question) ?? 0) + 1);
            if (Number(question) % 10 === 0) await (Number(question) % 1_500 === 750 ? first : gate).promise;
            return [];
          },
        });
        // Of those that do not end the first of each session is at work, the others wait behind it.
        const inTurn = count - (count / 1_500 - 1) * 150;
        await eventually('what can be done', () => handled.size === inTurn);
        await withProducer(options, `${options.prefix}stranger`, async (producer) => {
          const transaction = await producer.transaction();
          const message = { key: 's', value: Buffer.from('{"question":"never"}') };
          await transaction.send({ topic: `${options.prefix}agent.requests`, messages: Array(1_000).fill(message) });
          await transaction.abort();
        });
        await delay(1_000);
        first.resolve();
        await eventually('one session more', () => handled.size === inTurn + count / 1_500 - 1);
        await delay(2_000);
        const { metadata } = await standing(options, 'c-6', 'agent.requests');
        gate.resolve();
        await eventually('no lag', async () => {
          const { committed, end } = await standing(options, 'c-6', 'agent.requests');
          return committed === end;
        });
        expect(handled.size).toBe(count);
        expect(Buffer.byteLength(metadata)).toBeGreaterThan(3_500);
        expect([...handled.values()].filter((times) => times > 1)).toEqual([]);
        expect(said).toEqual([]);
      }),
    2 * testMs,
  );

  it(
    'point 12: commits follow each other without waiting for the markers of the one before, and without a word in the log',
    () =>
      onKafka(async (start) => {
        const { bus, said } = await start();
        let commits = 0;
        let handled = 0;
        await bus.subscribe({
          group: 'c-5',
          topics,
          maxInFlight: 1,
          handle: async (message, { afterCommit }) => {
            handled++;
            afterCommit(() => commits++);
            return [entry(message)];
          },
        });
        await bus.publish(numbers(100).map((question) => request('s', question)));
        await eventually('100 commits', () => commits === 100);
        expect(handled).toBe(100);
        expect(await entries(bus)).toEqual(numbers(100));
        expect(said).toEqual([]);
      }),
    testMs,
  );

  it(
    'what leaves nothing waits for a transaction to go with, and not for long',
    () =>
      onKafka(async (start, options) => {
        const { bus, said } = await start();
        let [handled, transactions] = [0, 0];
        await bus.subscribe({
          group: 'c-6',
          topics,
          observer: { transaction: () => transactions++, rebalanced: () => undefined },
          handle: async (message) => {
            handled++;
            return questionOf(message) === 'said' ? [entry(message)] : [];
          },
        });
        const publish = async (question: string): Promise<void> => {
          const before = handled;
          await bus.publish([request('s', question)]);
          await eventually('it is handled', () => handled > before);
        };
        const began = performance.now();
        for (const question of numbers(11)) await publish(question);
        await publish('said');
        await eventually('what was said', async () => (await entries(bus)).length === 1);
        // One for what was said and perhaps one under way, however slow it goes; the others come a second apart.
        expect(transactions).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);
        await eventually('no lag', async () => {
          const { committed, end } = await standing(options, 'c-6', 'agent.requests');
          return committed === end;
        });
        await publish('the last');
        await eventually('no lag, though nothing else comes', async () => {
          const { committed, end } = await standing(options, 'c-6', 'agent.requests');
          return committed === end;
        });
        expect(said).toEqual([]);
      }),
    testMs,
  );
});
