import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { readEnvironment } from '@sluice/service';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { closedLoop, hopsOfRun, promptModel, turns } from './closed-loop.js';
import type { Hop, Load, Measured } from './closed-loop.js';
import { bareLoop } from './kafka/bare-loop.js';
import { meanBytes } from './kafka/echo.js';
import { startInfrastructure } from './kafka/infrastructure.js';
import type { Infrastructure } from './kafka/infrastructure.js';
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

/** The whole loop with a model that answers at once: throughput, latency, and what share of it each hop has, on both logs. */
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
    const bare = async (): Promise<number> => 3 * (await bareLoop(parts, { rounds, inFlight: flying, outputs }));
    const pairs: { readonly bare: number; readonly ours: number }[] = [];
    for (let pair = 0; pair < (short ? 1 : 5); pair++) pairs.push({ bare: await bare(), ours: await ours() });
    // The first of each is not counted where there are more.
    reportPairs(`${flying} in flight, records of ${outputs.join(', ')} bytes`, pairs.slice(short ? 0 : 1));
  }
}

/** Some seconds’ worth, and no more than some hundred megabytes. */
function runsAgainstBare(flying: number, size: number, short: boolean): number {
  if (short) return flying;
  return Math.max(60, Math.min(18 * flying, size > 8 ? 512 : 1_536));
}

function reportPairs(title: string, pairs: readonly { readonly bare: number; readonly ours: number }[]): void {
  report(`The whole loop on Kafka against three chained bare transactional echoes, ${title}`, [
    { name: 'bare kafkajs, hops a second', value: median(pairs.map(({ bare }) => bare)), unit: '1/s' },
    { name: 'filter, agent, executor: hops a second', value: median(pairs.map(({ ours }) => ours)), unit: '1/s' },
    {
      name: 'the whole loop / bare, median of the rounds’ ratios',
      value: median(pairs.map(({ ours, bare }) => ours / bare)),
      unit: '',
      goal: { atLeast: 0.7 },
    },
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
