import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Handler } from '@sluice/bus';
import { KafkaJSNonRetriableError } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import Cluster from 'kafkajs/src/cluster/index.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import { KafkaJSConnectionClosedError, KafkaJSGroupCoordinatorNotFound } from 'kafkajs/src/errors.js';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { entries, entry, eventually, grace, request, testMs } from '../contract/harness.js';
import { onKafka, removeMembers, withAdmin } from './on-broker.js';

const topics = ['agent.requests'] as const;
const handle: Handler = async (message) => [entry(message)];

describe('a consumer that ends', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'tells why through `failed` when kafkajs declares it dead (CRASH with restart: false)',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        const consumer = await bus.subscribe({ group: 'e-1', topics, handle });
        const { fetch } = Broker.prototype;
        Broker.prototype.fetch = () => Promise.reject(new KafkaJSNonRetriableError('No such thing'));
        const error = await consumer.failed.finally(() => (Broker.prototype.fetch = fetch));
        expect(error.message).toMatch(/^The consumer of e-1 stopped: Kafka at .* says “No such thing”\.$/);
        expect(consumer.inFlight).toBe(0);
        await consumer.stop(0);
        expect(
          await withAdmin(options, async (admin) => {
            const { groups } = await admin.describeGroups([`${options.prefix}e-1`]);
            return groups[0]?.members;
          }),
        ).toEqual([]);
      }),
    testMs,
  );

  it(
    'begins again when no broker knows the coordinator of its group, which kafkajs takes for the end',
    () =>
      onKafka(async (start) => {
        const { bus, logged } = await start();
        const failures: Error[] = [];
        const find = Cluster.prototype.findGroupCoordinatorMetadata;
        let refused = 0;
        Cluster.prototype.findGroupCoordinatorMetadata = function (wanted) {
          if (!wanted.groupId.endsWith('e-3') || refused++ > 1) return find.call(this, wanted);
          return Promise.reject(new KafkaJSGroupCoordinatorNotFound('Failed to find group coordinator'));
        };
        try {
          const consumer = await bus.subscribe({ group: 'e-3', topics, handle });
          void consumer.failed.then((error) => failures.push(error));
          await bus.publish([request('s', 'x')]);
          await eventually('the output', async () => (await entries(bus)).length > 0);
          expect(refused).toBeGreaterThan(1);
          expect(logged.join('\n')).toMatch(/Crash: .*Failed to find group coordinator/);
          expect(failures).toEqual([]);
        } finally {
          Cluster.prototype.findGroupCoordinatorMetadata = find;
        }
      }),
    testMs,
  );

  it(
    'is not taken for dead because its own process stood still, however long that was: it goes on',
    () =>
      onKafka(async (start) => {
        const { bus } = await start();
        const failures: Error[] = [];
        const consumer = await bus.subscribe({ group: 'e-4', topics, handle });
        void consumer.failed.then((error) => failures.push(error));
        await bus.publish([request('s', 'before')]);
        await eventually('the first output', async () => (await entries(bus)).length > 0);
        const stoodStillMs = 22_000;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stoodStillMs);
        await bus.publish([request('s', 'after')]);
        await eventually(
          'the second output, or the end',
          async () => failures.length > 0 || (await entries(bus)).length > 1,
        );
        expect(failures).toEqual([]);
        expect(await entries(bus)).toEqual(['before', 'after']);
      }),
    2 * testMs,
  );

  it(
    'joins its group again when that has forgotten it, though brokers are away when it tries for the first time',
    () =>
      onKafka(async (start, options) => {
        const { bus } = await start();
        const consumer = await bus.subscribe({ group: 'e-6', topics, handle });
        const failures: Error[] = [];
        void consumer.failed.then((error) => failures.push(error));
        await bus.publish([request('s', 'before')]);
        await eventually('the first output', async () => (await entries(bus)).length > 0);
        const { prototype } = ConsumerGroup;
        const join = prototype.joinAndSync;
        let refused = 0;
        prototype.joinAndSync = function () {
          if (!this.groupId.endsWith('e-6') || refused++ > 0) return join.call(this);
          return Promise.reject(new KafkaJSConnectionClosedError('Closed connection'));
        };
        try {
          await removeMembers(options, 'e-6');
          await bus.publish([request('s', 'after')]);
          await eventually('the second output', async () => (await entries(bus)).length > 1);
        } finally {
          prototype.joinAndSync = join;
        }
        expect(refused).toBeGreaterThan(1);
        expect(failures).toEqual([]);
        await grace();
        expect(await entries(bus)).toEqual(['before', 'after']);
      }),
    testMs,
  );

  it(
    'does not fail when it is stopped, and can be followed by another one',
    () =>
      onKafka(async (start) => {
        const { bus } = await start();
        const failures: Error[] = [];
        for (let turn = 0; turn < 3; turn++) {
          const consumer = await bus.subscribe({ group: 'e-2', topics, handle });
          void consumer.failed.then((error) => failures.push(error));
          await bus.publish([request('s', String(turn))]);
          await eventually('the output', async () => (await entries(bus)).length > turn);
          await consumer.stop(1_000);
          await consumer.stop(0);
        }
        await grace();
        expect(failures).toEqual([]);
        expect(await entries(bus)).toEqual(['0', '1', '2']);
      }),
    testMs,
  );
});
