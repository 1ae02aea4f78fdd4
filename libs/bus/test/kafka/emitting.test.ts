import { beforeAll, describe, expect, it } from '@jest/globals';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { entries, entry, eventually, numbers, request, testMs } from '../contract/harness.js';
import { onKafka } from './on-broker.js';

describe('progress', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'that cannot be sent is counted and logged once; the handler and its outputs never notice',
    () =>
      onKafka(async (start) => {
        const { bus, said } = await start();
        await bus.publish(numbers(5).map((question) => request('s', question)));
        await bus.subscribe({
          group: 'p-1',
          topics: ['agent.requests'],
          handle: async (message, { emit }) => {
            emit([entry(message, 'x'.repeat(1_000_001))]);
            return [entry(message)];
          },
        });
        await eventually('five outputs', async () => (await entries(bus)).length >= 5);
        await eventually('five losses', () => bus.lostEmits >= 5);
        expect(bus.lostEmits).toBe(5);
        expect(said).toEqual(['warn: Progress was lost.']);
        expect(await entries(bus)).toEqual(numbers(5));
      }),
    testMs,
  );

  it(
    'is sent in the order in which it was emitted, many records at a time',
    () =>
      onKafka(async (start) => {
        const { bus } = await start();
        await bus.publish([request('s', 'x')]);
        await bus.subscribe({
          group: 'p-2',
          topics: ['agent.requests'],
          handle: async (message, { emit }) => {
            for (const number of numbers(1_000)) emit([entry(message, number)]);
            return [];
          },
        });
        await eventually('all of it', async () => (await entries(bus)).length >= 1_000);
        expect(await entries(bus)).toEqual(numbers(1_000));
        expect(bus.lostEmits).toBe(0);
      }),
    testMs,
  );
});
