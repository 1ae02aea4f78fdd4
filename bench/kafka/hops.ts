import { make, recordFromJson, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { openKafkaBus } from '@sluice/bus';
import type { KafkaBus } from '@sluice/bus';
import { Partitioners } from 'kafkajs';
import { median, quantile, report } from '../measure.js';
import { bareEcho, client, createTopics, partitions } from './echo.js';
import type { Infrastructure } from './infrastructure.js';
import { request } from './throughput.js';

/** One record at a time on an idle broker: three chained hops, bare and through the bus. */
export async function hops(parts: Infrastructure): Promise<void> {
  const count = 60;
  const bare = await chainedBare(parts, count);
  const ours = await chainedBus(parts, count);
  report('Three chained hops on Kafka, one record at a time', [
    { name: 'bare kafkajs: a transaction a hop, median', value: median(bare), unit: 'ms' },
    { name: 'Sluice’s bus: a transaction a hop, median', value: median(ours), unit: 'ms' },
    { name: 'Sluice’s bus, p99', value: quantile(ours, 0.99), unit: 'ms' },
    { name: 'bus / bare', value: median(ours) / median(bare), unit: '', goal: { atMost: 1.25 } },
  ]);
}

async function chainedBare({ brokers }: Infrastructure, count: number): Promise<number[]> {
  const prefix = `bare-${Date.now()}-`;
  const names = ['a', 'b', 'c', 'd'].map((name) => prefix + name);
  const [a = '', b = '', c = '', d = ''] = names;
  await createTopics(brokers, ...names);
  const payload = Buffer.alloc(1_024, 'x');
  const ends = [
    await bareEcho(brokers, a, b, payload),
    await bareEcho(brokers, b, c, payload),
    await bareEcho(brokers, c, d, payload),
  ];
  const times = await roundTrips(brokers, a, d, count, () => payload);
  for (const end of ends) await end();
  return times;
}

async function chainedBus(parts: Infrastructure, count: number): Promise<number[]> {
  const prefix = `hops-${Date.now()}-`;
  const open = (n: number): Promise<KafkaBus> =>
    openKafkaBus({
      brokers: parts.brokers,
      clientId: 'bench',
      prefix,
      registry: { url: parts.registryUrl, compatibility: 'FULL_TRANSITIVE' },
      topics: { partitions, replication: 1 },
      instance: `hop-${n}`,
      clock: { now: () => Date.now() },
    });
  const record = recordFromJson('AgentRequest', JSON.parse(request(0))) as AgentRequest;
  const audit = (sessionId: string) => ({
    kind: 'hop',
    requestId: 'r',
    sessionId,
    sourceTopic: '',
    sourcePartition: 0,
    sourceOffset: 0,
    details: record.question,
    configVersion: '',
    previousHash: '',
    hash: '',
    at: 0,
    sequence: 0,
    sourceHash: '',
  });
  const buses = await Promise.all([open(1), open(2), open(3)]);
  const [one, two, three] = buses as [KafkaBus, KafkaBus, KafkaBus];
  const response = (sessionId: string) =>
    make.agentResponse({ requestId: 'r', sessionId, kind: 'answer', answer: record.question, endedAt: 0 });
  const progress = (sessionId: string) => ({
    requestId: 'r',
    sessionId,
    iteration: 1,
    kind: 'hop',
    toolCallId: null,
    tool: null,
    text: record.question,
    at: 0,
    tenantId: null,
    attempt: '',
    sequence: 0,
    retryAt: null,
    notice: null,
  });
  await one.subscribe({
    group: 'one',
    topics: [topics.requests],
    handle: async ({ key }) => [{ topic: topics.progress, key, record: progress(key) }],
  });
  await two.subscribe({
    group: 'two',
    topics: [topics.progress],
    handle: async ({ key }) => [{ topic: topics.audit, key, record: audit(key) }],
  });
  await three.subscribe({
    group: 'three',
    topics: [topics.audit],
    handle: async ({ key }) => [{ topic: topics.responses, key, record: response(key) }],
  });
  const times = await roundTrips(parts.brokers, `${prefix}agent.requests`, `${prefix}agent.responses`, count, request);
  await Promise.all(buses.map((bus) => bus.close()));
  return times;
}

/**
 * Milliseconds from sending a record to seeing its result, one after another, after as many as it takes to warm
 * up.
 */
async function roundTrips(
  brokers: readonly string[],
  input: string,
  output: string,
  count: number,
  payload: (n: number) => Buffer | string,
): Promise<number[]> {
  const kafka = client(brokers, 'bench-trips');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `trips-${output}`, maxWaitTimeInMs: 100 });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [output], fromBeginning: true });
  let arrived: () => void = () => undefined;
  await consumer.run({ eachMessage: async () => arrived() });
  const times: number[] = [];
  const warmUp = 200;
  for (let n = 0; n < count + warmUp; n++) {
    const seen = new Promise<void>((resolve) => (arrived = resolve));
    const start = performance.now();
    await producer.send({ topic: input, messages: [{ key: `s-${n}`, value: payload(n) }] });
    await seen;
    if (n >= warmUp) times.push(performance.now() - start);
  }
  await consumer.disconnect();
  await producer.disconnect();
  return times;
}
