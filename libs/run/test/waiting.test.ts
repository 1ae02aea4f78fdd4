import { describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { noLongerWaiting, noteWaiting, waitingOf } from '@sluice/run';

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

describe('that a run waits for its model', () => {
  /** Documents that are kept, and how often they were asked. */
  const kept = () => {
    const texts = new Map<string, string>();
    let asked = 0;
    const documents = {
      find: (key: string) => {
        asked++;
        const text = texts.get(key);
        return Promise.resolve(text === undefined ? undefined : { version: texts.size, text, expiresAt: null });
      },
      put: (key: string, _: number, text: string) => {
        texts.set(key, text);
        return Promise.resolve(true);
      },
    } as unknown as Documents;
    return { documents, asked: () => asked };
  };
  const turn = (iteration: number, tenantId: string | null = 'acme') =>
    ({
      requestId: 'r',
      iteration,
      run: { deadline: 99, principal: tenantId === null ? null : { tenantId } },
    }) as Parameters<typeof noteWaiting>[0];

  it('is since the first failure of its turn, with the last reason, until the turn came', async () => {
    const { documents } = kept();
    const at = (now: number) => ({ documents, clock: { now: () => now } });
    await noteWaiting(turn(1), 'away', at(5));
    await noteWaiting(turn(1), 'still away', at(7));
    expect(await waitingOf('r', 'acme', at(8))).toEqual({ iteration: 1, since: 5, reason: 'still away' });
    await noteWaiting(turn(2), 'away again', at(9));
    expect(await waitingOf('r', 'acme', at(9))).toEqual({ iteration: 2, since: 9, reason: 'away again' });
    await noLongerWaiting(turn(2), at(9));
    expect(await waitingOf('r', 'acme', at(9))).toBeNull();
  });

  it('is kept of no run without a caller', async () => {
    const { documents, asked } = kept();
    await noteWaiting(turn(1, null), 'away', { documents, clock });
    await noLongerWaiting(turn(1, null), { documents, clock });
    expect(asked()).toBe(0);
  });
});
