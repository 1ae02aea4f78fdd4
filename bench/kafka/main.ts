import { Partitioners } from 'kafkajs';
import { recordFromJson, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { openKafkaBus } from '@sluice/bus';
import type { KafkaBus } from '@sluice/bus';
import { compileEvaluator, noCalls } from '@sluice/core';
import { createLog, openRuntime, readEnvironment } from '@sluice/service';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { median, quantile, report } from '../measure.js';
import { configurationOf, manyTools } from '../rules.js';
import { bareEcho, client, createTopics, drain, fill, partitions } from './echo.js';
import { startInfrastructure } from './infrastructure.js';
import type { Infrastructure } from './infrastructure.js';
import { stockNest } from './stock-nest.js';

const records = 20_000;

/** Everything on one broker in one run, each line with topics of its own. */
export async function benchKafka(): Promise<void> {
  const parts = await startInfrastructure();
  try {
    await throughput(parts);
    await latency(parts);
  } finally {
    await parts.stop();
  }
}

/** An AgentRequest of about 1 KB as JSON. */
function request(n: number): string {
  return JSON.stringify({ question: 'x'.repeat(900), group: ['group-3'], request_id: `r-${n}`, session_id: `s-${n}` });
}

/** Rounds in turn, so that what else the machine does falls on all alike; each line is the median of its rounds. */
async function throughput(parts: Infrastructure): Promise<void> {
  const rounds: { ours: number; bare: number; nest: number; outputBytes: number }[] = [];
  for (let n = 0; n < 3; n++) rounds.push(await round(parts, `bench-${Date.now()}-`));
  const middle = (figure: (round: { ours: number; bare: number; nest: number }) => number): number =>
    median(rounds.map(figure));
  report(
    `Throughput on Kafka, ${partitions} partitions, records of 1 KB, outputs of ${rounds[0]?.outputBytes} bytes, 3 rounds in turn`,
    [
      { name: 'bare kafkajs transactional echo', value: middle(({ bare }) => bare), unit: '1/s' },
      {
        name: 'the filter as a service: claim, decision, codec, exactly once',
        value: middle(({ ours }) => ours),
        unit: '1/s',
      },
      { name: 'stock Nest ServerKafka with JSON', value: middle(({ nest }) => nest), unit: '1/s' },
      { name: 'filter / bare echo', value: middle(({ ours, bare }) => ours / bare), unit: '', goal: { atLeast: 0.8 } },
      { name: 'filter / stock Nest', value: middle(({ ours, nest }) => ours / nest), unit: '', goal: { atLeast: 2 } },
    ],
  );
}

async function round(parts: Infrastructure, prefix: string) {
  const { brokers } = parts;
  const filter = await filterService(parts, prefix);
  const name = (topic: string): string => `${prefix}${topic}`;

  // The filter's output is what the baselines write, byte for byte in size.
  await createTopics(brokers, name('echo-in'), name('echo-out'), name('nest-in'), name('nest-out'));
  await filter.fill(records);
  const { outputBytes } = filter;
  const filterSeconds = await drain(brokers, name('agent.toolsets'), records, filter.start);

  await fill(brokers, name('echo-in'), request, records);
  const echo = (): Promise<() => Promise<void>> =>
    bareEcho(brokers, name('echo-in'), name('echo-out'), Buffer.alloc(outputBytes, 'x'));
  const echoSeconds = await drain(brokers, name('echo-out'), records, echo);

  const nestRecords = records / 10;
  await fill(brokers, name('nest-in'), request, nestRecords);
  const nest = (): Promise<() => Promise<void>> =>
    stockNest(brokers, name('nest-in'), name('nest-out'), { text: 'x'.repeat(outputBytes - 20) });
  const nestSeconds = await drain(brokers, name('nest-out'), nestRecords, nest);
  return { ours: records / filterSeconds, bare: records / echoSeconds, nest: nestRecords / nestSeconds, outputBytes };
}

/** The filter on Kafka, ready to be started; its ledger is the real one. */
async function filterService(parts: Infrastructure, prefix: string) {
  const environment = readEnvironment({
    SLUICE_BUS: 'kafka',
    KAFKA_BROKERS: parts.brokers.join(','),
    SCHEMA_REGISTRY_URL: parts.registryUrl,
    DATABASE_URL: parts.databaseUrl,
    SLUICE_PREFIX: prefix,
    SLUICE_PARTITIONS: String(partitions),
    SLUICE_PORT: '0',
    SLUICE_DRAIN_SECONDS: '1',
  });
  const open = await openRuntime(environment, createLog('silent'));
  const tools = manyTools(20);
  const configuration = {
    ...configurationOf(tools),
    limits: {
      maxIterations: 10,
      runMs: 3_600_000,
      toolMs: 1_000,
      modelMs: 1_000,
      historyBytes: 500_000,
      argumentBytes: 8_192,
      resultBytes: 32_768,
    },
  };
  await open.runtime.bus.publish([
    {
      topic: topics.config,
      key: 'config',
      record: {
        version: configuration.version,
        configuration: JSON.stringify(configuration),
        source: 'bench',
        compiledAt: 0,
      },
    },
  ]);
  await open.runtime.configurations.start();
  const decision = compileEvaluator(configuration).evaluate({
    groups: ['group-3'],
    state: null,
    unavailable: new Set(),
    calls: noCalls,
  });
  return {
    outputBytes: 1_400 + 260 * decision.offered.length,
    /** Avro, as a producer with the registry writes it. */
    fill: async (count: number) => {
      for (let from = 0; from < count; from += 500) {
        const some = Array.from(
          { length: Math.min(500, count - from) },
          (_, n) => recordFromJson('AgentRequest', JSON.parse(request(from + n))) as AgentRequest,
        );
        await open.runtime.bus.publish(
          some.map((record) => ({ topic: topics.requests, key: record.sessionId ?? '', record })),
        );
      }
    },
    start: async () => {
      const service = await startFilter(open.runtime);
      return async () => {
        await service.close();
        await open.close();
      };
    },
  };
}

/** One record at a time on an idle broker: three chained hops, bare and through the bus. */
async function latency(parts: Infrastructure): Promise<void> {
  const hops = 40;
  const bare = await chainedBare(parts, hops);
  const ours = await chainedBus(parts, hops);
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
  });
  const buses = await Promise.all([open(1), open(2), open(3)]);
  const [one, two, three] = buses as [KafkaBus, KafkaBus, KafkaBus];
  const response = (sessionId: string) => ({
    requestId: 'r',
    sessionId,
    kind: 'answer',
    answer: record.question,
    error: null,
    question: '',
    state: '',
    history: [],
    run: null,
    iterations: 0,
    configVersion: '',
    endedAt: 0,
  });
  const progress = (sessionId: string) => ({
    requestId: 'r',
    sessionId,
    iteration: 1,
    kind: 'hop',
    toolCallId: null,
    tool: null,
    text: record.question,
    at: 0,
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

/** Milliseconds from sending a record to seeing what came of it, one after another, after a few to warm up. */
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
  const warmUp = 5;
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
