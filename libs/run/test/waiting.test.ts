import { expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { waitingOf } from '@sluice/run';

const clock = { now: () => 10 };
type Documents = Parameters<typeof waitingOf>[2]['documents'];
const documents = (find: Documents['find']) => ({ find }) as Documents;

it('a run is shown without what it waits for where the ledger cannot be asked', async () => {
  const waiting = { iteration: 1, since: 5, reason: 'connection refused' };
  const stored = { version: 1, text: JSON.stringify(waiting), expiresAt: 11 };
  const there = documents(() => Promise.resolve(stored));
  expect(await waitingOf('r', 'acme', { documents: there, clock })).toEqual(waiting);
  const away = documents(() => Promise.reject(new Fault('ledger_unreachable', 'The database is away.', true)));
  expect(await waitingOf('r', 'acme', { documents: away, clock })).toBeNull();
});
