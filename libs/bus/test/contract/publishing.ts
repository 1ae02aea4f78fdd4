import { expect, it } from '@jest/globals';
import type { Outgoing } from '@sluice/bus';
import { all, onLog, request, testMs } from './harness.js';
import type { BusHarness } from './harness.js';

export function publishing(harness: BusHarness): void {
  it(
    'puts records on the log with key, headers, rising offsets and a time',
    () =>
      onLog(harness, async ({ bus }) => {
        const before = Date.now() - 60_000;
        await bus.publish([request('p-1', 'a', { traceparent: '00-1' }), request('p-1', 'b')]);
        await bus.publish([request('p-1', 'c')]);
        const found = await all(bus, 'agent.requests');
        expect(found.map(({ record }) => record.question)).toEqual(['a', 'b', 'c']);
        expect(found.map(({ key }) => key)).toEqual(['p-1', 'p-1', 'p-1']);
        expect(found[0]?.headers).toMatchObject({ traceparent: '00-1' });
        expect(found[1]?.headers).not.toHaveProperty('traceparent');
        const offsets = found.map(({ offset }) => offset);
        expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b));
        for (const { timestamp } of found) expect(timestamp).toBeGreaterThan(before);
      }),
    testMs,
  );

  it(
    'publishes nothing if nothing is given',
    () =>
      onLog(harness, async ({ bus }) => {
        await bus.publish([]);
        expect(await all(bus, 'agent.requests')).toEqual([]);
      }),
    testMs,
  );

  it.each([
    [
      'does not have its topic’s shape',
      { ...request('p-2', 'bad'), record: { question: 7 } } as unknown as Outgoing,
      /agent\.requests/,
    ],
    ['is too large', request('p-2', 'x'.repeat(1_000_001)), /agent\.requests has 10000\d\d bytes/],
  ])(
    'publishes all or none: one that %s keeps the others off the log',
    (_, bad, reason) =>
      onLog(harness, async ({ bus }) => {
        await expect(bus.publish([request('p-2', 'a'), bad, request('p-2', 'b')])).rejects.toThrow(reason);
        await bus.publish([request('p-2', 'c')]);
        expect((await all(bus, 'agent.requests')).map(({ record }) => record.question)).toEqual(['c']);
      }),
    testMs,
  );

  it(
    'takes many publishers at once, each one’s records in their order',
    () =>
      onLog(harness, async ({ bus }) => {
        const sessions = Array.from({ length: 20 }, (_, index) => `p-3-${index}`);
        await Promise.all(sessions.map((session) => bus.publish([request(session, '1'), request(session, '2')])));
        const found = await all(bus, 'agent.requests');
        expect(found).toHaveLength(40);
        for (const session of sessions) {
          expect(found.filter(({ key }) => key === session).map(({ record }) => record.question)).toEqual(['1', '2']);
        }
      }),
    testMs,
  );

  it(
    'is healthy while it works, and refuses work once it is closed',
    () =>
      onLog(harness, async ({ bus }) => {
        await bus.check();
        await bus.close();
        await expect(bus.publish([request('p-4', 'late')])).rejects.toThrow(/closed/);
        await expect(bus.check()).rejects.toThrow(/closed/);
      }),
    testMs,
  );
}
