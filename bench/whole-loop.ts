import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { readEnvironment } from '@sluice/service';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { closedLoop, hopsOfRun, promptModel, turns } from './closed-loop.js';
import type { Load, Measured } from './closed-loop.js';
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
    await withServices(parts, (services) => againstBare(parts, services, short));
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

/** Hop for hop, and the bare echoes write records of the same size as the services do. */
async function againstBare(parts: Infrastructure, services: Services, short: boolean): Promise<void> {
  const inFlight = short ? 16 : 256;
  const load = { runs: (short ? 1 : 6) * inFlight, inFlight, bytes: 1_024 };
  const passed = load.runs * hopsOfRun;
  const loop = () => closedLoop(busOf(services), load);
  // Both once without counting: what the machine has not compiled yet is several times slower.
  await loop();
  const size = (topic: Topic): Promise<number> => meanBytes(parts.brokers, services.prefix + topic, passed / 4);
  const outputs = [await size(topics.toolsets), await size(topics.toolCalls), await size(topics.steps)] as const;
  const bareHops = async (): Promise<number> => 3 * (await bareLoop(parts, { rounds: passed / 3, inFlight, outputs }));
  await bareHops();
  const rounds: { readonly bare: number; readonly ours: number; readonly iterations: number }[] = [];
  for (let round = 0; round < (short ? 1 : 5); round++) {
    const bare = await bareHops();
    const measured = await loop();
    rounds.push({ bare, ours: passed / measured.seconds, iterations: perSecond(load, measured) });
  }
  const middle = (of: (round: (typeof rounds)[number]) => number): number => median(rounds.map(of));
  report(
    `The whole loop on Kafka against three chained bare transactional echoes, ${inFlight} in flight, records of ${outputs.join(', ')} bytes`,
    [
      {
        name: 'bare kafkajs, a transaction a flush: hops a second',
        value: middle(({ bare }) => bare),
        unit: '1/s',
      },
      { name: 'filter, agent, executor: hops a second', value: middle(({ ours }) => ours), unit: '1/s' },
      { name: 'of them iterations a second', value: middle(({ iterations }) => iterations), unit: '1/s' },
      {
        name: 'the whole loop / bare, median of the rounds’ ratios',
        value: middle(({ ours, bare }) => ours / bare),
        unit: '',
        goal: { atLeast: 0.7 },
      },
    ],
  );
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
  const { latencies, hops } = measured;
  const whole = hops.filter + hops.agent + hops.executor;
  report(`The whole loop on ${title}`, [
    { name: 'iterations a second', value: perSecond(load, measured), unit: '1/s' },
    { name: `a run of ${turns} calls and an answer, median`, value: median(latencies), unit: 'ms' },
    { name: 'the same, p99', value: quantile(latencies, 0.99), unit: 'ms' },
    ...(['filter', 'agent', 'executor'] as const).map((hop) => ({
      name: `of it at the ${hop}`,
      value: (100 * hops[hop]) / whole,
      unit: '%',
    })),
  ]);
}

function perSecond({ runs }: Load, { seconds }: Measured): number {
  return (runs * turns) / seconds;
}
