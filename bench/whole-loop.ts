import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { readEnvironment } from '@sluice/host';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { closedLoop, hopsOfRun, promptModel, turns } from './closed-loop.js';
import type { Hop, Load, Measured } from './closed-loop.js';
import { bareLoop } from './kafka/bare-loop.js';
import { bareEcho, meanBytes } from './kafka/echo.js';
import { startInfrastructure } from './kafka/infrastructure.js';
import type { Infrastructure } from './kafka/infrastructure.js';
import { pooledEcho } from './kafka/pooled-echo.js';
import { openServices } from './kafka/services.js';
import type { Services } from './kafka/services.js';
import { median, quantile, report } from './measure.js';

const inFlight = [1, 16, 256] as const;
const kilobytes = [1, 8, 32] as const;
/** With BENCH_SHORT=true it only shows that it works: its figures mean nothing. */
const runsEach = (flying: number, short: boolean): number => (short ? flying : Math.max(60, 4 * flying));

const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [work] }
policy: { allowed_tools: [now] }
limits: { max_iterations: 1000, run_seconds: 3600 }
`;

/**
 * The whole loop with a model that answers at once: throughput, latency, and what share of it each hop has, on both
 * logs.
 */
export async function benchWholeLoop(): Promise<void> {
  const short = process.env['BENCH_SHORT'] === 'true';
  await onSqlite(short);
  await onKafka(short);
}

async function onSqlite(short: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const configFile = join(folder, 'sluice.yaml');
  await writeFile(configFile, configuration);
  const environment = readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0', SLUICE_LOG_LEVEL: 'warn' });
  const models = { get: () => Promise.resolve(promptModel) };
  const system = await startEmbedded({ environment, configFile, models });
  try {
    await table('SQLite', system.runtime.bus, short);
  } finally {
    await system.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function onKafka(short: boolean): Promise<void> {
  const parts = await startInfrastructure();
  try {
    await withServices(parts, (services) => table('Kafka', busOf(services), short));
    for (const size of short ? [1] : kilobytes)
      await withServices(parts, (services) => againstBare(parts, services, size, short));
  } finally {
    await parts.stop();
  }
}

async function withServices(parts: Infrastructure, measure: (services: Services) => Promise<void>): Promise<void> {
  const services = await openServices(parts, promptModel, () => Promise.resolve());
  try {
    await measure(services);
  } finally {
    await services.close();
  }
}

function busOf({ runtimes: [first] }: Services): Bus {
  if (first === undefined) throw new Error('There is no service.');
  return first.runtime.bus;
}

/** Hop for hop, with as many in flight, and the bare echoes write records of the same size as the services do. */
async function againstBare(parts: Infrastructure, services: Services, size: number, short: boolean): Promise<void> {
  const bus = busOf(services);
  const bytes = size * 1_024;
  // What the machine has not compiled yet is several times slower.
  const first = { runs: short ? 16 : 300, inFlight: 16, bytes };
  await closedLoop(bus, first);
  const mean = (topic: Topic): Promise<number> =>
    meanBytes(parts.brokers, services.prefix + topic, (first.runs * hopsOfRun) / 4);
  const outputs = [await mean(topics.toolsets), await mean(topics.toolCalls), await mean(topics.steps)] as const;
  for (const flying of inFlight) {
    const load = { runs: runsAgainstBare(flying, size, short), inFlight: flying, bytes };
    const passed = load.runs * hopsOfRun;
    const ours = async (): Promise<number> => passed / (await closedLoop(bus, load)).seconds;
    const rounds = Math.floor(passed / 3);
    const bare = async (echo: typeof bareEcho): Promise<number> =>
      3 * (await bareLoop(parts, echo, { rounds, inFlight: flying, outputs }));
    const measured: Rates[] = [];
    for (let round = 0; round < (short ? 1 : 5); round++)
      measured.push({ bare: await bare(bareEcho), ours: await ours(), pooled: await bare(pooledEcho) });
    // The first of each is not counted where there are more.
    reportRates(`${flying} in flight, records of ${outputs.join(', ')} bytes`, measured.slice(short ? 0 : 1));
  }
}

/** Some seconds’ worth, and no more than some hundred megabytes. */
function runsAgainstBare(flying: number, size: number, short: boolean): number {
  if (short) return flying;
  return Math.max(60, Math.min(18 * flying, size > 8 ? 512 : 1_536));
}

/** Hops a second, of one round. */
interface Rates {
  readonly bare: number;
  readonly pooled: number;
  readonly ours: number;
}

function reportRates(title: string, rounds: readonly Rates[]): void {
  const middle = (figure: (rates: Rates) => number): number => median(rounds.map(figure));
  report(`The whole loop on Kafka against three chained bare transactional echoes, ${title}`, [
    { name: 'bare kafkajs, a transaction a partition: hops a second', value: middle(({ bare }) => bare), unit: '1/s' },
    { name: 'bare kafkajs, one for all partitions: hops a second', value: middle(({ pooled }) => pooled), unit: '1/s' },
    { name: 'filter, agent, executor: hops a second', value: middle(({ ours }) => ours), unit: '1/s' },
    {
      name: 'the whole loop / the first, median of the rounds’ ratios',
      value: middle(({ ours, bare }) => ours / bare),
      unit: '',
      goal: { atLeast: 0.7 },
    },
    { name: 'the whole loop / the second', value: middle(({ ours, pooled }) => ours / pooled), unit: '' },
  ]);
}

async function table(log: string, bus: Bus, short: boolean): Promise<void> {
  // Else the first lines would be of code that the machine has not compiled yet, ours and the broker's.
  await closedLoop(bus, { runs: short ? 5 : 400, inFlight: 16, bytes: 1_024 });
  for (const size of kilobytes)
    for (const flying of inFlight) {
      const load = { runs: runsEach(flying, short), inFlight: flying, bytes: size * 1_024 };
      figures(`${log}, ${flying} in flight, questions of ${size} KB`, load, await closedLoop(bus, load));
    }
}

function figures(title: string, load: Load, measured: Measured): void {
  const { latencies, hops, seconds } = measured;
  const sum = (hop: Hop): number => hops[hop].reduce((all, ms) => all + ms, 0);
  const whole = sum('filter') + sum('agent') + sum('executor');
  report(`The whole loop on ${title}`, [
    { name: 'iterations a second', value: perSecond(load, measured), unit: '1/s' },
    { name: `a run of ${turns} calls and an answer, median`, value: median(latencies), unit: 'ms' },
    { name: 'the same, p99', value: quantile(latencies, 0.99), unit: 'ms' },
    ...(['filter', 'agent', 'executor'] as const).flatMap((hop) => [
      { name: `of it at the ${hop}`, value: (100 * sum(hop)) / whole, unit: '%' },
      { name: `${hop}: records a second`, value: hops[hop].length / seconds, unit: '1/s' },
      { name: `${hop}: a record, median`, value: median(hops[hop]), unit: 'ms' },
      { name: `${hop}: the same, p99`, value: quantile(hops[hop], 0.99), unit: 'ms' },
    ]),
  ]);
}

function perSecond({ runs }: Load, { seconds }: Measured): number {
  return (runs * turns) / seconds;
}
