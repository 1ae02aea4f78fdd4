import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Handler, KafkaBusOptions } from '@sluice/bus';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { clusterOf } from '../../src/kafka/kafkajs/cluster.js';
import { isStaleGeneration } from '../../src/kafka/kafkajs/failure.js';
import { encodeWriter } from '../../src/kafka/commit/finished-set.js';
import { GroupOffsets } from '../../src/kafka/commit/group-offsets.js';
import { TruncationCheck } from '../../src/kafka/consume/log-truncation.js';
import { Names } from '../../src/kafka/names.js';
import { coordinates } from '../../src/kafka/produce/coordinator.js';
import type { Member } from '../../src/kafka/produce/requests.js';
import { TransactionalProducer } from '../../src/kafka/produce/transactional-producer.js';
import { acquire } from '../../src/kafka/consume/acquire.js';
import {
  deferred,
  entries,
  entry,
  eventually,
  grace,
  numbers,
  questionOf,
  request,
  testMs,
} from '../contract/harness.js';
import { onKafka, plainKafka, standing, withAdmin, withProducer, writerOf } from './on-broker.js';

const topics = ['agent.requests'] as const;

/** What a takeover by anybody does to the owner before. */
const fence = async (options: KafkaBusOptions, group: string) =>
  withProducer(options, await writerOf(options, group, 'agent.requests'), async (producer) =>
    (await producer.transaction()).abort(),
  );

/** A member of a group that nobody else is in, by itself: each call has the group give out its partitions anew. */
async function memberOf(cluster: ReturnType<typeof clusterOf>, groupId: string): Promise<() => Promise<Member>> {
  let memberId = '';
  await cluster.connect();
  await cluster.refreshMetadata();
  return async () => {
    const { coordinator: node } = await cluster.findGroupCoordinatorMetadata({
      groupId,
      coordinatorType: coordinates.group,
    });
    const coordinator = (await cluster.findBroker(node)) as unknown as GroupBroker;
    const timeouts = { sessionTimeout: 10_000, rebalanceTimeout: 10_000 };
    const groupProtocols = [{ name: 'none', metadata: Buffer.of(0) }];
    const joined = await coordinator.joinGroup({ groupId, memberId, groupProtocols, ...timeouts });
    memberId = joined.memberId;
    const { generationId } = joined;
    await coordinator.syncGroup({ groupId, generationId, memberId, groupAssignment: [] });
    return { memberId, generation: generationId };
  };
}

/** What of kafkajs’s broker a member needs. */
interface GroupBroker {
  joinGroup(asked: object): Promise<{ readonly memberId: string; readonly generationId: number }>;
  syncGroup(asked: object): Promise<unknown>;
}

describe('who owns a partition', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'points 1 and 6: a writer that was fenced begins again, and what is still its consumer’s goes out once, without being done again',
    () =>
      onKafka(async (start, options) => {
        const { bus, said } = await start();
        const gates = { first: deferred(), second: deferred() };
        const runs: string[] = [];
        const aborted: string[] = [];
        await bus.publish([request('a', 'first'), request('b', 'second')]);
        await bus.subscribe({
          group: 'o-1',
          topics,
          handle: async (message, { signal }) => {
            const question = questionOf(message);
            runs.push(question);
            signal.addEventListener('abort', () => aborted.push(question));
            await (question === 'first' ? gates.first : gates.second).promise;
            return [entry(message)];
          },
        });
        await eventually('both at work', () => runs.length === 2);
        await fence(options, 'o-1');
        gates.first.resolve();
        await eventually('the first', async () => (await entries(bus)).length >= 1);
        await fence(options, 'o-1');
        gates.second.resolve();
        await eventually('the second', async () => (await entries(bus)).length >= 2);
        await grace();
        expect(await entries(bus)).toEqual(['first', 'second']);
        expect(runs).toHaveLength(2);
        expect(aborted).toEqual([]);
        // A broker that is busy may not host a topic yet that was just created.
        expect(said.filter((line) => !line.includes('The log cannot be opened'))).toEqual([]);
      }),
    testMs,
  );

  it(
    'points 2 and 4: once another one has the partition, the one before commits nothing, even before the new one has',
    () =>
      onKafka(async (start) => {
        const [gate, next] = [deferred(), deferred()];
        const zombie = await start();
        let atWork = 0;
        const handle =
          (until: Promise<void>, by: string): Handler =>
          async (message) => {
            atWork++;
            await until;
            return [entry(message, by)];
          };
        await zombie.bus.publish([request('s', 'x')]);
        const lost = await zombie.bus.subscribe({ group: 'o-2', topics, handle: handle(gate.promise, 'zombie') });
        await eventually('the zombie at work', () => atWork === 1);
        await zombie.forgotten();
        const owner = await start();
        await owner.bus.subscribe({ group: 'o-2', topics, handle: handle(next.promise, 'owner') });
        await eventually('the owner at work', () => atWork === 2);
        gate.resolve();
        expect((await lost.failed).message).toMatch(/o-2/);
        expect(await entries(owner.bus)).toEqual([]);
        next.resolve();
        await eventually('the output', async () => (await entries(owner.bus)).length >= 1);
        await grace();
        expect(await entries(owner.bus)).toEqual(['owner']);
      }),
    testMs,
  );

  it(
    'point 3: a takeover in the middle of the other’s commit sees that commit, or it never comes to be',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        // What is committed below is on the log.
        await bus.publish(Array.from({ length: 60 }, (_, index) => request('s', String(index))));
        const cluster = clusterOf(plainKafka(options));
        const group = `${options.prefix}o-3`;
        const topic = `${options.prefix}agent.requests`;
        const offsets = new GroupOffsets(cluster, group);
        const rejoin = await memberOf(cluster, group);
        const writerNamed = (writer: string) =>
          new TransactionalProducer({ cluster, transactionalId: `${group}.${writer}`, transactionTimeoutMs: 5_000 });
        await withAdmin(options, async (admin) => {
          const ownerAs = async (writer: string) => {
            const producer = writerNamed(writer);
            await producer.connect();
            const member = await rejoin();
            const { position } = await acquire({
              admin,
              offsets,
              group,
              topic,
              partition: 0,
              writer,
              fence: (former) => writerNamed(former).connect(),
              member: () => member,
              truncation: new TruncationCheck(),
            });
            return { producer, member, writer, stands: position.prefix };
          };
          let owner = await ownerAs('writer-0');
          let committed = 0;
          for (let round = 1; round <= 60; round++) {
            const { producer, member, writer, stands } = owner;
            const committing = (async () => {
              const offset = { topic, partition: 0, offset: stands + 1, metadata: encodeWriter(writer) };
              await producer.sendOffsets({ groupId: group, member, offsets: [offset] });
              await producer.commit();
            })();
            const [isCommitted, next] = await Promise.all([
              committing.then(
                () => true,
                () => false,
              ),
              delay(round % 12).then(() => ownerAs(`writer-${round}`)),
            ]);
            if (isCommitted) expect(next.stands).toBe(stands + 1);
            committed += next.stands - stands;
            owner = next;
          }
          // Some were in time, and some were not.
          expect(committed).toBeGreaterThan(0);
          const [now] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
          expect(Number(now?.partitions[0]?.offset)).toBe(owner.stands);
          expect(owner.stands).toBe(committed);
        });
        await cluster.disconnect();
      }),
    testMs,
  );

  it(
    'point 4: the group refuses what a member of an earlier generation commits, and a name of one too',
    () =>
      onKafka(async (start, options) => {
        await start();
        const cluster = clusterOf(plainKafka(options));
        const group = `${options.prefix}o-8`;
        const offset = { topic: `${options.prefix}agent.requests`, partition: 0, offset: 7, metadata: '' };
        const rejoin = await memberOf(cluster, group);
        const before = await rejoin();
        const offsets = new GroupOffsets(cluster, group);
        const producer = new TransactionalProducer({
          cluster,
          transactionalId: `${group}.writer`,
          transactionTimeoutMs: 5_000,
        });
        await producer.connect();
        await producer.sendOffsets({ groupId: group, member: before, offsets: [offset] });
        // As long as that is open, nobody is told where the group stands.
        const settled = offsets.settled(offset.topic, 0);
        const early = await Promise.race([settled, delay(300)]);
        expect(early).toBeUndefined();
        expect(await offsets.now(offset.topic, 0)).toMatchObject({ offset: -1 });
        await producer.commit();
        expect(await settled).toMatchObject({ offset: 7 });
        const after = await rejoin();
        for (const late of [
          () => offsets.commit(before, offset),
          () => producer.sendOffsets({ groupId: group, member: before, offsets: [offset] }),
        ])
          expect(isStaleGeneration(await late().catch((error: unknown) => error))).toBe(true);
        await offsets.commit(after, { ...offset, offset: 8 });
        expect(await standing(options, 'o-8', 'agent.requests')).toMatchObject({ committed: 8 });
        await cluster.disconnect();
      }),
    testMs,
  );

  it(
    'point 3: what was finished beyond the prefix is restored from the offset’s metadata, over a restart and another one',
    () =>
      onKafka(async (start, options) => {
        const first = await start();
        const stuck = new Set(['0', '7', '8', '19']);
        const handled: string[] = [];
        const handle: Handler = async (message) => {
          handled.push(questionOf(message));
          if (stuck.has(questionOf(message))) await new Promise(() => undefined);
          return [entry(message)];
        };
        await first.bus.publish(numbers(20).map((question) => request(`s-${question}`, question)));
        await first.bus.subscribe({ group: 'o-4', topics, handle });
        await eventually('16 outputs', async () => (await entries(first.bus)).length >= 16);
        await first.forgotten();
        expect(await standing(options, 'o-4', 'agent.requests')).toMatchObject({ committed: 0 });

        stuck.delete('7');
        handled.length = 0;
        const second = await start();
        await second.bus.subscribe({ group: 'o-4', topics, handle });
        await eventually('17 outputs', async () => (await entries(second.bus)).length >= 17);
        await grace();
        expect([...handled].sort()).toEqual(['0', '19', '7', '8']);
        await second.forgotten();

        stuck.clear();
        handled.length = 0;
        const third = await start();
        await third.bus.subscribe({ group: 'o-4', topics, handle });
        await eventually('20 outputs', async () => (await entries(third.bus)).length >= 20);
        await grace();
        expect([...handled].sort()).toEqual(['0', '19', '8']);
        expect([...(await entries(third.bus))].sort()).toEqual([...numbers(20)].sort());
        await eventually('the end', async () => {
          const { committed, end, metadata } = await standing(options, 'o-4', 'agent.requests');
          return committed === end && metadata === '';
        });
      }),
    testMs,
  );

  it(
    'point 5: when a second process joins, work on the partitions that stay goes on and only what moved is repeated',
    () =>
      onKafka(
        async (start) => {
          const [one, two] = [await start(), await start()];
          const gate = deferred();
          const sessions = numbers(40, 's-');
          const runs = new Map<string, number>();
          const handle: Handler = async (message) => {
            runs.set(message.key, (runs.get(message.key) ?? 0) + 1);
            await gate.promise;
            return [entry(message)];
          };
          await one.bus.publish(sessions.map((session) => request(session, session)));
          const first = await one.bus.subscribe({ group: 'o-5', topics, handle });
          await eventually('all at work', () => runs.size === 40);
          const second = await two.bus.subscribe({ group: 'o-5', topics, handle });
          await eventually('the work is shared', () => second.inFlight > 0 && first.inFlight + second.inFlight === 40);
          const moved = second.inFlight;
          await grace();
          gate.resolve();
          await eventually('40 outputs', async () => (await entries(one.bus)).length >= 40);
          await grace();
          expect([...(await entries(one.bus))].sort()).toEqual([...sessions].sort());
          expect(moved).toBeLessThan(40);
          expect([...runs.values()].filter((count) => count === 2)).toHaveLength(moved);
          expect([...runs.values()].filter((count) => count === 1)).toHaveLength(40 - moved);
        },
        { topics: { partitions: 4, replication: 1 } },
      ),
    testMs,
  );

  it(
    'point 5: work and order survive processes that come and go',
    () =>
      onKafka(
        async (start) => {
          const sessions = numbers(25, 's-');
          const handle: Handler = async (message) => {
            await delay(Math.random() * 30);
            return [entry(message)];
          };
          const one = await start();
          await one.bus.subscribe({ group: 'o-6', topics, handle });
          const publishing = (async () => {
            for (const question of numbers(20)) {
              await one.bus.publish(sessions.map((session) => request(session, question)));
              await delay(100);
            }
          })();
          await delay(300);
          const two = await start();
          const leaving = await two.bus.subscribe({ group: 'o-6', topics, handle });
          await delay(800);
          await (await start()).bus.subscribe({ group: 'o-6', topics, handle });
          await delay(500);
          await leaving.stop(0);
          await publishing;
          await eventually('500 outputs', async () => (await entries(one.bus)).length >= 500);
          await grace();
          for (const session of sessions) expect(await entries(one.bus, session)).toEqual(numbers(20));
        },
        { topics: { partitions: 4, replication: 1 } },
      ),
    2 * testMs,
  );

  it(
    'point 11: a takeover ends the transaction that the owner before left open, so that readers need not wait for its time',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        const dead = 'dead-writer-';
        const topic = `${options.prefix}agent.requests`;
        const cluster = clusterOf(plainKafka(options));
        await new GroupOffsets(cluster, `${options.prefix}o-7`).commit(
          { memberId: '', generation: -1 },
          { topic, partition: 0, offset: 0, metadata: encodeWriter(dead) },
        );
        await cluster.disconnect();
        await withProducer(options, new Names(options.prefix).writer('o-7', dead), async (dying) => {
          const transaction = await dying.transaction();
          const message = { key: 's', value: Buffer.from('{"never":"committed"}'), partition: 0 };
          await transaction.send({ topic: `${options.prefix}agent.audit`, messages: [message] });
          await bus.publish([request('s', 'x')]);
          await bus.subscribe({ group: 'o-7', topics, handle: async (incoming) => [entry(incoming)] });
          const began = performance.now();
          await eventually('the output', async () => (await entries(bus)).length >= 1);
          // The dying producer’s own limit is a minute.
          expect(performance.now() - began).toBeLessThan(20_000);
          expect(await entries(bus)).toEqual(['x']);
        });
      }),
    testMs,
  );
});
