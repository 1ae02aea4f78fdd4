import { describe, expect, it } from '@jest/globals';
import { type Incoming, tenantHeader } from '@sluice/bus';
import { deferred, eventually, numbers, request, testMs } from '../contract/harness.js';
import { onBus } from './on-file.js';

const topics = ['agent.requests'] as const;
const of = (tenant: string, session: string) => request(session, 'x', { [tenantHeader]: tenant });

describe('the records of several tenants', () => {
  it(
    'are handled in turn, however many of one are on the log before those of another',
    () =>
      onBus(async (bus) => {
        await bus.publish([...numbers(600, 'many-').map((session) => of('many', session)), of('few', 'few-0')]);
        await bus.publish(['few-1', 'few-2'].map((session) => of('few', session)));
        const seen: string[] = [];
        const first = deferred();
        await bus.subscribe({
          ...{ group: 'g', topics, maxInFlight: 1 },
          handle: async (message: Incoming) => {
            seen.push(message.key);
            if (seen.length === 1) await first.promise;
            return [];
          },
        });
        await eventually('the first record', () => seen.length === 1);
        // It reads on while that one is in work: three pages of the log.
        for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
        first.resolve();
        await eventually('all records', () => seen.length === 603);
        expect(seen.slice(0, 7).map((session) => session.replace(/\d+$/, ''))).toEqual([
          ...['many-', 'few-', 'many-', 'few-', 'many-', 'few-', 'many-'],
        ]);
      }),
    testMs,
  );

  it(
    'are at work in turn too, and a record that waits for what is elsewhere leaves its place to others',
    () =>
      onBus(async (bus) => {
        await bus.publish(numbers(200, 'many-').map((session) => of('many', session)));
        const answer = deferred();
        let aside = 0;
        await bus.subscribe({
          ...{ group: 'g', topics },
          handle: async (_, context) => {
            await context.aside?.(() => {
              aside++;
              return answer.promise;
            });
            return [];
          },
        });
        // More than are at work at a time: all wait at once for their answer.
        await eventually('all are waiting', () => aside === 200);
        answer.resolve();
        await eventually('all are finished', async () => (await bus.groupLag('g', topics))[0]?.records === 0);
      }),
    testMs,
  );
});
