import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Handler, Incoming } from '@sluice/bus';
import { infra, own, startTimeout } from '../../../../test/infra/client.ts';
import type { Owned } from '../../../../test/infra/client.ts';
import { deferred, entries, entry, eventually, grace, numbers, questionOf, request } from '../contract/harness.js';
import { muteServer } from './away.js';
import { onKafka } from './on-broker.js';

const topics = ['agent.requests'] as const;
const outageMs = 150_000;

describe('a broker that goes away', () => {
  let broker: Owned<'kafka'>;
  beforeAll(async () => {
    [broker] = await Promise.all([own('kafka'), infra('registry')]);
  }, startTimeout);
  afterAll(() => broker.release());

  const onOwn = (work: Parameters<typeof onKafka>[0]) =>
    onKafka(work, { brokers: broker.address.brokers, topics: { partitions: 2, replication: 1 } });

  it.each([
    ['ends', () => broker.stop()],
    ['is killed', () => broker.kill()],
  ])(
    'and %s in the middle of work: nothing is lost or done twice, and all goes on when it is back',
    (_, end) =>
      onOwn(async (start) => {
        const { bus, logged } = await start();
        const gate = deferred();
        const sessions = numbers(12, 's-');
        const followed: string[] = [];
        const ending = new AbortController();
        const runs = new Map<string, number>();
        const handle: Handler = async (message) => {
          const question = questionOf(message);
          runs.set(question, (runs.get(question) ?? 0) + 1);
          if (question.startsWith('slow')) await gate.promise;
          await delay(5);
          return [entry(message)];
        };
        const failures: Error[] = [];
        const following = (async () => {
          const read = bus.read(['agent.audit'], { from: 'start', follow: true, signal: ending.signal });
          for await (const { record } of read) followed.push(record.details);
        })();
        const consumer = await bus.subscribe({ group: 'outage', topics, handle });
        void consumer.failed.then((error) => failures.push(error));
        await bus.publish(sessions.map((session) => request(session, `before ${session}`)));
        await eventually('the first dozen', async () => (await entries(bus)).length >= 12);
        await bus.publish(sessions.map((session) => request(session, `slow ${session}`)));
        await eventually('slow work', () => runs.size === 24);

        await end();
        await expect(bus.check()).rejects.toThrow(/^The log cannot be used: Kafka at 127\.0\.0\.1:\d+ /);
        gate.resolve();
        await delay(6_000);
        await broker.start();

        await eventually('the slow ones', async () => (await entries(bus)).length >= 24);
        await bus.publish(sessions.map((session) => request(session, `after ${session}`)));
        await eventually('the last dozen', async () => (await entries(bus)).length >= 36);
        await grace();
        for (const session of sessions) {
          const expected = ['before', 'slow', 'after'].map((word) => `${word} ${session}`);
          expect(await entries(bus, session)).toEqual(expected);
        }
        await eventually('all followed', () => followed.length >= 36);
        expect(new Set(followed).size).toBe(36);
        await eventually('health', () =>
          bus.check().then(
            () => true,
            () => false,
          ),
        );
        expect(failures).toEqual([]);
        expect(logged.join('\n')).toMatch(/tried again|goes on when it is back|acquired again/);
        ending.abort();
        await following;
      }),
    outageMs,
  );

  it(
    'and says nothing for longer than all its time limits: the same',
    () =>
      onOwn(async (start) => {
        const { bus } = await start();
        const seen: Incoming[] = [];
        const handle: Handler = async (message) => {
          seen.push(message);
          await delay(50);
          return [entry(message)];
        };
        await bus.subscribe({ group: 'silence', topics, handle });
        const questions = numbers(200);
        await bus.publish(questions.map((question) => request(`s-${Number(question) % 4}`, question)));
        await eventually('some work', () => seen.length > 20);
        await broker.pause();
        await delay(15_000);
        await broker.resume();
        await eventually('all outputs', async () => (await entries(bus)).length >= 200);
        await grace();
        for (let session = 0; session < 4; session++) {
          const expected = questions.filter((question) => Number(question) % 4 === session);
          expect(await entries(bus, `s-${session}`)).toEqual(expected);
        }
      }),
    outageMs,
  );

  it(
    'while what stands in its place takes connections and never answers, for longer than a consumer may seem dead: the same',
    () =>
      onOwn(async (start) => {
        const { bus } = await start();
        const failures: Error[] = [];
        const handle: Handler = async (message) => [entry(message)];
        const consumer = await bus.subscribe({ group: 'mute', topics, handle });
        void consumer.failed.then((error) => failures.push(error));
        await bus.publish([request('s', 'before')]);
        await eventually('the first output', async () => (await entries(bus)).length >= 1);
        await broker.kill();
        const mute = await muteServer(Number(broker.address.brokers[0]?.split(':')[1]));
        await delay(25_000);
        await mute.close();
        await broker.start();
        await bus.publish([request('s', 'after')]);
        await eventually(
          'the second output, or the end',
          async () => failures.length > 0 || (await entries(bus)).length >= 2,
        );
        expect(failures).toEqual([]);
        expect(await entries(bus)).toEqual(['before', 'after']);
      }),
    outageMs,
  );

  it(
    'while a client publishes: what was said to be on the log is there, in order, and nothing twice that was not sent twice',
    () =>
      onOwn(async (start) => {
        const { bus } = await start();
        const sure: string[] = [];
        let asked = 0;
        const publishing = (async () => {
          for (const question of numbers(400)) {
            asked++;
            try {
              await bus.publish([request('p', question), request('q', question)]);
              sure.push(question);
            } catch (error) {
              expect(error).toMatchObject({ code: 'storage', retryable: true });
            }
            await delay(10);
          }
        })();
        await eventually('some', () => sure.length > 50);
        await broker.restart();
        await publishing;
        const found: Record<string, string[]> = { p: [], q: [] };
        for await (const message of bus.read(topics, { from: 'start' })) found[message.key]?.push(questionOf(message));
        expect(asked).toBe(400);
        expect(sure.length).toBeGreaterThan(300);
        expect(found['p']).toEqual(found['q']);
        const once = [...new Set(found['p'])];
        expect(once).toEqual(found['p']);
        expect(once.filter((question) => sure.includes(question))).toEqual(sure);
      }),
    outageMs,
  );
});
