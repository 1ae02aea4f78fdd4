import { versionOf } from '@sluice/core';
import { recordFromJson, sha256, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { configurationRecord } from '@sluice/run';
import { createLog, openRuntime, readEnvironment } from '@sluice/host';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { median, report } from '../measure.js';
import { configurationOf, manyTools } from '../rules.js';
import { atLeastOnce } from './at-least-once.js';
import { bareEcho, createTopics, drain, fill, meanBytes, partitions } from './echo.js';
import type { Infrastructure } from './infrastructure.js';
import { pooledEcho } from './pooled-echo.js';
import { variablesOf } from './services.js';
import { stockNest } from './stock-nest.js';

const records = 20_000;

/** An AgentRequest of about 1 KB as JSON. */
export function request(n: number): string {
  return JSON.stringify({ question: 'x'.repeat(900), group: ['group-3'], request_id: `r-${n}`, session_id: `s-${n}` });
}

/** Records a second, and the bytes of an output. */
interface Round {
  readonly ours: number;
  readonly once: number;
  readonly bare: number;
  readonly pooled: number;
  readonly nest: number;
  readonly outputBytes: number;
}

/** Rounds in turn, so that what else the machine does falls on all alike; each line is the median of its rounds. */
export async function throughput(parts: Infrastructure): Promise<void> {
  // Code that the machine has not compiled yet is several times slower, and there is more of it in a service than in
  // an echo.
  await round(parts, `bench-${Date.now()}-`);
  const rounds: Round[] = [];
  for (let n = 0; n < 5; n++) rounds.push(await round(parts, `bench-${Date.now()}-`));
  const middle = (figure: (round: Round) => number): number => median(rounds.map(figure));
  report(
    `Throughput on Kafka, ${partitions} partitions, records of 1 KB, outputs of ${rounds[0]?.outputBytes} bytes, ${rounds.length} rounds in turn`,
    [
      { name: 'bare kafkajs transactional echo', value: middle(({ bare }) => bare), unit: '1/s' },
      { name: 'the same with one transaction for all partitions', value: middle(({ pooled }) => pooled), unit: '1/s' },
      {
        name: 'the filter as a service: claim, decision, codec, exactly once',
        value: middle(({ ours }) => ours),
        unit: '1/s',
      },
      { name: 'the same at least once: no transaction', value: middle(({ once }) => once), unit: '1/s' },
      { name: 'stock Nest ServerKafka with JSON', value: middle(({ nest }) => nest), unit: '1/s' },
      {
        name: 'filter / bare echo, median of the rounds’ ratios',
        value: middle(({ ours, bare }) => ours / bare),
        unit: '',
        goal: { atLeast: 0.8 },
      },
      {
        name: 'filter / echo with one for all partitions',
        value: middle(({ ours, pooled }) => ours / pooled),
        unit: '',
        goal: { atLeast: 0.8 },
      },
      {
        name: 'filter / the same at least once, median of the rounds’ ratios',
        value: middle(({ ours, once }) => ours / once),
        unit: '',
      },
      {
        name: 'filter / stock Nest, median of the rounds’ ratios',
        value: middle(({ ours, nest }) => ours / nest),
        unit: '',
        goal: { atLeast: 2 },
      },
    ],
  );
}

async function round(parts: Infrastructure, prefix: string): Promise<Round> {
  const { brokers } = parts;
  const filter = await filterService(parts, prefix);
  const name = (topic: string): string => `${prefix}${topic}`;

  await createTopics(brokers, ...['echo-in', 'echo-out', 'pooled-out', 'nest-in', 'nest-out'].map(name));
  await filter.fill(records);
  const filterSeconds = await drain(brokers, name('agent.toolsets'), records, () => filter.start());
  // The filter's output is what the baselines write, byte for byte in size.
  const outputBytes = await meanBytes(brokers, name('agent.toolsets'), records);

  const once = await filterService(parts, `once-${prefix}`);
  await once.fill(records);
  const begin = (): Promise<() => Promise<void>> => once.start({ exactly: false });
  const onceSeconds = await drain(brokers, `once-${name('agent.toolsets')}`, records, begin);

  await fill(brokers, name('echo-in'), request, records);
  const echo = (): Promise<() => Promise<void>> =>
    bareEcho(brokers, name('echo-in'), name('echo-out'), Buffer.alloc(outputBytes, 'x'));
  const echoSeconds = await drain(brokers, name('echo-out'), records, echo);

  const pooled = (): Promise<() => Promise<void>> =>
    pooledEcho(brokers, name('echo-in'), name('pooled-out'), Buffer.alloc(outputBytes, 'x'));
  const pooledSeconds = await drain(brokers, name('pooled-out'), records, pooled);

  const nestRecords = records / 10;
  await fill(brokers, name('nest-in'), request, nestRecords);
  const nest = (): Promise<() => Promise<void>> =>
    stockNest(brokers, name('nest-in'), name('nest-out'), { text: 'x'.repeat(outputBytes - 20) });
  const nestSeconds = await drain(brokers, name('nest-out'), nestRecords, nest);
  return {
    ours: records / filterSeconds,
    bare: records / echoSeconds,
    pooled: records / pooledSeconds,
    once: records / onceSeconds,
    nest: nestRecords / nestSeconds,
    outputBytes,
  };
}

/** The filter on Kafka, ready to be started; its ledger is the real one. */
async function filterService(parts: Infrastructure, prefix: string) {
  const environment = readEnvironment(variablesOf(parts, prefix));
  const open = await openRuntime(environment, createLog('silent'));
  const tools = manyTools(20);
  const { version: _, ...others } = configurationOf(tools);
  const content = {
    ...others,
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
  const configuration = { version: versionOf(content, sha256), ...content };
  await open.runtime.bus.publish([
    {
      topic: topics.config,
      key: 'config',
      record: await configurationRecord(configuration, { source: 'bench', compiledAt: 0 }, open.runtime.signatures),
    },
  ]);
  await open.runtime.configurations.start();
  return {
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
    start: async ({ exactly } = { exactly: true }) => {
      const { bus } = open.runtime;
      const used = exactly ? bus : atLeastOnce(bus, parts.brokers, parts.registryUrl, prefix);
      const service = await startFilter({ ...open.runtime, bus: used });
      return async () => {
        await service.close();
        await open.close();
      };
    },
  };
}
