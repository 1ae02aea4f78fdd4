import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { all, eventually, request, testMs } from '../contract/harness.js';
import { onBus } from './on-file.js';

describe('a record that was written a moment ago', () => {
  it(
    'is the same frozen object for all groups and readers of a process',
    () =>
      onBus(async (bus) => {
        const seen: Incoming['record'][] = [];
        const handle = async ({ record }: Incoming) => {
          seen.push(record);
          return [];
        };
        for (const group of ['g', 'h']) await bus.subscribe({ group, topics: ['agent.requests'], handle });
        // The first look at who else writes to the file, some milliseconds later, clears what is kept.
        await eventually('one object', async () => {
          const before = seen.length;
          await bus.publish([request('s', 'once')]);
          await eventually('both groups', () => seen.length === before + 2);
          const read = (await all(bus, 'agent.requests')).at(-1);
          return seen.at(-2) === seen.at(-1) && read?.record === seen.at(-1);
        });
        expect(() => Object.assign(seen[0] as object, { question: 'another' })).toThrow(TypeError);
      }),
    testMs,
  );

  it(
    'is read from the file again once another process has written to it',
    () =>
      onBus(async (bus, file) => {
        await bus.subscribe({ group: 'g', topics: ['agent.requests'], handle: async () => [] });
        await bus.publish([request('s', 'as it was'), request('s', 'gone')]);
        expect(await all(bus, 'agent.requests')).toHaveLength(2);
        const other = new DatabaseSync(file);
        const { value } = other.prepare('SELECT value FROM records WHERE seq = 0 OR seq = 1 ORDER BY seq').get() ?? {};
        const changed = Buffer.from(
          Buffer.from(value as Uint8Array)
            .toString('latin1')
            .replace('as it was', 'as it is '),
          'latin1',
        );
        other.prepare('UPDATE records SET value = ? WHERE value = ?').run(changed, value as Uint8Array);
        other.close();
        const question = async () =>
          ((await all(bus, 'agent.requests'))[0] as Incoming<'agent.requests'>).record.question;
        let now = '';
        await eventually('the change', async () => (now = await question()) !== 'as it was');
        expect(now).toBe('as it is ');
      }),
    testMs,
  );

  it(
    'is not kept with its credential',
    () =>
      onBus(async (bus) => {
        await bus.publish([{ ...request('s', 'secret'), headers: { authorization: 'Bearer secret' } }]);
        const [one] = await all(bus, 'agent.requests');
        const [two] = await all(bus, 'agent.requests');
        expect(two?.record).toEqual(one?.record);
        expect(two?.record).not.toBe(one?.record);
      }),
    testMs,
  );
});
