import { expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { RetryLog } from '../../src/processing/retry-log.js';

const unreachable = new Fault('model_unreachable', 'The model m could not be reached.', true);
const away = new Fault('ledger_unreachable', 'The ledger is away.', true);
const stored = (offset: number) => ({
  topic: topics.toolsets,
  partition: 2,
  offset,
  key: 's',
  headers: {},
  timestamp: 5,
  value: Buffer.alloc(0),
});

it('records that are tried again are reported by kind of fault: the first at once, then one every half minute, whatever the clock does', () => {
  const said: unknown[] = [];
  let now = 0;
  const retries = new RetryLog('agent', (...line) => said.push(line), { now: () => now });
  const place = { group: 'agent', topic: topics.toolsets, partition: 2 };

  for (const offset of [1, 2, 3]) retries.noticed(unreachable, stored(offset), 1);
  expect(said.splice(0)).toEqual([
    [
      'warn',
      'The model m could not be reached. The record is tried again.',
      { ...place, offset: 1, attempt: 1, code: 'model_unreachable' },
    ],
  ]);

  now = 29_999;
  retries.noticed(unreachable, stored(1), 2);
  expect(said.splice(0)).toEqual([]);
  retries.noticed(away, stored(4), 1);
  expect(said.splice(0)).toMatchObject([['warn', 'The ledger is away. The record is tried again.', { offset: 4 }]]);

  now = 30_000;
  retries.noticed(unreachable, stored(2), 9);
  expect(said).toMatchObject([['warn', expect.any(String), { offset: 2, attempt: 9 }]]);

  said.splice(0);
  now = 10_000;
  retries.noticed(unreachable, stored(5), 1);
  expect(said).toHaveLength(1);
});
