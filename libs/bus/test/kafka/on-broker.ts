import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Admin, Consumer, ITopicConfig, Producer } from 'kafkajs';
import type { KafkaBus, KafkaBusOptions } from '@sluice/bus';
import { infra } from '../../../../test/infra/client.ts';
import { freshPrefix } from '../../../../test/infra/fresh.ts';
import { busOn } from '../../src/kafka/bus.js';
import { clientsFor } from '../../src/kafka/kafkajs/clients.js';
import type { Clients } from '../../src/kafka/kafkajs/clients.js';
import { clusterOf } from '../../src/kafka/kafkajs/cluster.js';
import { decodeWriter } from '../../src/kafka/commit/finished-set.js';
import { Names } from '../../src/kafka/names.js';
import { coordinates } from '../../src/kafka/produce/coordinator.js';
import { eventually } from '../contract/harness.js';

let instances = 0;

/** Options for a log of the test’s own on the brokers of this test run. */
export async function optionsHere(options: Partial<KafkaBusOptions> = {}): Promise<KafkaBusOptions> {
  const [{ brokers }, { url }] = await Promise.all([infra('kafka'), infra('registry')]);
  return {
    brokers,
    clientId: 'sluice-test',
    prefix: freshPrefix('bus'),
    registry: { url, compatibility: 'FULL_TRANSITIVE' },
    topics: { partitions: 1, replication: 1 },
    sessionTimeoutMs: 6_000,
    instance: `test-${process.pid}-${++instances}`,
    clock: { now: () => Date.now() },
    ...options,
  };
}

/** A bus as one process has it, with what it logs and asks of kafkajs. */
export interface Process {
  readonly bus: KafkaBus;
  readonly options: KafkaBusOptions;
  readonly logged: string[];
  /** The same without what kafkajs says, which may be much of a broker that has just begun. */
  readonly said: string[];
  /** kafkajs’s consumers. */
  readonly members: readonly Consumer[];
  /**
   * What a long pause of the process looks like to the group: its members are gone, and neither the bus nor its
   * handlers know. Their producers live on.
   */
  forgotten(): Promise<void>;
}

export async function aProcess(given: KafkaBusOptions): Promise<Process> {
  const members: Consumer[] = [];
  const logged: string[] = [];
  const said: string[] = [];
  const options: KafkaBusOptions = {
    ...given,
    instance: `${given.instance}-${++instances}`,
    log: (level, message) => {
      logged.push(`${level}: ${message}`);
      if (!message.startsWith('kafkajs:')) said.push(`${level}: ${message}`);
    },
  };
  const watched: Clients = () => recording(clientsFor(options)(), members);
  return {
    bus: await busOn(watched, options),
    options,
    logged,
    said,
    members,
    forgotten: async () => {
      // kafkajs hears only half of it while it joins, and would be a member again.
      for (const member of members)
        member.on(member.events.GROUP_JOIN, () => setImmediate(() => void member.disconnect()));
      await Promise.all(members.map((member) => member.disconnect()));
    },
  };
}

/** The client, with its consumers kept in the list. */
function recording(client: Kafka, members: Consumer[]): Kafka {
  const make = client.consumer.bind(client);
  client.consumer = (config) => {
    const consumer = make(config);
    members.push(consumer);
    return consumer;
  };
  return client;
}

/** Processes on one log of the test’s own, all ended afterwards. */
export async function onKafka(
  work: (start: (more?: Partial<KafkaBusOptions>) => Promise<Process>, options: KafkaBusOptions) => Promise<void>,
  given: Partial<KafkaBusOptions> = {},
): Promise<void> {
  const options = await optionsHere(given);
  const processes: Process[] = [];
  try {
    await work(async (more = {}) => {
      const one = await aProcess({ ...options, ...more });
      processes.push(one);
      return one;
    }, options);
  } finally {
    for (const { bus } of processes) await bus.close();
  }
}

/** Looks at the broker past the bus. */
export async function withAdmin<T>(options: KafkaBusOptions, look: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = plainKafka(options).admin();
  await admin.connect();
  try {
    return await look(admin);
  } finally {
    await admin.disconnect();
  }
}

/** The group forgets its members, as after a silence that they do not know of. */
export async function removeMembers(options: KafkaBusOptions, group: string): Promise<void> {
  const groupId = options.prefix + group;
  const members = await withAdmin(options, async (admin) => (await admin.describeGroups([groupId])).groups[0]?.members);
  const cluster = clusterOf(plainKafka(options));
  await cluster.connect();
  await cluster.refreshMetadata();
  const { coordinator: node } = await cluster.findGroupCoordinatorMetadata({
    groupId,
    coordinatorType: coordinates.group,
  });
  const coordinator = (await cluster.findBroker(node)) as unknown as {
    leaveGroup(asked: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
  };
  for (const { memberId } of members ?? []) await coordinator.leaveGroup({ groupId, memberId });
  await cluster.disconnect();
}

/**
 * Topics that another process made. A busy broker has made one before it knows of it, which kafkajs would take for a
 * failure; and it tells of a leader before that has a log to write to, which a plain producer would write again for,
 * with what had arrived. So their ends are asked for.
 */
export async function makeTopics(options: KafkaBusOptions, ...topics: readonly ITopicConfig[]): Promise<void> {
  await withAdmin(options, async (admin) => {
    await admin.createTopics({ topics: [...topics], waitForLeaders: false });
    for (const { topic, numPartitions = 1 } of topics)
      await eventually(`the ends of ${topic}`, async () => {
        const ends = await admin.fetchTopicOffsets(topic).catch(() => []);
        return ends.length === numPartitions;
      });
  });
}

/** A producer that knows nothing of the bus; transactional if it gets an id. */
export async function withProducer<T>(
  options: KafkaBusOptions,
  transactionalId: string | undefined,
  use: (producer: Producer) => Promise<T>,
): Promise<T> {
  const producer = plainKafka(options).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    ...(transactionalId === undefined ? {} : { transactionalId, maxInFlightRequests: 1, idempotent: true }),
  });
  await producer.connect();
  try {
    return await use(producer);
  } finally {
    await producer.disconnect();
  }
}

export function plainKafka({ brokers }: KafkaBusOptions): Kafka {
  return new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
}

/** The group’s committed offset and its metadata, without the writer’s name, and where the partition ends. */
export async function standing(
  options: KafkaBusOptions,
  group: string,
  topic: string,
  partition = 0,
): Promise<{ readonly committed: number; readonly metadata: string; readonly end: number }> {
  const { signed, ...rest } = await signedStanding(options, group, topic, partition);
  return { ...rest, metadata: signed.replace(/=.*/, '') };
}

/** The transactional id that the offset’s metadata names; undefined if nobody has taken the partition over. */
export async function writerOf(options: KafkaBusOptions, group: string, topic: string): Promise<string | undefined> {
  const { signed } = await signedStanding(options, group, topic, 0);
  const writer = decodeWriter(signed);
  return writer === undefined ? undefined : new Names(options.prefix).writer(group, writer);
}

async function signedStanding(options: KafkaBusOptions, group: string, topic: string, partition: number) {
  return withAdmin(options, async (admin) => {
    const name = options.prefix + topic;
    const [found] = await admin.fetchOffsets({ groupId: options.prefix + group, topics: [name] });
    const ends = await admin.fetchTopicOffsets(name);
    const at = found?.partitions.find((one) => one.partition === partition);
    const end = ends.find((one) => one.partition === partition);
    return { committed: Number(at?.offset ?? -1), signed: at?.metadata ?? '', end: Number(end?.high ?? -1) };
  });
}
