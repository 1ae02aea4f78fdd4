import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { SqliteBus } from '@sluice/bus';
import { all, eventually, questionOf, request, testMs } from '../contract/harness.js';
import { inFolder, openOn } from './on-file.js';

const token = 'Bearer planted-credential-of-a-caller';
const asked = (session: string, question: string) => ({
  ...request(session, question),
  headers: { authorization: token, other: 'kept' },
});

/** The bytes of all files beside the log. */
const bytesIn = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join();

/** Handles all that is on the log, and closes it. */
async function handled(bus: SqliteBus, group: string, count: number, deadLetters: boolean, use = true): Promise<void> {
  let finished = 0;
  await bus.subscribe({
    group,
    topics: ['agent.requests'],
    deadLetters,
    retry: { initialMs: 1, maxMs: 1, attempts: 1 },
    afterDead: () => void finished++,
    handle: (message, context) => {
      if (questionOf(message) === 'dies') throw new Fault('invalid_request', 'It dies.', false);
      if (use) context.credentialUsed('who asked');
      context.afterCommit(() => void finished++);
      return Promise.resolve([]);
    },
  });
  await eventually(`${count} records`, () => finished >= count);
}

describe('a credential on the log in a file', () => {
  it(
    'is gone, also from the file, once who needs it has handled its record; that there was one is still seen',
    () =>
      inFolder(async (file, folder) => {
        const bus = await openOn(file);
        await bus.publish([asked('s', 'lives'), asked('s', 'dies')]);
        await handled(bus, 'g', 2, true);
        const [lives, dies] = await all(bus, 'agent.requests');
        expect(lives?.headers).toEqual({ authorization: '', other: 'kept', 'sluice-sender': 'who asked' });
        expect(dies?.headers).toEqual({ authorization: '', other: 'kept' });
        await bus.close();
        expect(bytesIn(folder)).toContain('lives');
        expect(bytesIn(folder)).not.toContain('planted-credential');
      }),
    testMs,
  );

  it(
    'stays until a consumer that needs it has handled its record, whatever other groups read meanwhile',
    () =>
      inFolder(async (file) => {
        const bus = await openOn(file);
        await bus.publish([asked('s', 'lives'), asked('s', 'dies')]);
        await handled(bus, 'watcher', 2, false, false);
        for (const { headers } of await all(bus, 'agent.requests')) expect(headers['authorization']).toBe(token);
        await bus.close();
      }),
    testMs,
  );

  it(
    'of a record that a former version handled is gone with the next start, and that of one that waits stays',
    () =>
      inFolder(async (file, folder) => {
        const bus = await openOn(file);
        // Enough that most of them are never written over by other records.
        const many = Array.from({ length: 100 }, (_, n) => asked('s', 'old'.repeat(1 + n)));
        await bus.publish(many);
        await handled(bus, 'filter', many.length, true, false);
        await bus.close();
        const former = new DatabaseSync(file);
        former.exec('DROP TABLE identity; PRAGMA user_version = 2');
        former.close();
        const updated = await openOn(file);
        await updated.publish([asked('s', 'new')]);
        const read = await all(updated, 'agent.requests');
        const [old, waits] = [read[0], read.at(-1)];
        expect([old?.headers, waits?.headers['authorization']]).toEqual([{ authorization: '', other: 'kept' }, token]);
        await handled(updated, 'filter', 1, true);
        await updated.close();
        expect(bytesIn(folder)).not.toContain('planted-credential');
      }),
    testMs,
  );
});
