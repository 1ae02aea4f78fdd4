import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { KafkaBusOptions } from '@sluice/bus';
import type { Kafka, RetryOptions } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import BrokerPool from 'kafkajs/src/cluster/brokerPool.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import OffsetManager from 'kafkajs/src/consumer/offsetManager/index.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { busOn } from '../../src/kafka/bus.js';
import { clientsFor, configOf } from '../../src/kafka/kafkajs/clients.js';
import { restIdleConnections } from '../../src/kafka/kafkajs/idle-timer.js';
import { Names } from '../../src/kafka/names.js';
import { timeoutsOf } from '../../src/kafka/options.js';
import { reportingOutOfRange } from '../../src/kafka/kafkajs/out-of-range.js';
import { topicConfig } from '../../src/kafka/admin/topics.js';
import { entries, entry, eventually, request, testMs } from '../contract/harness.js';
import { optionsHere } from './on-broker.js';

const options: KafkaBusOptions = {
  brokers: ['kafka-1:9092', 'kafka-2:9092'],
  clientId: 'executor',
  prefix: '',
  registry: { url: 'http://registry', compatibility: 'FULL_TRANSITIVE' },
  topics: { partitions: 6, replication: 3 },
  instance: 'executor-0',
  clock: { now: () => 0 },
};

describe('the options', () => {
  it('keep the transaction timeout below the session timeout (point 11)', () => {
    expect(timeoutsOf(options)).toEqual({ sessionMs: 6_000, transactionMs: 4_800 });
    expect(timeoutsOf({ ...options, sessionTimeoutMs: 10_000 })).toEqual({ sessionMs: 10_000, transactionMs: 8_000 });
    expect(() => timeoutsOf({ ...options, transactionTimeoutMs: 10_000 })).toThrow(/Make the first one smaller/);
    expect(() => timeoutsOf({ ...options, sessionTimeoutMs: 5 })).toThrow(/1,000 or more/);
  });

  it('become topics: partitions, retention, sizes; agent.config has one partition whatever they say', () => {
    const names = new Names('p-');
    const settings = (topic: Parameters<typeof topicConfig>[0], more = {}) => {
      const config = topicConfig(topic, names, { ...options.topics, ...more });
      return {
        ...config,
        configEntries: Object.fromEntries(config.configEntries?.map(({ name, value }) => [name, value]) ?? []),
      };
    };
    expect(settings('agent.steps')).toEqual({
      topic: 'p-agent.steps',
      numPartitions: 6,
      replicationFactor: 3,
      configEntries: {
        'cleanup.policy': 'delete',
        'retention.ms': '604800000',
        'segment.ms': '151200000',
        'max.message.bytes': '1048588',
        'message.timestamp.type': 'LogAppendTime',
        'compression.type': 'uncompressed',
        'min.insync.replicas': '2',
      },
    });
    expect(settings('agent.config')).toMatchObject({ numPartitions: 1, configEntries: { 'retention.ms': '-1' } });
    expect(settings('agent.progress').configEntries['retention.ms']).toBe('3600000');
    expect(settings('agent.progress', { retentionMs: { 'agent.progress': 5 } }).configEntries['retention.ms']).toBe(
      '5',
    );
    const sized = settings('agent.steps', { retentionBytes: { 'agent.steps': 6 * 1024 ** 3, 'agent.requests': null } });
    expect(sized.configEntries).toMatchObject({
      'retention.bytes': String(1024 ** 3),
      'segment.bytes': String(1024 ** 3 / 4),
    });
    const twice = settings('agent.dead-letters', { maxMessageBytes: 2_000_000 }).configEntries['max.message.bytes'];
    expect(twice).toBe('4000000');
    expect(() => settings('agent.steps', { maxMessageBytes: 1_000 })).toThrow(/Make it 1048588 or more/);
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('become TLS and SASL %s', (mechanism) => {
    const tls = { ca: 'authority', cert: 'certificate', key: 'key' };
    const sasl = { mechanism, username: 'sluice', password: 'secret' };
    const config = configOf({ ...options, tls, sasl });
    expect(config).toMatchObject({ brokers: options.brokers, clientId: 'executor', ssl: tls, sasl });
    expect(configOf(options)).not.toHaveProperty('ssl');
    expect(configOf(options)).not.toHaveProperty('sasl');
  });
});

describe('what the bus puts around methods of kafkajs', () => {
  it('is put around them once, however many clients there are', () => {
    const around = () => [
      Broker.prototype.fetch,
      Broker.prototype.metadata,
      Broker.prototype.syncGroup,
      BrokerPool.prototype.refreshMetadata,
      ConsumerGroup.prototype.heartbeat,
      OffsetManager.prototype.setDefaultOffset,
      RequestQueue.prototype.scheduleCheckPendingRequests,
    ];
    const before = around();
    const make = () => reportingOutOfRange(clientsFor(options)(), () => Promise.resolve());
    make();
    const first = around();
    make();
    make();
    expect(around()).toEqual(first);
    expect(first.filter((method, index) => method === before[index])).toEqual([]);
  });
});

describe('a connection of kafkajs', () => {
  it('looks for waiting requests while there are some, and rests when there is none', () => {
    restIdleConnections();
    const quiet = { debug: () => undefined };
    const idle = new RequestQueue({ requestTimeout: 1_000, clientId: 'c', broker: 'b', logger: quiet });
    idle.scheduleCheckPendingRequests();
    expect(idle.throttleCheckTimeoutId).toBeNull();
    const busy = new RequestQueue({ requestTimeout: 1_000, clientId: 'c', broker: 'b', logger: quiet });
    busy.pending.push({});
    busy.scheduleCheckPendingRequests();
    expect(busy.throttleCheckTimeoutId).not.toBeNull();
    busy.destroy();
  });
});

describe('SASL OAUTHBEARER', () => {
  let answer: { status: number; body: string } = { status: 200, body: '' };
  const asked: { authorization: string | undefined; form: string }[] = [];
  const endpoint = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      asked.push({ authorization: incoming.headers.authorization, form: Buffer.concat(chunks).toString() });
      outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => endpoint.close(resolve)));

  const token = async (): Promise<string> => {
    const tokenUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`;
    const { sasl } = configOf({
      ...options,
      sasl: { mechanism: 'oauthbearer', tokenUrl, clientId: 'an id', clientSecret: 'a/secret', scope: 'kafka' },
    });
    if (sasl?.mechanism !== 'oauthbearer' || !('oauthBearerProvider' in sasl)) throw new Error('There is no provider.');
    return (await sasl.oauthBearerProvider()).value;
  };

  it('fetches its token with the client credentials', async () => {
    answer = { status: 200, body: '{"access_token":"t-1","expires_in":300}' };
    expect(await token()).toBe('t-1');
    expect(asked[0]?.form).toBe('grant_type=client_credentials&scope=kafka');
    const credentials = Buffer.from(asked[0]?.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
    expect(credentials).toBe('an%20id:a%2Fsecret');
  });

  it.each([
    [401, '{"error":"invalid_client"}', false],
    [200, '{}', false],
    [503, 'busy', true],
  ])('says what to change if the endpoint answers %i %s', async (status, body, retryable) => {
    answer = { status, body };
    await expect(token()).rejects.toMatchObject({
      code: 'storage',
      retryable,
      message: expect.stringMatching(/gave no token \(status \d+\)\. Check the client id/),
    });
  });
});

describe('point 13 of the recipe', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'each consumer has a client of its own, and every one knows how to retry',
    async () => {
      const here = await optionsHere();
      const made: { client: number; what: 'consumer' | 'producer' | 'admin'; retry: RetryOptions | undefined }[] = [];
      let clients = 0;
      const bus = await busOn(() => {
        const client: Kafka = clientsFor(here)();
        const number = ++clients;
        const { consumer, producer, admin } = client;
        client.consumer = (config) => {
          made.push({ client: number, what: 'consumer', retry: config?.retry });
          return consumer.call(client, config);
        };
        client.producer = (config) => {
          made.push({ client: number, what: 'producer', retry: config?.retry });
          return producer.call(client, config);
        };
        client.admin = (config) => {
          made.push({ client: number, what: 'admin', retry: config?.retry });
          return admin.call(client, config);
        };
        return client;
      }, here);
      try {
        for (const group of ['k-1', 'k-2']) {
          const handle = async (message: Parameters<typeof entry>[0]) => [entry(message)];
          await bus.subscribe({ group, topics: ['agent.requests'], handle });
        }
        await bus.publish([request('s', 'x'), request('s', 'y')]);
        await eventually('the outputs', async () => (await entries(bus)).length >= 4);
      } finally {
        await bus.close();
      }
      const consumers = made.filter(({ what }) => what === 'consumer').map(({ client }) => client);
      expect(new Set(consumers).size).toBe(2);
      for (const { retry } of made) {
        expect(retry).toMatchObject({ initialRetryTime: expect.any(Number), retries: expect.any(Number) });
      }
      expect(configOf(here).retry).toMatchObject({ initialRetryTime: expect.any(Number), retries: expect.any(Number) });
    },
    testMs,
  );
});
