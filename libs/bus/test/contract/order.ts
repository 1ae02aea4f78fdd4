import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { maxCarriedBytes } from '@sluice/bus';
import type { Bus, Handler, HandlerContext, Incoming } from '@sluice/bus';
import {
  all,
  deferred,
  entries,
  entry,
  eventually,
  grace,
  numbers,
  onLog,
  questionOf,
  request,
  testMs,
} from './harness.js';
import type { BusHarness } from './harness.js';

const topics = ['agent.requests'] as const;
const order = 'partition';

/** Counts the records of the partition in what it carries, and says the count. */
function counted(message: Pick<Incoming, 'key'>, { carried, carry }: HandlerContext): string {
  const count = Number(carried) + 1;
  carry(String(count));
  return `${count} ${message.key}`;
}

const counting: Handler = async (message, context) => [entry(message, counted(message, context))];

/** The counts by partition in the order of the source’s offsets, which must be 1, 2, 3, …; and how many there are. */
async function counts(bus: Bus): Promise<{ readonly found: number[][]; readonly all: number }> {
  const partitions = new Map<number, [offset: number, count: number][]>();
  for (const { record } of await all(bus, 'agent.audit')) {
    const of = partitions.get(record.sourcePartition) ?? [];
    of.push([record.sourceOffset, Number.parseInt(record.details, 10)]);
    partitions.set(record.sourcePartition, of);
  }
  const found = [...partitions.values()].map((of) => of.sort(([a], [b]) => a - b).map(([, count]) => count));
  return { found, all: found.flat().length };
}

async function expectUnbroken(bus: Bus, count: number): Promise<void> {
  const { found, all: there } = await counts(bus);
  expect(there).toBe(count);
  for (const of of found) expect(of).toEqual(of.map((_, index) => index + 1));
}

const sessions = (count: number, prefix: string) => numbers(count, prefix).map((session) => request(session, 'x'));

export function partitionOrder(harness: BusHarness): void {
  it(
    'handles a partition’s records one after another, whatever their sessions, and carries a text from each to the next',
    () =>
      onLog(harness, async ({ bus }) => {
        const running = new Map<number, number>();
        await bus.publish(sessions(40, 'o-1-'));
        await bus.subscribe({
          group: 'o-1',
          topics,
          order,
          handle: async (message, context) => {
            const { partition } = message;
            if (running.has(partition)) throw new Error(`Two records of partition ${partition} at once.`);
            running.set(partition, message.offset);
            await delay(Math.random() * 3);
            running.delete(partition);
            return counting(message, context);
          },
        });
        await eventually('40 outputs', async () => (await entries(bus)).length >= 40);
        await bus.publish(sessions(20, 'o-1-more-'));
        await eventually('60 outputs', async () => (await entries(bus)).length >= 60);
        await expectUnbroken(bus, 60);
      }),
    testMs,
  );

  it(
    'carries on where it was after a stop and after a crash; what was not committed is carried by no consumer',
    () =>
      onLog(harness, async (log) => {
        const gate = deferred();
        let stuck = 0;
        const taken = new Map<number, number>();
        await log.bus.publish(sessions(15, 'o-2-'));
        const first = await log.bus.subscribe({ group: 'o-2', topics, order, handle: counting });
        await eventually('15 outputs', async () => (await entries(log.bus)).length >= 15);
        await first.stop(10_000);
        await log.bus.publish(sessions(15, 'o-2-again-'));
        await log.bus.subscribe({
          group: 'o-2',
          topics,
          order,
          handle: async (message, context) => {
            const text = counted(message, context);
            if (Number.parseInt(text, 10) % 4 === 0) {
              stuck++;
              await gate.promise;
            }
            return [entry(message, text)];
          },
        });
        await eventually('a record in work', () => stuck > 0);
        const bus = await log.reopen();
        await bus.subscribe({
          group: 'o-2',
          topics,
          order,
          handle: counting,
          // Before it has one of its records; a partition that was lost for a moment is taken once more.
          taken: ({ partition }, carried) => taken.has(partition) || taken.set(partition, Number(carried)),
        });
        await eventually('30 outputs', async () => (await entries(bus)).length >= 30);
        gate.resolve();
        await grace();
        await expectUnbroken(bus, 30);
        const before = [...taken.values()];
        expect(before.reduce((sum, count) => sum + count, 0)).toBeLessThan(30);
        expect(Math.max(...before)).toBeGreaterThan(0);
      }),
    testMs,
  );

  it(
    'forgets what a failed attempt left, and lets a dead-lettered record leave something too, without a dead letter if none is wanted',
    () =>
      onLog(harness, async ({ bus, appendRaw }) => {
        await bus.publish([request('o-3', 'a'), request('o-3', 'fails once'), request('o-3', 'dies')]);
        await appendRaw('agent.requests', 'o-3', Buffer.from('{broken'), {});
        await bus.publish([request('o-3', 'b')]);
        await bus.subscribe({
          group: 'o-3',
          topics,
          order,
          deadLetters: false,
          retry: { initialMs: 1, maxMs: 1, attempts: 3 },
          handle: async (message, context) => {
            const text = counted(message, context);
            if (questionOf(message) === 'fails once' && context.attempt === 1)
              throw new Fault('model_unreachable', 'No answer.', true);
            if (questionOf(message) === 'dies') throw new Fault('invalid_request', 'Never.', false);
            return [entry(message, text)];
          },
          onDead: (dead, context) => [
            entry({ ...dead, message: null } as never, `${counted(dead, context)} given up: ${dead.code}`),
          ],
        });
        await eventually('five outputs', async () => (await entries(bus)).length >= 5);
        expect(await entries(bus)).toEqual([
          '1 o-3',
          '2 o-3',
          '3 o-3 given up: invalid_request',
          '4 o-3 given up: undecodable',
          '5 o-3',
        ]);
        expect(await all(bus, 'agent.dead-letters')).toEqual([]);
      }),
    testMs,
  );

  it(
    'carries as much as it says and no more, and nothing where sessions are the order',
    () =>
      onLog(harness, async ({ bus }) => {
        const whole = 'é'.repeat(maxCarriedBytes / 2);
        await bus.publish([request('o-4', 'whole'), request('o-4', 'more'), request('o-4', 'last')]);
        const handle: Handler = async (message, { carried, carry }) => {
          if (questionOf(message) !== 'last') carry(questionOf(message) === 'whole' ? whole : `${whole}.`);
          return [entry(message, `${questionOf(message)}: ${carried === whole ? 'whole' : carried}`)];
        };
        const first = await bus.subscribe({ group: 'o-4', topics, order, handle });
        await eventually('two outputs', async () => (await entries(bus)).length >= 2);
        await first.stop(10_000);
        expect(await entries(bus)).toEqual(['whole: ', 'last: whole']);
        await bus.subscribe({ group: 'o-4-sessions', topics, handle });
        await eventually('a third output', async () => (await entries(bus)).length >= 3);
        const letters = await all(bus, 'agent.dead-letters');
        expect(letters.map(({ record }) => record.reason)).toEqual([
          expect.stringContaining(`carries ${maxCarriedBytes} bytes at most, and this text has ${maxCarriedBytes + 1}`),
          expect.stringContaining("Only a subscription with order: 'partition'"),
          expect.stringContaining("Only a subscription with order: 'partition'"),
        ]);
      }),
    testMs,
  );
}
