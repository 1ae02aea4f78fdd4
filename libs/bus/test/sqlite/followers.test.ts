import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { allTopics } from '@sluice/contracts';
import type { SqliteBus } from '@sluice/bus';
import { eventually, questionOf, request } from '../contract/harness.js';
import { inFolder, onBus, openOn } from './on-file.js';

/** Ends with the test. */
function follow(bus: SqliteBus, seen: string[]): () => Promise<void> {
  const ending = new AbortController();
  const reading = (async () => {
    for await (const message of bus.read(allTopics, { from: 'start', follow: true, signal: ending.signal }))
      if (message.topic === 'agent.requests') seen.push(questionOf(message));
  })();
  return async () => {
    ending.abort();
    await reading;
  };
}

function statements(): jest.SpiedFunction<StatementSync['all']> {
  const prototype = Object.getPrototypeOf(new DatabaseSync(':memory:').prepare('SELECT 1')) as StatementSync;
  return jest.spyOn(prototype, 'all');
}

describe('those who follow the log', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('do not ask the file for what their process wrote', () =>
    onBus(async (bus) => {
      const followers = Array.from({ length: 10 }, () => [] as string[]);
      const ends = followers.map((seen) => follow(bus, seen));
      await bus.publish([request('s', '0')]);
      await eventually('all have the first', () => followers.every(({ length }) => length === 1));
      const reads = statements();
      for (let n = 1; n <= 5; n++) {
        await bus.publish([request('s', String(n))]);
        await eventually('all have it', () => followers.every(({ length }) => length === n + 1));
      }
      // The first look at who else writes forgets what is known, once: then one of the end for all, and one a follower.
      expect(reads.mock.calls.length).toBeLessThanOrEqual(followers.length + 1);
      for (const end of ends) await end();
    }));

  it('have what another process writes, in order, while both write', () =>
    inFolder(async (file) => {
      const [here, there] = [await openOn(file), await openOn(file)];
      const [seenHere, seenThere] = [[] as string[], [] as string[]];
      const ends = [follow(here, seenHere), follow(there, seenThere)];
      const written = Array.from({ length: 100 }, (_, n) => String(n));
      await Promise.all(
        [here, there].map(async (bus, which) => {
          for (const n of written.filter((each) => Number(each) % 2 === which)) await bus.publish([request('s', n)]);
        }),
      );
      await eventually('both have all', () => seenHere.length === 100 && seenThere.length === 100);
      expect(seenThere).toEqual(seenHere);
      expect(new Set(seenHere)).toEqual(new Set(written));
      // Nobody follows there any more, so nothing tells that process of what comes; who begins to read has it all the
      // same.
      await ends[1]?.();
      await here.publish([request('s', 'last')]);
      const now: string[] = [];
      for await (const message of there.read(['agent.requests'], { from: 'start' })) now.push(questionOf(message));
      expect(now.at(-1)).toBe('last');
      await ends[0]?.();
      for (const bus of [here, there]) await bus.close();
    }));
});
