import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { topics } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import { Commits } from '../../src/kafka/commit/commits.js';
import { decodeFinished, encodeFinished, encodeWriter } from '../../src/kafka/commit/finished-set.js';
import type { GroupOffsets } from '../../src/kafka/commit/group-offsets.js';
import { TopicLimits } from '../../src/kafka/produce/topic-limits.js';
import { Names } from '../../src/kafka/names.js';
import type { TopicRecords } from '../../src/kafka/produce/produce-batches.js';
import type { Member, OffsetCommit, PartitionOffset } from '../../src/kafka/produce/requests.js';
import type { TransactionalProducer } from '../../src/kafka/produce/transactional-producer.js';
import { Transactions } from '../../src/kafka/commit/transactions.js';
import type { Finished } from '../../src/processing/handling.js';
import { Position } from '../../src/processing/position.js';
import { pause } from '../../src/processing/retry.js';
import { eventually } from '../contract/harness.js';

const closed = () =>
  Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError', retriable: true });
const ofType = (type: string) => Object.assign(new Error(type), { type });
const never = new AbortController().signal;

/** A record at an offset, finished; it leaves one output. */
function finished(partition: number, offset: number): Finished {
  const output = { topic: topics.audit, key: 's', value: Buffer.from(`${partition}/${offset}`), headers: {} };
  return { topic: topics.requests, offset, tenant: '', outputs: [output], afterCommit: [], carried: '' };
}

/** What happens to a request: it is answered, it or its answer is lost, or an error is the answer. */
type Fate = 'answered' | 'lost' | 'unanswered' | Error;

/** A transaction that is not over. */
interface Open {
  readonly offsets: Map<number, PartitionOffset>;
  readonly outputs: string[];
}

/** A broker’s side of it: what was committed, and the one transaction that is open. */
class Log {
  readonly asked: string[] = [];
  readonly outputs: string[] = [];
  readonly offsets = new Map<number, PartitionOffset>();
  generation = 1;
  /** For the requests to come, one after another; then all are answered. */
  fates: Fate[] = [];
  /** What happens before a request is answered, by its number. */
  readonly meanwhile = new Map<number, () => void>();
  private epoch = 0;
  private open: Open | undefined;

  /** What the next owner of something does first: what is open is aborted, and its producer is fenced. */
  fence(): void {
    this.epoch++;
    this.open = undefined;
  }

  /** The producer of the consumer under test. */
  producer(hasEpochs = true): TransactionalProducer {
    let mine = -1;
    const fenced = (): void => {
      if (mine !== this.epoch) throw ofType('INVALID_PRODUCER_EPOCH');
    };
    const open = (): Open => (this.open ??= { offsets: new Map(), outputs: [] });
    const end = (committed: boolean) => () => {
      fenced();
      const { offsets, outputs } = open();
      if (committed) for (const [partition, offset] of offsets) this.offsets.set(partition, offset);
      if (committed) this.outputs.push(...outputs);
      this.open = undefined;
    };
    const producer = {
      hasEpochs,
      connect: () => this.ask('connect', () => (this.fence(), (mine = this.epoch))),
      sendOffsets: ({ member, offsets }: OffsetCommit) =>
        this.ask(`offsets ${offsets.map(({ partition, offset }) => `${partition}/${offset}`).join()}`, () => {
          fenced();
          if (member.generation !== this.generation) throw ofType('ILLEGAL_GENERATION');
          for (const one of offsets) open().offsets.set(one.partition, one);
        }),
      send: (sends: readonly (readonly TopicRecords[])[]) => {
        const records = sends.flatMap((topic) => topic.flatMap((one) => one.records.map(({ value }) => String(value))));
        return this.ask(`send ${records.join()}`, () => {
          fenced();
          open().outputs.push(...records);
        });
      },
      commit: () => this.ask('commit', end(true)),
      abort: () => this.ask('abort', end(false)),
    };
    return producer as unknown as TransactionalProducer;
  }

  /** How often it was asked where a partition stands. */
  looks = 0;

  async settled(partition: number): Promise<PartitionOffset | undefined> {
    this.looks++;
    await pause(0, never);
    return this.offsets.get(partition);
  }

  private async ask(what: string, work: () => unknown): Promise<void> {
    this.asked.push(what);
    const fate = this.fates.shift() ?? 'answered';
    const count = this.asked.length;
    await pause(0, never);
    this.meanwhile.get(count)?.();
    if (fate instanceof Error) throw fate;
    if (fate === 'lost') throw closed();
    work();
    if (fate === 'unanswered') throw closed();
  }
}

/** A consumer’s transactions on the log, with the commits of partitions that stand at 0 unless it knows better. */
function consumerOn(log: Log, { hasEpochs = true } = {}) {
  const settled = async (_: string, partition: number) =>
    (await log.settled(partition)) ?? { offset: -1, metadata: null };
  const transactions = new Transactions({
    producer: log.producer(hasEpochs),
    offsets: { settled } as unknown as GroupOffsets,
    names: new Names(''),
    limits: new TopicLimits(new Names('')),
    group: 'g',
    log: () => undefined,
    observer: undefined,
    explain: (error) => new Fault('storage', String(error), true),
  });
  const lost: number[] = [];
  /** Takes it over: its offset gets the name of the consumer’s writer. */
  const partition = (number: number): Commits => {
    const position = positionOn(log, number);
    const metadata = encodeFinished(position.prefix, position.ranges) + encodeWriter('writer-of-us');
    log.offsets.set(number, { topic: 't', partition: number, offset: position.prefix, metadata });
    return new Commits({
      transactions,
      writer: 'writer-of-us',
      position,
      carried: '',
      topic: 't',
      partition: number,
      committed: () => undefined,
      lost: () => lost.push(number),
    });
  };
  transactions.joined(memberIn(log.generation));
  return { transactions, partition, lost };
}

/** Another consumer has the partition, does what is left of it up to `past`, and loses it to whoever is next. */
function doneByAnother(log: Log, number: number, past: number): void {
  log.generation++;
  log.fence();
  const position = positionOn(log, number);
  for (let at = 0; at < past; at++) if (position.unfinishedFrom(at) === at) log.outputs.push(`${number}/${at}`);
  log.offsets.set(number, { topic: 't', partition: number, offset: past, metadata: encodeWriter('other') });
}

function memberIn(generation: number): Member {
  return { memberId: 'm', generation };
}

function positionOn(log: Log, partition: number): Position {
  const { offset = 0, metadata = null } = log.offsets.get(partition) ?? {};
  const position = new Position(offset);
  for (const { first, past } of decodeFinished(offset, metadata)) position.finish(first, past);
  return position;
}

/** Adds the records at the offsets, which finish in this order. */
function finish(commits: Commits, ...offsets: readonly number[]): void {
  for (const offset of offsets) commits.add(finished(commits.partition, offset), offset + 1);
}

describe('the transactions of a consumer', () => {
  it('have what all its partitions have finished, in one after another', async () => {
    const log = new Log();
    const { partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    finish(one, 0, 1);
    finish(two, 0);
    await eventually('the first', () => log.outputs.length === 3);
    finish(two, 1);
    await Promise.all([one.settle(), two.settle()]);
    expect(log.asked).toEqual([
      'connect',
      'offsets 1/2,2/1',
      'send 1/0,1/1,2/0',
      'commit',
      'offsets 2/2',
      'send 2/1',
      'commit',
    ]);
  });

  it('wait for the markers of the one before, and say nothing of it', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    log.fates = ['answered', ofType('CONCURRENT_TRANSACTIONS'), ofType('CONCURRENT_TRANSACTIONS')];
    finish(partition(1), 0);
    await eventually('the output', () => log.outputs.length === 1);
    expect(log.asked).toEqual(['connect', 'offsets 1/1', 'offsets 1/1', 'offsets 1/1', 'send 1/0', 'commit']);
    expect(transactions.trouble).toBeUndefined();
  });

  it('begin with the offset of a record that is being handled, and ask for it once', async () => {
    const log = new Log();
    const { partition } = consumerOn(log);
    const one = partition(1);
    one.flush();
    await one.settle();
    log.asked.length = 0;
    one.expect(1);
    expect(log.asked).toEqual(['offsets 1/1']);
    finish(one, 0);
    await one.settle();
    expect(log.asked).toEqual(['offsets 1/1', 'send 1/0', 'commit']);
  });

  it('put that offset back if another partition’s record finishes before', async () => {
    const log = new Log();
    const { partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    finish(one, 0);
    await one.settle();
    log.asked.length = 0;
    one.expect(2);
    finish(two, 0);
    await two.settle();
    expect(log.asked).toEqual(['offsets 1/2', 'offsets 2/1,1/1', 'send 2/0', 'commit']);
    expect(log.offsets.get(1)?.offset).toBe(1);
  });

  it('abort it if that partition has gone meanwhile', async () => {
    const log = new Log();
    const { partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    finish(one, 0);
    await one.settle();
    log.asked.length = 0;
    one.expect(2);
    one.drop();
    finish(two, 0);
    await two.settle();
    expect(log.asked).toEqual(['offsets 1/2', 'abort', 'offsets 2/1', 'send 2/0', 'commit']);
    expect(log.offsets.get(1)?.offset).toBe(1);
  });

  it('do not begin so without epochs, or for a partition that is gone', async () => {
    for (const hasEpochs of [true, false]) {
      const log = new Log();
      const { partition } = consumerOn(log, { hasEpochs });
      const one = partition(1);
      finish(one, 0);
      await one.settle();
      log.asked.length = 0;
      if (hasEpochs) one.drop();
      one.expect(2);
      expect(log.asked).toEqual([]);
    }
  });

  it('are sent again if the group has given out its partitions since, without those that went', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    log.generation = 2;
    finish(one, 0);
    finish(two, 0);
    await eventually('the refusal', () => log.asked.length === 2);
    await pause(100, never);
    expect(log.asked).toEqual(['connect', 'offsets 1/1,2/1']);
    one.drop();
    transactions.joined(memberIn(2));
    await two.settle();
    expect(log.outputs).toEqual(['2/0']);
    await one.over();
  });

  it('keep no caller waiting if the group has forgotten this consumer and says no more', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const one = partition(1);
    log.generation = 2;
    finish(one, 0);
    await one.settle();
    expect(transactions.trouble).toMatch(/ILLEGAL_GENERATION/);
    one.drop();
    await one.over();
    expect(transactions.trouble).toBeUndefined();
  });

  it('have no trouble any more when the group has given out its partitions', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const one = partition(1);
    log.generation = 2;
    finish(one, 0);
    await one.settle();
    transactions.joined(memberIn(2));
    await eventually('the output', () => log.outputs.length === 1);
    await one.over();
    expect(transactions.trouble).toBeUndefined();
  });

  it.each([
    ['the request', 'lost', 2],
    ['the answer', 'unanswered', 1],
  ] as const)(
    'whose end got no answer are sent again only if they are not on the log: lost was %s',
    async (_, fate, commits) => {
      const log = new Log();
      const { partition } = consumerOn(log);
      const one = partition(1);
      log.fates = ['answered', 'answered', 'answered', fate];
      finish(one, 0);
      await eventually('the output', () => log.outputs.length === 1);
      await one.over();
      expect(log.outputs).toEqual(['1/0']);
      expect(log.asked.filter((one) => one === 'commit')).toHaveLength(commits);
    },
  );

  it('whose end got no answer are not judged by a partition that has another owner by now', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    log.fates = ['answered', 'answered', 'answered', 'unanswered'];
    finish(one, 0);
    finish(two, 0);
    // The producer starts again.
    log.meanwhile.set(5, () => doneByAnother(log, 1, 2));
    await two.settle();
    one.drop();
    transactions.joined(memberIn(2));
    await Promise.all([one.over(), two.over()]);
    expect([...log.outputs].sort()).toEqual(['1/0', '1/1', '2/0']);
    expect(log.asked.filter((what) => what === 'commit')).toHaveLength(1);
  });

  it.each([
    ['not on the log', 'lost', ['1/0', '2/0']],
    ['on the log', 'unanswered', ['1/0', '1/1', '2/0']],
  ] as const)(
    'whose end got no answer are not judged by a partition that went and came back: they are %s',
    async (_, fate, outputs) => {
      const log = new Log();
      const { transactions, partition } = consumerOn(log);
      const [one, two] = [partition(1), partition(2)];
      log.fates = ['answered', 'answered', 'answered', fate];
      finish(one, 0);
      finish(two, 0);
      // While the producer starts again the other one does what was lost, or goes on behind it, and this consumer has
      // the partition again.
      log.meanwhile.set(5, () => {
        doneByAnother(log, 1, fate === 'lost' ? 1 : 2);
        one.drop();
        partition(1);
        transactions.joined(memberIn(2));
      });
      await two.settle();
      await one.over();
      expect([...log.outputs].sort()).toEqual(outputs);
      expect(log.offsets.get(2)?.offset).toBe(1);
    },
  );

  it('whose end got no answer wait for the group’s word if all their partitions have other owners', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    log.fates = ['answered', 'answered', 'answered', 'unanswered'];
    finish(one, 0);
    log.meanwhile.set(5, () => doneByAnother(log, 1, 1));
    await one.settle();
    expect(transactions.trouble).toMatch(/another consumer/);
    one.drop();
    transactions.joined(memberIn(2));
    finish(two, 0);
    await eventually('the other one’s', () => log.outputs.length === 2);
    expect(log.outputs).toEqual(['1/0', '2/0']);
    expect(transactions.trouble).toBeUndefined();
  });

  it('whose end got no answer are not asked after without a pause, however often the group has spoken since', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const one = partition(1);
    log.fates = ['answered', 'answered', 'answered', 'unanswered'];
    finish(one, 0);
    log.meanwhile.set(5, () => {
      transactions.joined(memberIn(++log.generation));
      doneByAnother(log, 1, 1);
    });
    await eventually('the question', () => log.looks > 0);
    await pause(100, never);
    // Once more at once, since it has.
    expect(log.looks).toBe(2);
    one.drop();
    transactions.joined(memberIn(log.generation));
    await one.over();
    expect(log.outputs).toEqual(['1/0']);
  });

  it('that the broker wants aborted are begun again as often as that takes, and lose nothing', async () => {
    const log = new Log();
    const { partition, lost } = consumerOn(log);
    const one = partition(1);
    for (let n = 0; n < 3; n++) log.fates.push('answered', 'answered', ofType('TRANSACTION_ABORTABLE'));
    finish(one, 0);
    await eventually('the output', () => log.outputs.length === 1);
    expect(lost).toEqual([]);
  });

  it('are not waited for any more once they are closed, though the broker lets them wait', async () => {
    const log = new Log();
    const { transactions, partition } = consumerOn(log);
    const one = partition(1);
    log.fates = ['answered', ...Array.from({ length: 10_000 }, () => ofType('CONCURRENT_TRANSACTIONS'))];
    finish(one, 0);
    await eventually('the wait', () => log.asked.length > 5);
    one.drop();
    await Promise.all([one.over(), transactions.close()]);
    expect(log.asked.length).toBeLessThan(1_000);
    expect(log.asked.filter((what) => what === 'connect')).toHaveLength(1);
  });

  it('that are tried by partition are under way until the last one was', async () => {
    const log = new Log();
    const { partition } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    const tooLarge = new Error('too large');
    for (let n = 0; n < 4; n++) log.fates.push('answered', 'answered', tooLarge);
    finish(one, 0);
    finish(two, 0);
    const ended: string[] = [];
    // The first by itself.
    log.meanwhile.set(11, () => void two.over().then(() => ended.push(...log.outputs, 'over')));
    await eventually('the end', () => ended.length > 0);
    expect(log.asked[10]).toBe('offsets 1/1');
    expect(ended).toEqual(['2/0', 'over']);
  });

  it('that a broker refuses are tried by partition: only the one that is refused again is lost', async () => {
    const log = new Log();
    const { partition, lost } = consumerOn(log);
    const [one, two] = [partition(1), partition(2)];
    const tooLarge = new Error('too large');
    // Both together, both together once more, the first by itself, and by itself once more.
    for (let n = 0; n < 4; n++) log.fates.push('answered', 'answered', tooLarge);
    finish(one, 0);
    finish(two, 0);
    await eventually('the other one’s', () => log.outputs.length === 1);
    expect(log.outputs).toEqual(['2/0']);
    expect(lost).toEqual([1]);
    expect([one.isDropped, two.isDropped]).toEqual([true, false]);
  });

  it('that are lost are ended, since no consumer gets the committed offset as long as they are open', async () => {
    const log = new Log();
    const { partition, lost } = consumerOn(log);
    const one = partition(1);
    for (let n = 0; n < 2; n++) log.fates.push('answered', 'answered', new Error('too large'));
    finish(one, 0);
    await eventually('the loss', () => lost.length === 1);
    expect(log.asked.at(-1)).toBe('connect');
  });

  it('have each output once, and the offsets with it, whatever is lost and whichever consumer comes in between', async () => {
    const fate = fc.oneof(
      { weight: 6, arbitrary: fc.constant('answered' as const) },
      { weight: 1, arbitrary: fc.constantFrom('lost' as const, 'unanswered' as const) },
      { weight: 1, arbitrary: fc.constantFrom('CONCURRENT_TRANSACTIONS', 'INVALID_PRODUCER_EPOCH').map(ofType) },
    );
    // A second refusal would be a loss, which is the case above.
    const fates = fc
      .tuple(fc.array(fate, { maxLength: 30 }), fc.nat(60))
      .map(([all, refused]) => all.map((one, index) => (index === refused ? ofType('INVALID_TXN_STATE') : one)));
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('finish' as const) },
      { weight: 1, arbitrary: fc.constantFrom('expect' as const, 'rebalance' as const, 'exchange' as const) },
      { weight: 1, arbitrary: fc.constant('fence' as const) },
    );
    const waits = fc.oneof(fc.nat(3), fc.nat(15));
    const steps = fc.array(fc.tuple(step, fc.nat(2), waits), { minLength: 5, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, fates, async (given, toCome) => {
        const log = new Log();
        log.fates = [...toCome];
        const { transactions, partition } = consumerOn(log);
        const commits = [0, 1, 2].map(partition);
        const next = [0, 0, 0];
        const all: string[] = [];
        for (const [what, number, waits] of given) {
          const passTime = async (): Promise<void> => {
            for (let wait = 0; wait < waits; wait++) await pause(0, never);
          };
          const offset = next[number] as number;
          if (what === 'finish') {
            next[number] = offset + 1;
            all.push(`${number}/${offset}`);
            finish(commits[number] as Commits, offset);
          } else if (what === 'expect') commits[number]?.expect(offset + 1);
          else if (what === 'fence') log.fence();
          else {
            const going = what === 'rebalance' ? [number] : [number, (number + 1) % 3];
            for (const one of going) doneByAnother(log, one, next[one] as number);
            // This consumer hears of it later, if at all before it has the partitions again.
            await passTime();
            for (const one of going) commits[one]?.drop();
            if (what === 'exchange') {
              transactions.joined(memberIn(log.generation));
              await passTime();
            }
            for (const one of going) commits[one] = partition(one);
            transactions.joined(memberIn(log.generation));
          }
          await passTime();
        }
        log.fates = [];
        for (const one of commits) one.flush();
        await eventually('all of it', () => commits.every(({ hasWork }) => !hasWork));
        await Promise.all(commits.map((one) => one.over()));
        expect([...log.outputs].sort()).toEqual(all.sort());
        expect(commits.map(({ partition: number }) => log.offsets.get(number)?.offset)).toEqual(next);
        await transactions.close();
      }),
      { numRuns: 60 },
    );
  });
});
