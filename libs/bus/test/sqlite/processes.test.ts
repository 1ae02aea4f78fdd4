import { describe, expect, it } from '@jest/globals';
import { all, entries, entry, eventually, numbers, questionOf, request, testMs } from '../contract/harness.js';
import { startChild } from '../process/child.js';
import { isAlive, onBus } from './on-file.js';

const here = { processId: process.pid, isAlive };

describe('several processes on one log', () => {
  it(
    'have one consumer a group among them: the second learns which process to end, and takes over when it is dead',
    () =>
      onBus(async (bus, file) => {
        const child = startChild('hold', file);
        await eventually('the child’s lease', () => child.lines.includes('holding'));
        const subscription = {
          group: 'shared',
          topics: ['agent.requests'] as const,
          handle: async () => [],
        };
        await expect(bus.subscribe(subscription)).rejects.toThrow(
          new RegExp(`shared.*process ${child.processId} \\(child hold\\).*End that process`),
        );
        await (await bus.subscribe({ ...subscription, group: 'another' })).stop(0);
        await child.kill();
        await (await bus.subscribe(subscription)).stop(0);
      }, here),
    testMs,
  );

  it(
    'lose nothing and do nothing twice when one is killed in the middle of its work',
    () =>
      onBus(async (bus, file) => {
        const sessions = numbers(10, 's-');
        await bus.publish(
          numbers(40).flatMap((index) => sessions.map((session) => request(session, `${session}/${index}`))),
        );
        const child = startChild('work', file);
        await eventually('some of the child’s commits', () => child.lines.length >= 60);
        await child.kill();
        const done = await entries(bus);
        expect(done.length).toBeGreaterThanOrEqual(child.lines.length);
        expect(done.length).toBeLessThan(400);
        const repeated: string[] = [];
        await bus.subscribe({
          group: 'shared',
          topics: ['agent.requests'],
          handle: async (message) => {
            repeated.push(questionOf(message));
            return [entry(message, `parent/${questionOf(message)}`)];
          },
        });
        await eventually('400 outputs', async () => (await entries(bus)).length >= 400);
        expect(repeated).toHaveLength(400 - done.length);
        for (const session of sessions) {
          const found = (await entries(bus, session)).map((details) => details.replace(/^(child|parent)\//, ''));
          expect(found).toEqual(numbers(40).map((index) => `${session}/${index}`));
        }
      }, here),
    testMs,
  );

  it(
    'lose nothing that publish resolved for when the publisher is killed, and keep what belongs together',
    () =>
      onBus(async (bus, file) => {
        const seen: string[] = [];
        await bus.subscribe({
          group: 'reader',
          topics: ['agent.requests'],
          handle: async (message) => {
            seen.push(questionOf(message));
            return [];
          },
        });
        const child = startChild('publish', file);
        await eventually('what another process publishes', () => seen.length >= 100);
        await child.kill();
        const found = (await all(bus, 'agent.requests')).map(({ record }) => record.question);
        const pairs = Math.floor(found.length / 2);
        expect(pairs).toBeGreaterThanOrEqual(child.lines.length);
        expect(found).toEqual(numbers(pairs).flatMap((index) => [index, `${index} as well`]));
        await eventually('the rest', () => seen.length === found.length);
      }, here),
    testMs,
  );
});
