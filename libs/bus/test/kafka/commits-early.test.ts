import { describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import { Commits } from '../../src/kafka/commits.js';
import { Names } from '../../src/kafka/names.js';
import type { OffsetCommit } from '../../src/kafka/producing/requests.js';
import type { TransactionalProducer } from '../../src/kafka/producing/transactional-producer.js';
import { TransactionSlots } from '../../src/kafka/transaction-slots.js';
import type { Finished } from '../../src/processing/handling.js';
import { Position } from '../../src/processing/position.js';
import { eventually } from '../contract/harness.js';

/** A record at an offset, finished; it leaves one output. */
function finished(offset: number): Finished {
  const output = { topic: topics.audit, key: 's', value: Buffer.from('x'), headers: {} };
  return { topic: topics.requests, offset, outputs: [output], afterCommit: [], carried: '' };
}

/** The commits of a partition that stands at 5, and what its producer is asked for. */
function commitsAt5({ hasEpochs = true, concurrent = 0 } = {}) {
  const asked: string[] = [];
  let refusals = concurrent;
  const sendOffset = async ({ offset }: OffsetCommit): Promise<void> => {
    asked.push(`offset ${offset}`);
    if (refusals-- > 0) throw Object.assign(new Error('concurrent'), { type: 'CONCURRENT_TRANSACTIONS' });
  };
  const noting = (what: string) => () => Promise.resolve(void asked.push(what));
  const producer = { hasEpochs, sendOffset, send: noting('send'), commit: noting('commit'), abort: noting('abort') };
  let lost: unknown;
  const commits = new Commits({
    producer: producer as unknown as TransactionalProducer,
    transactions: new TransactionSlots(() => 1),
    position: new Position(5),
    carried: '',
    names: new Names(''),
    group: 'g',
    groupId: 'g',
    topic: 't',
    partition: 0,
    log: () => undefined,
    observer: undefined,
    explain: (error) => new Fault('storage', String(error), true),
    committed: () => undefined,
    lost: (error) => (lost = error),
  });
  const isCommitted = (times = 1) =>
    eventually('commit', () => asked.filter((one) => one === 'commit').length >= times);
  return { commits, asked, isCommitted, lost: () => lost };
}

describe('a commit whose offset went ahead', () => {
  it('has that offset, and is asked for it once', async () => {
    const { commits, asked, isCommitted } = commitsAt5();
    commits.expect(6);
    expect(asked).toEqual(['offset 6']);
    commits.add(finished(5), 6);
    await isCommitted();
    expect(asked).toEqual(['offset 6', 'send', 'commit']);
  });

  it('sends the one that is due if more has finished, or less', async () => {
    const more = commitsAt5();
    more.commits.expect(6);
    more.commits.add(finished(5), 6);
    more.commits.add(finished(6), 7);
    await more.isCommitted();
    expect(more.asked).toEqual(['offset 6', 'offset 7', 'send', 'commit']);
    const less = commitsAt5();
    less.commits.expect(6);
    less.commits.prove();
    await less.isCommitted();
    expect(less.asked).toEqual(['offset 6', 'offset 5', 'send', 'commit']);
    less.commits.add(finished(5), 6);
    await less.isCommitted(2);
    expect(less.asked.slice(4)).toEqual(['offset 6', 'send', 'commit']);
  });

  it('sends it again if the markers of the transaction before were in the way', async () => {
    const { commits, asked, isCommitted } = commitsAt5({ concurrent: 2 });
    commits.expect(6);
    commits.add(finished(5), 6);
    await isCommitted();
    expect(asked).toEqual(['offset 6', 'offset 6', 'offset 6', 'send', 'commit']);
  });

  it('is none where transactions have no epoch, while another one is under way, or when the partition is gone', async () => {
    const old = commitsAt5({ hasEpochs: false });
    old.commits.expect(6);
    expect(old.asked).toEqual([]);
    const busy = commitsAt5();
    busy.commits.add(finished(5), 6);
    busy.commits.expect(7);
    await busy.isCommitted();
    expect(busy.asked).toEqual(['offset 6', 'send', 'commit']);
    const gone = commitsAt5();
    gone.commits.drop();
    gone.commits.expect(6);
    expect(gone.asked).toEqual([]);
  });
});
