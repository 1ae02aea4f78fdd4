import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Handler } from '@sluice/bus';
import { deferred, entries, entry, eventually, grace, numbers, onLog, questionOf, request, testMs } from './harness.js';
import type { BusHarness } from './harness.js';

const topics = ['agent.requests'] as const;

export function restarts(harness: BusHarness): void {
  it(
    'repeats a record that a crash caught between work and commit; the zombie that held it commits nothing',
    () =>
      onLog(harness, async (log) => {
        const gate = deferred();
        let ended = false;
        let commits = 0;
        const zombie = log.bus;
        await zombie.publish([request('r-1', 'x')]);
        let working = false;
        const lost = await zombie.subscribe({
          group: 'r-1',
          topics,
          handle: async (message, { afterCommit }) => {
            working = true;
            afterCommit(() => commits++);
            await gate.promise;
            ended = true;
            return [entry(message, 'by the zombie')];
          },
        });
        await eventually('the first handler', () => working);
        const bus = await log.reopen();
        await bus.subscribe({ group: 'r-1', topics, handle: async (message) => [entry(message, 'by the next')] });
        await eventually('the output', async () => (await entries(bus)).length >= 1);
        gate.resolve();
        expect(await lost.failed).toBeInstanceOf(Error);
        await eventually('the zombie’s handler', () => ended);
        await grace();
        expect(await entries(bus)).toEqual(['by the next']);
        expect(commits).toBe(0);
      }),
    testMs,
  );

  it(
    'repeats after a crash what was in flight, and nothing that was finished beyond it',
    () =>
      onLog(harness, async (log) => {
        const stuck = new Set(['0', '10', '11']);
        const gate = deferred();
        let commits = 0;
        await log.bus.publish(numbers(30).map((question) => request(`r-2-${question}`, question)));
        await log.bus.subscribe({
          group: 'r-2',
          topics,
          handle: async (message, { afterCommit }) => {
            afterCommit(() => commits++);
            if (stuck.has(questionOf(message))) await gate.promise;
            return [entry(message)];
          },
        });
        await eventually('27 commits', () => commits === 27);
        const bus = await log.reopen();
        const again: string[] = [];
        await bus.subscribe({
          group: 'r-2',
          topics,
          handle: async (message) => {
            again.push(questionOf(message));
            return [entry(message)];
          },
        });
        await eventually('30 outputs', async () => (await entries(bus)).length >= 30);
        await bus.publish([request('r-2', 'new')]);
        await eventually('the new one', () => again.includes('new'));
        await grace();
        gate.resolve();
        expect([...again].sort()).toEqual(['0', '10', '11', 'new']);
        expect([...(await entries(bus))].sort()).toEqual([...numbers(30), 'new'].sort());
      }),
    testMs,
  );

  it(
    'stops after what is running has ended; what was in line is done once by the next consumer',
    () =>
      onLog(harness, async ({ bus }) => {
        const handled: string[] = [];
        const handle: Handler = async (message) => {
          handled.push(questionOf(message));
          await delay(50);
          return [entry(message)];
        };
        await bus.publish(numbers(40).map((question) => request(`r-3-${Number(question) % 5}`, question)));
        const first = await bus.subscribe({ group: 'r-3', topics, handle });
        await eventually('some work', () => handled.length >= 8);
        await first.stop(20_000);
        const before = [...handled];
        expect([...(await entries(bus))].sort()).toEqual([...before].sort());
        expect(before.length).toBeLessThan(40);
        await grace();
        expect(handled).toEqual(before);
        await bus.subscribe({ group: 'r-3', topics, handle });
        await eventually('40 outputs', async () => (await entries(bus)).length >= 40);
        await grace();
        expect([...handled].sort()).toEqual([...numbers(40)].sort());
        for (const session of numbers(5)) {
          const expected = numbers(40).filter((question) => Number(question) % 5 === Number(session));
          expect(await entries(bus, `r-3-${session}`)).toEqual(expected);
        }
      }),
    testMs,
  );

  it(
    'aborts after the drain time what does not end: by its signal, its outputs ignored, repeated later',
    () =>
      onLog(harness, async ({ bus }) => {
        let signal: AbortSignal | undefined;
        await bus.publish([request('r-4', 'x')]);
        const first = await bus.subscribe({
          group: 'r-4',
          topics,
          handle: async (message, context) => {
            signal = context.signal;
            await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
            return [entry(message, 'too late')];
          },
        });
        await eventually('the work', () => signal !== undefined);
        expect(signal?.aborted).toBe(false);
        await first.stop(100);
        expect(signal?.aborted).toBe(true);
        await grace();
        expect(await entries(bus)).toEqual([]);
        await bus.subscribe({ group: 'r-4', topics, handle: async (message) => [entry(message, 'by the next')] });
        await eventually('the output', async () => (await entries(bus)).length >= 1);
        expect(await entries(bus)).toEqual(['by the next']);
      }),
    testMs,
  );

  it(
    'does not wait out a back-off when it stops',
    () =>
      onLog(harness, async ({ bus }) => {
        let tried = false;
        await bus.publish([request('r-5', 'x')]);
        const first = await bus.subscribe({
          group: 'r-5',
          topics,
          retry: { initialMs: 3_600_000, maxMs: 3_600_000, attempts: 2 },
          handle: async () => {
            tried = true;
            throw new Fault('model_unreachable', 'No answer.', true);
          },
        });
        await eventually('the first attempt', () => tried);
        await first.stop(3_600_000);
        await bus.subscribe({ group: 'r-5', topics, handle: async (message) => [entry(message)] });
        await eventually('the output', async () => (await entries(bus)).length >= 1);
      }),
    testMs,
  );
}
