import { describe, expect, it } from '@jest/globals';
import { createCodec, topics } from '@sluice/contracts';
import { type Subscription, tenantHeader } from '@sluice/bus';
import type { KafkaMessage } from 'kafkajs';
import { HeldBytes } from '../../src/kafka/consume/held-bytes.js';
import { PartitionOwner } from '../../src/kafka/consume/partition-owner.js';
import { Position } from '../../src/processing/position.js';
import { RetryLog } from '../../src/processing/retry-log.js';
import { Slots } from '../../src/processing/slots.js';
import { deferred, numbers } from '../contract/harness.js';

const nothing = (): void => undefined;
const rounds = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await new Promise(setImmediate);
};

function message(tenant: string, offset: number): KafkaMessage {
  const value = Buffer.from('{"question":"q"}');
  const headers = { [tenantHeader]: tenant };
  return {
    key: Buffer.from(`${tenant}-${offset}`),
    value,
    headers,
    offset: `${offset}`,
    timestamp: '5',
    attributes: 0,
  };
}

/** A partition of which one record is in work at a time, and the sessions that were handled so far. */
async function onePartition(first: Promise<void>) {
  const handled: string[] = [];
  const subscription: Subscription = {
    ...{ group: 'g', topics: [topics.requests] },
    handle: async ({ key }) => {
      handled.push(key);
      if (handled.length === 1) await first;
      return [];
    },
  };
  const codec = await createCodec({ register: () => Promise.resolve(1), find: () => Promise.resolve(undefined) });
  const retries = new RetryLog('g', nothing, Date);
  const stopping = new AbortController();
  const slots = new Slots(1);
  const parts = { codec, log: nothing, slots, group: 'g', writer: 'w', partition: 0 };
  const owner = new PartitionOwner({
    ...parts,
    ...{ source: topics.requests, topic: topics.requests, position: new Position(0), carried: '' },
    held: new HeldBytes(16 * 1024 * 1024, () => 1),
    handling: { ...parts, subscription, clock: Date, retries, emit: nothing, stopping: stopping.signal },
    transactions: { trouble: undefined, ask: nothing, expect: nothing, dropped: nothing },
    ...{ steer: nothing, failed: nothing, lost: nothing },
  });
  const close = (): void => {
    stopping.abort();
    slots.close();
    owner.end('The test is over.');
  };
  return { owner, handled, slots, close };
}

describe('the records of several tenants in one partition', () => {
  it('are handled in turn, however many of one were fetched before those of another', async () => {
    const first = deferred();
    const { owner, handled, close } = await onePartition(first.promise);
    const all = [...Array<string>(900).fill('many'), 'few', 'few', 'few'];
    owner.receive(all.map(message), all.length - 1);
    await rounds(10);
    first.resolve();
    await rounds(10);
    close();
    expect(handled.slice(0, 7).map((key) => key.replace(/-.*/, ''))).toEqual([
      'many',
      'few',
      'many',
      'few',
      'many',
      'few',
      'many',
    ]);
  });

  it('wait for their turn up to a limit, beyond which the partition looks at no more, and then goes on', async () => {
    const first = deferred();
    const { owner, handled, slots, close } = await onePartition(first.promise);
    const all = numbers(3_000).map(() => 'many');
    owner.receive(all.map(message), all.length - 1);
    await rounds(40);
    expect([handled.length, slots.waiting]).toEqual([1, 1_000]);
    first.resolve();
    for (let tries = 0; handled.length < 3_000 && tries < 100_000; tries++) await rounds(1);
    close();
    expect(handled).toEqual(all.map((tenant, offset) => `${tenant}-${offset}`));
  });
});
