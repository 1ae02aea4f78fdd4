import { expect, it } from '@jest/globals';
import type { Consumer } from '@sluice/bus';
import { deferred, entry, entries, eventually, numbers, onLog, questionOf, request, testMs } from './harness.js';
import type { BusHarness } from './harness.js';

async function lagOf(consumer: Consumer): Promise<number> {
  return (await consumer.lag()).reduce((sum, { records }) => sum + records, 0);
}

export function telling(harness: BusHarness): void {
  it(
    'counts what the log has and the group has not finished, and not what is finished behind a stuck session',
    () =>
      onLog(harness, async ({ bus }) => {
        const stuck = deferred();
        let finished = 0;
        const consumer = await bus.subscribe({
          group: 't-1',
          topics: ['agent.requests'],
          handle: async (message, context) => {
            if (questionOf(message) === 'stuck') await stuck.promise;
            context.afterCommit(() => void finished++);
            return [];
          },
        });
        await eventually('every partition held, and nothing to do', async () => {
          const lag = await consumer.lag();
          return lag.length > 0 && lag.every(({ records }) => records === 0);
        });
        await bus.publish([request('t-1', 'stuck'), ...numbers(20, 't-1-').map((session) => request(session, 'go'))]);
        await eventually('all but the stuck one', () => finished === 20);
        const held = await consumer.lag();
        expect(held.every(({ topic, partition }) => topic === 'agent.requests' && partition >= 0)).toBe(true);
        // On Kafka the marker of the transaction that put it there, at most one a partition, is not finished either.
        const behind = await lagOf(consumer);
        expect(behind).toBeGreaterThanOrEqual(1);
        expect(behind).toBeLessThanOrEqual(1 + held.length);
        stuck.resolve();
        await eventually('the stuck one', () => finished === 21);
        await eventually('no lag', async () => (await lagOf(consumer)) === 0);
      }),
    testMs,
  );

  it(
    'counts what a group has not finished when it has no consumer',
    () =>
      onLog(harness, async ({ bus }) => {
        const lag = async (): Promise<number> =>
          (await bus.groupLag('t-3', ['agent.requests'])).reduce((sum, { records }) => sum + records, 0);
        await bus.publish(numbers(10, 't-3-').map((session) => request(session, 'go')));
        // On Kafka a transaction's records count once its markers are written, which comes a moment behind the answer
        // that it is committed; the markers count too, at most one a partition.
        await eventually('all ten records', async () => (await lag()) >= 10);
        const consumer = await bus.subscribe({
          group: 't-3',
          topics: ['agent.requests'],
          handle: () => Promise.resolve([]),
        });
        await eventually('no lag', async () => (await lag()) === 0);
        await consumer.stop(1_000);
        expect(await lag()).toBe(0);
        await bus.publish([request('t-3', 'later')]);
        await eventually('the later record', async () => (await lag()) >= 1);
      }),
    testMs,
  );

  it(
    'reports of each transaction how it ended and how long it took',
    () =>
      onLog(harness, async ({ bus }) => {
        const told: { committed: boolean; milliseconds: number }[] = [];
        await bus.subscribe({
          group: 't-2',
          topics: ['agent.requests'],
          handle: (message) => Promise.resolve([entry(message, 'done')]),
          observer: {
            transaction: (committed, milliseconds) => void told.push({ committed, milliseconds }),
            rebalanced: () => undefined,
          },
        });
        await bus.publish([request('t-2', 'one')]);
        await eventually('its output', async () => (await entries(bus)).length === 1);
        await eventually('its transaction', () => told.some(({ committed }) => committed));
        for (const { milliseconds } of told) expect(milliseconds).toBeGreaterThan(0);
        expect(told.every(({ committed }) => committed)).toBe(true);
      }),
    testMs,
  );
}
