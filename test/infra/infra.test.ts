import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { Kafka, Partitioners, logLevel } from 'kafkajs';
import pg from 'pg';
import { infra, own, startTimeout } from './client.ts';
import type { Owned } from './client.ts';
import { freshDatabase, freshPrefix } from './fresh.ts';
import { eventually } from '../harness/eventually.ts';

function client(brokers: string[], requestTimeout = 10_000): Kafka {
  return new Kafka({ brokers, requestTimeout, connectionTimeout: 2_000, logLevel: logLevel.NOTHING });
}

/**
 * A busy broker has made a topic before it knows of it, which the wait of kafkajs takes for a failure. So the topic's
 * ends are asked for until they are known.
 */
async function makeTopic(kafka: Kafka, topic: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
  await eventually(
    () => admin.fetchTopicOffsets(topic).catch(() => []),
    (ends) => ends.length === 1,
  );
  await admin.disconnect();
}

/** Writes in transactions of one record each, aborts those that are not to be seen, and reads until `last` has come. */
async function writeAndRead(brokers: string[], values: readonly string[], last: string): Promise<readonly string[]> {
  const kafka = client(brokers);
  const prefix = freshPrefix('infra');
  const topic = `${prefix}topic`;
  await makeTopic(kafka, topic);
  const producer = kafka.producer({
    transactionalId: `${prefix}writer`,
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  for (const value of values) {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ value }] });
    await (value.startsWith('aborted') ? transaction.abort() : transaction.commit());
  }
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: `${prefix}readers`, readUncommitted: false });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const read: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const eachMessage = async ({ message }: { message: { value: Buffer | null } }): Promise<void> => {
      read.push(message.value?.toString() ?? '');
      if (read.at(-1) === last) resolve();
    };
    consumer.run({ eachMessage }).catch(reject);
  });
  await consumer.disconnect();
  return read;
}

describe('the shared parts', () => {
  it(
    'are a Kafka that keeps transactions apart',
    async () => {
      const { brokers } = await infra('kafka');
      expect(await writeAndRead(brokers, ['one', 'aborted', 'two'], 'two')).toEqual(['one', 'two']);
    },
    startTimeout,
  );

  it(
    'are a registry that refuses an incompatible schema',
    async () => {
      const { url } = await infra('registry');
      const registry = new SchemaRegistry({ host: url });
      const subject = `${freshPrefix('infra')}value`;
      const schemaOf = (fields: readonly { name: string; type: string }[]): string =>
        JSON.stringify({ type: 'record', name: 'Greeting', namespace: 'sluice.test', fields });
      const register = (fields: readonly { name: string; type: string }[]): Promise<{ id: number }> =>
        registry.register(
          { type: SchemaType.AVRO, schema: schemaOf(fields) },
          { subject, compatibility: COMPATIBILITY.BACKWARD },
        );
      const { id } = await register([{ name: 'text', type: 'string' }]);
      expect(await registry.decode(await registry.encode(id, { text: 'hello' }))).toMatchObject({ text: 'hello' });
      await expect(register([{ name: 'text', type: 'int' }])).rejects.toMatchObject({ status: 409 });
    },
    startTimeout,
  );

  it(
    'are a PostgreSQL in which a test has a database of its own',
    async () => {
      const { databaseUrl } = await infra('postgres');
      const [mine, other] = await Promise.all([freshDatabase(databaseUrl), freshDatabase(databaseUrl)]);
      const database = new pg.Client({ connectionString: mine.url });
      // Dropping the database ends this connection, which is what the test is about.
      database.on('error', () => undefined);
      await database.connect();
      await database.query('create table claims (key text primary key)');
      expect((await database.query(`insert into claims values ('a') on conflict do nothing`)).rowCount).toBe(1);
      expect((await database.query(`insert into claims values ('a') on conflict do nothing`)).rowCount).toBe(0);
      const neighbour = new pg.Client({ connectionString: other.url });
      await neighbour.connect();
      expect((await neighbour.query(`select to_regclass('claims') as found`)).rows).toEqual([{ found: null }]);
      await neighbour.end();
      await Promise.all([mine.drop(), other.drop()]);
      await expect(new pg.Client({ connectionString: mine.url }).connect()).rejects.toThrow('does not exist');
    },
    startTimeout,
  );

  it('are the same for every caller', async () => {
    const addresses = await Promise.all([1, 2, 3].map(() => infra('postgres')));
    expect(new Set(addresses.map(({ databaseUrl }) => databaseUrl)).size).toBe(1);
  });
});

describe('a PostgreSQL of a test’s own', () => {
  let owned: Owned<'postgres'>;
  const query = async (text: string): Promise<unknown[]> => {
    const database = new pg.Client({
      connectionString: owned.address.databaseUrl,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    });
    database.on('error', () => undefined);
    try {
      await database.connect();
      return (await database.query(text)).rows;
    } finally {
      await database.end();
    }
  };

  beforeAll(async () => {
    owned = await own('postgres');
    await query('create table kept (value int)');
  }, startTimeout);
  afterAll(() => owned.release());

  it('is not the shared one', async () => {
    expect(owned.address.databaseUrl).not.toBe((await infra('postgres')).databaseUrl);
  });

  it('has its data after a crash and after a restart', async () => {
    await query('insert into kept values (1)');
    await owned.kill();
    await expect(query('select 1')).rejects.toThrow();
    await owned.start();
    await query('insert into kept values (2)');
    const connected = new pg.Client({ connectionString: owned.address.databaseUrl });
    const lost = new Promise((resolve) => connected.on('error', resolve));
    await connected.connect();
    await owned.restart();
    await lost;
    expect(await query('select value from kept order by value')).toEqual([{ value: 1 }, { value: 2 }]);
  });

  it('says nothing while it is paused, to those already connected either', async () => {
    const connected = new pg.Client({ connectionString: owned.address.databaseUrl, query_timeout: 500 });
    await connected.connect();
    await owned.pause();
    await expect(connected.query('select 1')).rejects.toThrow('timeout');
    await owned.resume();
    await connected.end();
    expect(await query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a Kafka of a test’s own', () => {
  it(
    'comes back with what was written before it was killed',
    async () => {
      const owned = await own('kafka');
      const { brokers } = owned.address;
      const kafka = client(brokers, 2_000);
      const topic = freshPrefix('kept');
      await makeTopic(kafka, topic);
      await owned.kill();
      const impatient = new Kafka({
        brokers,
        connectionTimeout: 500,
        logLevel: logLevel.NOTHING,
        retry: { retries: 0 },
      });
      await expect(impatient.admin().connect()).rejects.toThrow();
      await owned.start();
      const again = client(brokers).admin();
      await again.connect();
      expect(await again.listTopics()).toContain(topic);
      await again.disconnect();
      expect(await writeAndRead(brokers, ['after'], 'after')).toEqual(['after']);
      await owned.release();
      await expect(owned.start()).rejects.toThrow('was released');
    },
    startTimeout,
  );
});
