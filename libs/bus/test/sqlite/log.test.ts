import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import {
  all,
  deferred,
  entries,
  entry,
  eventually,
  grace,
  numbers,
  questionOf,
  request,
  requestRecord,
  testMs,
} from '../contract/harness.js';
import { onBus, openOn } from './on-file.js';

describe('the log in a file', () => {
  it(
    'keeps a session in order over all topics of a subscription',
    () =>
      onBus(async (bus) => {
        const seen: number[] = [];
        let running = 0;
        await bus.publish([request('s', 'source')]);
        const source = (await all(bus, 'agent.requests'))[0] as Incoming;
        for (let index = 1; index < 20; index++) {
          await bus.publish([index % 2 === 0 ? request('s', String(index)) : entry(source, String(index))]);
        }
        await bus.subscribe({
          group: 'g',
          topics: ['agent.audit', 'agent.requests'],
          handle: async (message) => {
            expect(++running).toBe(1);
            await delay(Math.random() * 5);
            running--;
            const text = message.topic === 'agent.audit' ? message.record.details : questionOf(message);
            seen.push(Number(text === 'source' ? 0 : text));
            return [];
          },
        });
        await eventually('20 records', () => seen.length >= 20);
        expect(seen).toEqual(numbers(20).map(Number));
      }),
    testMs,
  );

  it(
    'reads several topics in the order in which they were written',
    () =>
      onBus(async (bus) => {
        await bus.publish([request('s', '0')]);
        const source = (await all(bus, 'agent.requests'))[0] as Incoming;
        await bus.publish([entry(source, '1'), request('s', '2'), entry(source, '3')]);
        await bus.publish([request('s', '4')]);
        const found = await all(bus, 'agent.audit', 'agent.requests');
        const texts = found.map((message) =>
          message.topic === 'agent.audit' ? message.record.details : message.record.question,
        );
        expect(texts).toEqual(numbers(5));
      }),
    testMs,
  );

  it(
    'runs requests that name no session and have no key side by side',
    () =>
      onBus(async (bus) => {
        const gate = deferred();
        let running = 0;
        await bus.publish(
          numbers(3).map((question) => ({ topic: 'agent.requests', key: '', record: requestRecord(null, question) })),
        );
        await bus.subscribe({
          group: 'g',
          topics: ['agent.requests'],
          handle: async () => {
            running++;
            await gate.promise;
            return [];
          },
        });
        await eventually('three at once', () => running === 3);
        gate.resolve();
      }),
    testMs,
  );

  it(
    'wakes a consumer for what another bus on the file writes',
    () =>
      onBus(async (bus, file) => {
        const other = await openOn(file);
        await bus.subscribe({ group: 'g', topics: ['agent.requests'], handle: async (message) => [entry(message)] });
        await other.publish([request('s', 'from outside')]);
        await eventually('the output', async () => (await entries(other)).length > 0);
        expect(await entries(other)).toEqual(['from outside']);
        await other.close();
      }),
    testMs,
  );

  it(
    'trims what is old and never gives its offsets out again',
    () => {
      let now = 1_000;
      return onBus(
        async (bus) => {
          for (now of [1_000, 2_000, 3_000])
            await bus.publish(numbers(3).map((question) => request('s', `${now}/${question}`)));
          expect(await bus.trim('agent.requests', 2_500)).toBe(6);
          expect((await all(bus, 'agent.requests')).map(({ offset }) => offset)).toEqual([6, 7, 8]);
          expect(await bus.trim('agent.requests', 9_000)).toBe(3);
          expect(await bus.trim('agent.requests', 9_000)).toBe(0);
          await bus.publish([request('s', 'new')]);
          expect((await all(bus, 'agent.requests')).map(({ offset }) => offset)).toEqual([9]);
        },
        { clock: { now: () => now } },
      );
    },
    testMs,
  );

  it(
    'does not let a consumer miss what was trimmed, in line or not yet read',
    () => {
      let now = 1_000;
      return onBus(
        async (bus, file) => {
          const gate = deferred();
          const handled: string[] = [];
          const handle = async (message: Incoming) => {
            handled.push(questionOf(message));
            if (questionOf(message) === 'stuck') await gate.promise;
            return [entry(message)];
          };
          await bus.publish([request('s', 'stuck'), ...numbers(10).map((question) => request('s', question))]);
          const first = await bus.subscribe({ group: 'g', topics: ['agent.requests'], handle });
          await eventually('the first one', () => handled.length === 1);
          now = 2_000;
          await bus.trim('agent.requests', 2_000);
          await bus.publish([request('s', 'kept')]);
          gate.resolve();
          await eventually('the kept one’s output', async () => (await entries(bus)).includes('kept'));
          await first.stop(0);
          await bus.subscribe({ group: 'g', topics: ['agent.requests'], handle });
          await bus.publish([request('s', 'last')]);
          await eventually('the last one’s output', async () => (await entries(bus)).includes('last'));
          await grace();
          expect(handled).toEqual(['stuck', 'kept', 'last']);
          const late: string[] = [];
          await bus.subscribe({
            group: 'new',
            topics: ['agent.requests'],
            handle: async (message) => (late.push(questionOf(message)), []),
          });
          await eventually('what is left', () => late.length === 2);
          expect(late).toEqual(['kept', 'last']);
          const database = new DatabaseSync(file, { readOnly: true });
          const prefix = database.prepare("SELECT prefix FROM positions WHERE consumer_group = 'new'");
          await eventually('a position behind which nothing is missing', () => prefix.get()?.['prefix'] === 13);
          expect(database.prepare('SELECT * FROM finished').all()).toEqual([]);
          database.close();
        },
        { clock: { now: () => now } },
      );
    },
    testMs,
  );
});

describe('the lease of a group', () => {
  it(
    'is taken over from a process that lives but has not renewed it for ten seconds',
    () => {
      let now = 1_000;
      const clock = { now: () => now };
      return onBus(
        async (bus, file) => {
          const subscription = { group: 'g', topics: ['agent.requests'] as const, handle: async () => [] };
          const hung = await bus.subscribe(subscription);
          const other = await openOn(file, { clock, isAlive: () => true });
          now += 9_999;
          await expect(other.subscribe(subscription)).rejects.toThrow(/being consumed by process/);
          now += 1;
          const taken = await other.subscribe(subscription);
          await bus.publish([request('s', 'x')]);
          expect((await hung.failed).message).toMatch(/group g was taken over by process/);
          await taken.stop(0);
          await (await bus.subscribe(subscription)).stop(0);
          await other.close();
        },
        { clock },
      );
    },
    testMs,
  );
});
