import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import type { Bus } from '@sluice/bus';
import { openDatabase } from '../../src/sqlite/database.js';
import { busOn } from '../../src/sqlite/bus.js';
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
  testMs,
} from '../contract/harness.js';
import { aProcess, inFolder, onBus } from './on-file.js';

async function isHealthy(bus: Bus): Promise<boolean> {
  return bus.check().then(
    () => true,
    () => false,
  );
}

describe('a disk that is full', () => {
  it(
    'keeps finished work, says so, and commits it once when there is room again',
    () =>
      inFolder(async (file) => {
        const logged: string[] = [];
        const database = openDatabase(file);
        const bus = await busOn(database, { ...aProcess(), log: (_, message) => logged.push(message) });
        const gate = deferred();
        const handled: string[] = [];
        let commits = 0;
        await bus.publish(numbers(20).map((question) => request(`s-${question}`, question)));
        const consumer = await bus.subscribe({
          group: 'g',
          topics: ['agent.requests'],
          handle: async (message, { afterCommit }) => {
            handled.push(questionOf(message));
            await gate.promise;
            afterCommit(() => commits++);
            return [entry(message, `${questionOf(message)} `.padEnd(20_000, 'x'))];
          },
        });
        await eventually('all handlers', () => handled.length === 20);
        const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
        database.exec(`PRAGMA max_page_count = ${pages}`);
        gate.resolve();
        await eventually('the trouble', async () => !(await isHealthy(bus)));
        await expect(bus.check()).rejects.toMatchObject({
          code: 'storage',
          message: expect.stringMatching(/full.*Free some space/),
        });
        await expect(bus.publish([request('s', 'x'.repeat(100_000))])).rejects.toMatchObject({
          code: 'storage',
          retryable: true,
        });
        await grace();
        expect(commits).toBe(0);
        expect(consumer.inFlight).toBe(20);
        expect(await entries(bus)).toEqual([]);
        database.exec('PRAGMA max_page_count = 1000000');
        await eventually('20 outputs', async () => (await entries(bus)).length >= 20);
        await bus.publish([request('s', 'x'.repeat(100_000))]);
        await bus.check();
        expect(commits).toBe(20);
        expect([...handled].sort()).toEqual([...numbers(20)].sort());
        expect((await entries(bus)).map((details) => details.replace(/ x*/, '')).sort()).toEqual(
          [...numbers(20)].sort(),
        );
        expect(logged).toEqual([expect.stringMatching(/full.*kept and tried again/)]);
        await bus.close();
      }),
    testMs,
  );

  it(
    'lets a consumer stop, and what it could not commit is done by the next one',
    () =>
      inFolder(async (file) => {
        const database = openDatabase(file);
        const bus = await busOn(database, aProcess());
        await bus.publish([request('s', 'a')]);
        const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
        const subscription = {
          group: 'g',
          topics: ['agent.requests'] as const,
          handle: async (message: Parameters<typeof entry>[0]) => [entry(message, 'x'.repeat(200_000))],
        };
        database.exec(`PRAGMA max_page_count = ${pages}`);
        const first = await bus.subscribe(subscription);
        await eventually('the trouble', async () => !(await isHealthy(bus)));
        await first.stop(60_000);
        database.exec('PRAGMA max_page_count = 1000000');
        await bus.subscribe(subscription);
        await eventually('the output', async () => (await entries(bus)).length > 0);
        await grace();
        expect(await entries(bus)).toHaveLength(1);
        await bus.close();
      }),
    testMs,
  );
});

describe('a publish that failed', () => {
  it(
    'is forgotten after five seconds, also if the clock is set back meanwhile',
    () =>
      inFolder(async (file) => {
        const database = openDatabase(file);
        let backMs = 0;
        const bus = await busOn(database, { ...aProcess(), clock: { now: () => Date.now() - backMs } });
        const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
        database.exec(`PRAGMA max_page_count = ${pages}`);
        await expect(bus.publish([request('s', 'x'.repeat(100_000))])).rejects.toMatchObject({ code: 'storage' });
        database.exec('PRAGMA max_page_count = 1000000');
        expect(await isHealthy(bus)).toBe(false);
        backMs = 3_600_000;
        await delay(5_500);
        expect(await isHealthy(bus)).toBe(true);
        await bus.close();
      }),
    testMs,
  );
});

describe('a file that another process keeps locked', () => {
  it(
    'is waited for, while the event loop goes on',
    () =>
      onBus(async (bus, file) => {
        await bus.publish([request('s', 'a')]);
        const other = new DatabaseSync(file);
        other.exec('BEGIN IMMEDIATE');
        const published = bus.publish([request('s', 'b')]);
        const subscribed = bus.subscribe({
          group: 'g',
          topics: ['agent.requests'],
          handle: async (message) => [entry(message)],
        });
        let waited = true;
        const over = (): void => void (waited = false);
        void published.then(over, over);
        // Who blocked the loop would have given up before that many turns of it.
        for (let turns = 0; turns < 50; turns++) await delay(1);
        expect(waited).toBe(true);
        expect(await all(bus, 'agent.requests')).toHaveLength(1);
        other.exec('COMMIT');
        other.close();
        await published;
        await subscribed;
        await eventually('both outputs', async () => (await entries(bus)).length >= 2);
        expect(await entries(bus)).toEqual(['a', 'b']);
      }),
    testMs,
  );

  it(
    'keeps a consumer’s finished work until the lock is gone',
    () =>
      onBus(async (bus, file) => {
        const gate = deferred();
        await bus.publish(numbers(5).map((question) => request('s', question)));
        await bus.subscribe({
          group: 'g',
          topics: ['agent.requests'],
          handle: async (message) => {
            await gate.promise;
            return [entry(message)];
          },
        });
        const other = new DatabaseSync(file);
        other.exec('BEGIN IMMEDIATE');
        gate.resolve();
        await grace();
        expect(await entries(bus)).toEqual([]);
        other.exec('COMMIT');
        other.close();
        await eventually('five outputs', async () => (await entries(bus)).length >= 5);
        expect(await entries(bus)).toEqual(numbers(5));
      }),
    testMs,
  );
});
