import { describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { createCodec, topics } from '@sluice/contracts';
import type { Dead, Subscription } from '@sluice/bus';
import { handleRecord } from '../../src/processing/handling.js';
import { RetryLog } from '../../src/processing/retry-log.js';
import { Revocation } from '../../src/processing/revocation.js';
import { Slots } from '../../src/processing/slots.js';
import { openStored } from '../../src/processing/stored.js';
import { deferred } from '../contract/harness.js';

const codec = createCodec({ register: () => Promise.resolve(1), find: () => Promise.resolve(undefined) });

/** Handles a request that is given up at once. */
async function given(
  more: Partial<Subscription>,
  revocation = new Revocation(),
  { working, stopping = new AbortController().signal }: { working?: Slots; stopping?: AbortSignal } = {},
) {
  const subscription: Subscription = {
    group: 'g',
    topics: [topics.requests],
    handle: () => Promise.reject(new Fault('invalid_request', 'It cannot be so.', false)),
    ...more,
  };
  const nothing = (): void => undefined;
  const retries = new RetryLog('g', nothing, Date);
  const parts = { codec: await codec, clock: Date, log: nothing, retries, emit: nothing };
  const options = { ...parts, subscription, working, stopping };
  const place = { topic: topics.requests, partition: 0, offset: 3, key: 's', headers: {}, timestamp: 5 };
  const opened = await openStored(await codec, { ...place, value: Buffer.from('{"question":"q"}') });
  return handleRecord(opened, options, revocation);
}

describe('a record that is dead-lettered', () => {
  it.each([
    ['goes out with what follows it', () => [], 2],
    ['goes out alone where that fails', () => Promise.reject(new Error('It has no room.')), 1],
  ])('%s, and is counted once', async (_, follows, actions) => {
    const counted: string[] = [];
    const finished = await given({
      afterDead: ({ code }: Dead) => void counted.push(code),
      onDead: (_dead, { afterCommit }) => {
        afterCommit(() => counted.push('what followed'));
        return follows();
      },
    });
    expect(finished?.outputs.map(({ topic }) => topic)).toEqual([topics.deadLetters]);
    expect(counted).toEqual([]);
    finished?.afterCommit.forEach((action) => action());
    expect(counted).toEqual(['invalid_request', 'what followed'].slice(0, actions));
  });

  it.each([
    ['ends', () => []],
    ['fails', () => Promise.reject(new Error('The ledger was closed.'))],
  ])('and then taken away, before what follows it %s, is left to who has it now', async (_, follows) => {
    const revocation = new Revocation();
    const [asked, answered] = [deferred(), deferred()];
    const finished = given(
      {
        onDead: async () => {
          asked.resolve();
          await answered.promise;
          return follows();
        },
      },
      revocation,
    );
    await asked.promise;
    revocation.revoke(new Error('The partition moved.'));
    answered.resolve();
    expect(await finished).toBeNull();
  });
});

describe('a record that waits for its turn', () => {
  it.each(['its partition moves', 'the consumer stops'])('is not begun any more when %s', async (why) => {
    const working = new Slots(1);
    expect(working.take('other')).toBe(true);
    const [revocation, stopping] = [new Revocation(), new AbortController()];
    let begun = 0;
    const handle: Subscription['handle'] = () => {
      begun++;
      return Promise.resolve([]);
    };
    const finished = given({ handle }, revocation, { working, stopping: stopping.signal });
    await new Promise(setImmediate);
    if (why === 'the consumer stops') {
      stopping.abort();
      working.close();
    } else {
      revocation.revoke(new Error('The partition moved.'));
      working.free('other');
    }
    expect([await finished, begun]).toEqual([null, 0]);
  });
});
