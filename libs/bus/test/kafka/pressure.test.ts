import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Handler } from '@sluice/bus';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import {
  deferred,
  entries,
  entry,
  eventually,
  grace,
  numbers,
  questionOf,
  request,
  testMs,
} from '../contract/harness.js';
import { onKafka, withAdmin } from './on-broker.js';

const topics = ['agent.requests'] as const;

describe('a partition under pressure', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'point 10: pauses when too many bytes wait behind a session that is stuck; the other partitions go on, and later it does too',
    () =>
      onKafka(
        async (start) => {
          const { bus, said, members } = await start();
          const gate = deferred();
          const handled: string[] = [];
          const large = 'x'.repeat(900 * 1024);
          const others = numbers(60, 'o-');
          for (const number of numbers(40)) await bus.publish([request('stuck', number + large)]);
          const consumer = await bus.subscribe({
            group: 'b-1',
            topics,
            handle: async (message) => {
              handled.push(message.key);
              if (message.key === 'stuck') await gate.promise;
              return [entry(message, questionOf(message).slice(0, 4))];
            },
          });
          await eventually('the stuck one at work', () => handled.length === 1);
          await grace();
          await eventually('a pause', () => members.some((member) => member.paused().length === 1));
          expect(handled).toEqual(['stuck']);
          await bus.publish(others.map((session) => request(session, session)));
          // By their keys about two thirds of them are on other partitions.
          await eventually('others', () => handled.length > 30 && consumer.inFlight === 1);
          await grace();
          expect(handled.length).toBeLessThan(61);
          expect(consumer.inFlight).toBe(1);
          gate.resolve();
          await eventually('all of them', () => handled.length === 100);
          await eventually('100 outputs', async () => (await entries(bus)).length >= 100);
          expect((await entries(bus, 'stuck')).map((text) => text.replace(/x+/, ''))).toEqual(numbers(40));
          expect(said).toEqual([]);
        },
        { topics: { partitions: 3, replication: 1 } },
      ),
    2 * testMs,
  );

  it.each([
    [1, 12],
    // Half of the limit for whoever comes first, and each one's share of the other.
    [8, 27],
  ])(
    'and holds no more than some large records in work at once, of however many sessions: on %i partitions less than %i',
    (partitions, most) =>
      onKafka(
        async (start) => {
          const { bus } = await start();
          const gate = deferred();
          const large = 'x'.repeat(900 * 1024);
          const sessions = numbers(80, 's-');
          for (const session of sessions) await bus.publish([request(session, large)]);
          let begun = 0;
          const handle: Handler = async (message) => {
            begun++;
            await gate.promise;
            return [entry(message, 'done')];
          };
          await bus.subscribe({ group: 'b-3', topics, handle });
          await eventually('work', () => begun > 8);
          await grace();
          expect(begun).toBeLessThan(most);
          gate.resolve();
          await eventually('the rest', async () => (await entries(bus)).length >= sessions.length);
          expect(begun).toBe(sessions.length);
        },
        { topics: { partitions, replication: 1 } },
      ),
    testMs,
  );

  it(
    'point 11: work that takes longer than the session timeout keeps its membership, also when every partition is paused',
    () =>
      onKafka(
        async (start, options) => {
          const [one, two] = [await start(), await start()];
          const runs: string[] = [];
          const joined: unknown[] = [];
          const handle: Handler = async (message) => {
            runs.push(questionOf(message).slice(0, 3));
            await delay(9_000);
            return [entry(message)];
          };
          const questions = numbers(8);
          for (const { bus } of [one, two]) {
            await bus.subscribe({ group: 'b-2', topics, handle, maxInFlight: 4 });
          }
          await one.bus.publish(questions.map((question) => request(question, question)));
          await eventually('work at both', () => runs.length >= 6);
          for (const member of [...one.members, ...two.members]) {
            member.on(member.events.GROUP_JOIN, (event) => joined.push(event));
          }
          for (const number of numbers(30)) {
            await one.bus.publish(numbers(2).map((key) => request(key, `later ${number} ${'x'.repeat(450_000)}`)));
          }
          await eventually('the outputs', async () => (await entries(one.bus)).length >= 6);
          await delay(2_000);
          expect(joined).toEqual([]);
          const { groups } = await withAdmin(options, (admin) => admin.describeGroups([`${options.prefix}b-2`]));
          expect(groups[0]?.members).toHaveLength(2);
          for (const question of questions) expect(runs.filter((run) => run === question).length).toBeLessThan(2);
        },
        { topics: { partitions: 2, replication: 1 } },
      ),
    testMs,
  );
});
