import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import {
  deferred,
  entries,
  entry,
  eventually,
  grace,
  numbers,
  onLog,
  questionOf,
  request,
  requestRecord,
  testMs,
} from './harness.js';
import type { BusHarness } from './harness.js';

export function delivery(harness: BusHarness): void {
  it(
    'hands over what was published, before and after it subscribed, and puts the outputs on the log',
    () =>
      onLog(harness, async ({ bus }) => {
        const seen: Incoming[] = [];
        await bus.publish([request('d-1', 'before', { traceparent: '00-1' })]);
        await bus.subscribe({
          group: 'd-1',
          topics: ['agent.requests'],
          handle: async (message) => {
            seen.push(message);
            return [entry(message, `${questionOf(message)} 1`), entry(message, `${questionOf(message)} 2`)];
          },
        });
        await bus.publish([request('d-1', 'after')]);
        const expected = ['before 1', 'before 2', 'after 1', 'after 2'];
        await eventually('four outputs', async () => (await entries(bus)).length >= 4);
        expect(await entries(bus)).toEqual(expected);
        expect(seen[0]).toMatchObject({ topic: 'agent.requests', key: 'd-1', headers: { traceparent: '00-1' } });
        expect({ ...seen[0]?.record }).toEqual(requestRecord('d-1', 'before'));
      }),
    testMs,
  );

  it(
    'keeps the order of each session, never two of its records at once, and runs sessions side by side',
    () =>
      onLog(harness, async ({ bus }) => {
        const sessions = numbers(8, 'd-2-');
        const running = new Set<string>();
        let sideBySide = 0;
        await bus.publish(numbers(10).flatMap((question) => sessions.map((session) => request(session, question))));
        await bus.subscribe({
          group: 'd-2',
          topics: ['agent.requests'],
          handle: async (message) => {
            if (running.has(message.key)) throw new Error(`Two records of ${message.key} at once.`);
            running.add(message.key);
            sideBySide = Math.max(sideBySide, running.size);
            await delay(Math.random() * 8);
            running.delete(message.key);
            return [entry(message)];
          },
        });
        await eventually('80 outputs', async () => (await entries(bus)).length >= 80);
        for (const session of sessions) expect(await entries(bus, session)).toEqual(numbers(10));
        expect(sideBySide).toBeGreaterThan(1);
      }),
    testMs,
  );

  it(
    'goes by the session of the record, not by the key: sessions that share a key do not wait for each other',
    () =>
      onLog(harness, async ({ bus }) => {
        const gate = deferred();
        const of = (session: string, question: string) =>
          ({ topic: 'agent.requests', key: 'd-3', record: requestRecord(session, question) }) as const;
        await bus.publish([of('d-3-a', 'stuck'), of('d-3-a', 'behind it'), of('d-3-b', 'free')]);
        await bus.subscribe({
          group: 'd-3',
          topics: ['agent.requests'],
          handle: async (message) => {
            if (questionOf(message) === 'stuck') await gate.promise;
            return [entry(message)];
          },
        });
        await eventually('the other session’s output', async () => (await entries(bus)).length >= 1);
        await grace();
        expect(await entries(bus)).toEqual(['free']);
        gate.resolve();
        await eventually('three outputs', async () => (await entries(bus)).length >= 3);
        expect(await entries(bus)).toEqual(['free', 'stuck', 'behind it']);
      }),
    testMs,
  );

  it(
    'keeps senders apart who name the same session: one with another credential does not wait',
    () =>
      onLog(harness, async ({ bus }) => {
        const gate = deferred();
        const of = (question: string, token: string) => request('d-19', question, { authorization: `Bearer ${token}` });
        await bus.publish([of('stuck', 'bob'), of('behind it', 'bob'), of('free', 'ann')]);
        await bus.subscribe({
          group: 'd-19',
          topics: ['agent.requests'],
          handle: async (message) => {
            if (questionOf(message) === 'stuck') await gate.promise;
            return [entry(message)];
          },
        });
        await eventually('the other sender’s output', async () => (await entries(bus)).length >= 1);
        await grace();
        expect(await entries(bus)).toEqual(['free']);
        gate.resolve();
        await eventually('three outputs', async () => (await entries(bus)).length >= 3);
        expect(await entries(bus)).toEqual(['free', 'stuck', 'behind it']);
      }),
    testMs,
  );

  it(
    'lets a slow session delay only itself, also with 500 records of its own in line',
    () =>
      onLog(harness, async ({ bus }) => {
        const stuck = deferred();
        const others = numbers(20, 'd-4-');
        await bus.publish(numbers(500).map((question) => request('d-4-slow', question)));
        await bus.publish(numbers(5).flatMap((question) => others.map((session) => request(session, question))));
        await bus.subscribe({
          group: 'd-4',
          topics: ['agent.requests'],
          maxInFlight: 50,
          handle: async (message) => {
            if (message.key === 'd-4-slow') await stuck.promise;
            return [entry(message)];
          },
        });
        await eventually('the others’ 100 outputs', async () => (await entries(bus)).length >= 100);
        expect(await entries(bus, 'd-4-slow')).toEqual([]);
        stuck.resolve();
        await eventually('the slow one’s 500 outputs', async () => (await entries(bus)).length >= 600);
        expect(await entries(bus, 'd-4-slow')).toEqual(numbers(500));
        for (const session of others) expect(await entries(bus, session)).toEqual(numbers(5));
      }),
    testMs,
  );

  it(
    'has never more records in work than maxInFlight',
    () =>
      onLog(harness, async ({ bus }) => {
        const gate = deferred();
        let running = 0;
        let most = 0;
        await bus.publish(numbers(60, 'd-5-').map((session) => request(session, 'x')));
        const consumer = await bus.subscribe({
          group: 'd-5',
          topics: ['agent.requests'],
          maxInFlight: 7,
          handle: async (message) => {
            most = Math.max(most, ++running);
            await gate.promise;
            await delay(1);
            running--;
            return [entry(message)];
          },
        });
        await eventually('seven in work', () => running === 7);
        await grace();
        expect(running).toBe(7);
        expect(consumer.inFlight).toBe(7);
        gate.resolve();
        await eventually('60 outputs', async () => (await entries(bus)).length >= 60);
        expect(most).toBe(7);
        await eventually('nothing in work', () => consumer.inFlight === 0);
      }),
    testMs,
  );

  it(
    'has as many in work as maxInFlight where each waits for something, and does not say so',
    () =>
      onLog(harness, async ({ bus }) => {
        const gate = deferred();
        let running = 0;
        await bus.publish(numbers(200, 'd-11-').map((session) => request(session, 'x')));
        await bus.subscribe({
          group: 'd-11',
          topics: ['agent.requests'],
          maxInFlight: 150,
          handle: async (message) => {
            running++;
            await gate.promise;
            return [entry(message)];
          },
        });
        await eventually('150 in work', () => running === 150);
        gate.resolve();
        await eventually('200 outputs', async () => (await entries(bus)).length >= 200);
      }),
    testMs,
  );

  it(
    'gives each group everything',
    () =>
      onLog(harness, async ({ bus }) => {
        await bus.publish(numbers(5).map((question) => request('d-6', question)));
        for (const group of ['d-6-a', 'd-6-b']) {
          await bus.subscribe({
            group,
            topics: ['agent.requests'],
            handle: async (message) => [entry(message, `${group}/${questionOf(message)}`)],
          });
        }
        await eventually('ten outputs', async () => (await entries(bus)).length >= 10);
        const found = await entries(bus);
        for (const group of ['d-6-a', 'd-6-b']) {
          expect(found.filter((details) => details.startsWith(group))).toEqual(numbers(5, `${group}/`));
        }
      }),
    testMs,
  );

  it(
    'has one consumer a group in a process, and another when that one has stopped',
    () =>
      onLog(harness, async ({ bus }) => {
        const subscription = { group: 'd-7', topics: ['agent.requests'] as const, handle: async () => [] };
        const first = await bus.subscribe(subscription);
        await expect(bus.subscribe(subscription)).rejects.toThrow(/d-7/);
        await first.stop(0);
        await (await bus.subscribe(subscription)).stop(0);
      }),
    testMs,
  );

  it(
    'reads several topics as one group, also what it writes itself',
    () =>
      onLog(harness, async ({ bus }) => {
        const seen: string[] = [];
        await bus.subscribe({
          group: 'd-8',
          topics: ['agent.requests', 'agent.audit'],
          handle: async (message) => {
            seen.push(message.topic);
            return message.topic === 'agent.requests' ? [entry(message)] : [];
          },
        });
        await bus.publish([request('d-8', 'round')]);
        await eventually('both topics', () => seen.length >= 2);
        expect(seen).toEqual(['agent.requests', 'agent.audit']);
      }),
    testMs,
  );

  it(
    'runs afterCommit once, in order, when the outputs are on the log; one that throws stops nothing',
    () =>
      onLog(harness, async ({ bus }) => {
        const seen: Promise<readonly string[]>[] = [];
        const order: string[] = [];
        await bus.subscribe({
          group: 'd-9',
          topics: ['agent.requests'],
          handle: async (message, { afterCommit }) => {
            afterCommit(() => {
              order.push(`${questionOf(message)} first`);
              throw new Error('A metric failed.');
            });
            afterCommit(() => {
              order.push(`${questionOf(message)} second`);
              seen.push(entries(bus));
            });
            return [entry(message)];
          },
        });
        await bus.publish([request('d-9', 'a')]);
        await eventually('the first commit', () => seen.length === 1);
        await bus.publish([request('d-9', 'b')]);
        await eventually('the second commit', () => seen.length === 2);
        await grace();
        // The log is read a little later than the action runs, so the first look may find the second's output too.
        const [first, second] = await Promise.all(seen);
        expect(first?.[0]).toBe('a');
        expect(second).toEqual(['a', 'b']);
        expect(order).toEqual(['a first', 'a second', 'b first', 'b second']);
      }),
    testMs,
  );

  it(
    'publishes what is emitted while the handler is still at work',
    () =>
      onLog(harness, async ({ bus }) => {
        const gate = deferred();
        await bus.subscribe({
          group: 'd-10',
          topics: ['agent.requests'],
          handle: async (message, { emit }) => {
            emit([entry(message, 'under way')]);
            await gate.promise;
            return [entry(message, 'done')];
          },
        });
        await bus.publish([request('d-10', 'x')]);
        await eventually('the progress', async () => (await entries(bus)).includes('under way'));
        expect(await entries(bus)).toEqual(['under way']);
        gate.resolve();
        await eventually('the output', async () => (await entries(bus)).includes('done'));
        expect(await entries(bus)).toEqual(['under way', 'done']);
      }),
    testMs,
  );
}
