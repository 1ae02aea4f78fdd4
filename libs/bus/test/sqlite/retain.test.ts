import { describe, expect, it } from '@jest/globals';
import { all, entry, eventually, numbers, questionOf, request, testMs } from '../contract/harness.js';
import { onBus } from './on-file.js';

describe('what a log in a file keeps', () => {
  const kept = async (bus: Parameters<typeof all>[0]) => (await all(bus, 'agent.requests')).map(questionOf);

  it(
    'is by age what the log took since, and by size what is not older than so many bytes',
    () => {
      let now = 1_000;
      return onBus(
        async (bus) => {
          for (now of [1_000, 2_000, 3_000])
            await bus.publish(numbers(3).map((question) => request('s', `${now}/${question}`)));
          expect(await bus.retain('agent.requests', { olderThan: 2_000 })).toBe(3);
          expect(await kept(bus)).toEqual(['2000/0', '2000/1', '2000/2', '3000/0', '3000/1', '3000/2']);

          expect(await bus.retain('agent.requests', { bytes: 1_000_000 })).toBe(0);
          await bus.publish([request('s', 'x'.repeat(5_000)), request('s', 'y'.repeat(5_000))]);
          expect(await bus.retain('agent.requests', { bytes: 10_150 })).toBeGreaterThan(0);
          const left = await kept(bus);
          expect(left.slice(-2).map(({ length }) => length)).toEqual([5_000, 5_000]);
          expect(await bus.retain('agent.requests', { bytes: 6_000 })).toBe(left.length - 1);
          expect((await kept(bus)).map((question) => question[0])).toEqual(['y']);
          expect(await bus.retain('agent.requests', { bytes: 1 })).toBe(1);
        },
        { clock: { now: () => now } },
      );
    },
    testMs,
  );

  it(
    'is in any case what a group has not finished',
    () =>
      onBus(async (bus) => {
        let stuck = true;
        const consumer = await bus.subscribe({
          group: 'g',
          topics: ['agent.requests'],
          handle: async (message, { signal }) => {
            const held = () => stuck && questionOf(message) === '3' && !signal.aborted;
            await eventually('the gate', () => !held());
            return [entry(message)];
          },
        });
        await bus.publish(numbers(6).map((question) => request(`s-${question}`, question)));
        await eventually('all but one', async () => (await all(bus, 'agent.audit')).length === 5);
        await eventually('what is finished to be let go of', async () => {
          await bus.retain('agent.requests', { olderThan: Date.now() + 1_000 });
          return (await kept(bus)).join() === '3,4,5';
        });
        stuck = false;
        await eventually('the last one', async () => (await all(bus, 'agent.audit')).length === 6);
        await consumer.stop(1_000);
        await bus.retain('agent.requests', { bytes: 1 });
        expect(await kept(bus)).toEqual([]);
      }),
    testMs,
  );
});
