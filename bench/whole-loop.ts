import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '@sluice/bus';
import { readEnvironment } from '@sluice/service';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { closedLoop, promptModel, turns } from './closed-loop.js';
import type { Load, Measured } from './closed-loop.js';
import { bareLoop } from './kafka/bare-loop.js';
import { startInfrastructure } from './kafka/infrastructure.js';
import { openServices } from './kafka/services.js';
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
    const services = await openServices(parts, promptModel, () => Promise.resolve());
    try {
      const [{ runtime }] = services.runtimes as [(typeof services.runtimes)[number]];
      await table('Kafka', runtime.bus, short);
      const flying = short ? 16 : 256;
      const rounds = short ? 1 : 5;
      // Long enough that most of it is not the warming up of either side.
      const runs = (short ? 1 : 6) * flying;
      const measured: { readonly bare: number; readonly ours: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const load = { runs, inFlight: flying, bytes: 1_024 };
        const bare = await bareLoop(parts, { ...load, turns });
        measured.push({ bare, ours: perSecond(load, await closedLoop(runtime.bus, load)) });
      }
      const middle = (of: (round: (typeof measured)[number]) => number): number => median(measured.map(of));
      report(`The whole loop on Kafka against three chained bare transactional echoes, ${flying} in flight, 1 KB`, [
        {
          name: 'bare kafkajs, a transaction a flush: rounds a second',
          value: middle(({ bare }) => bare),
          unit: '1/s',
        },
        { name: 'filter, agent, executor: iterations a second', value: middle(({ ours }) => ours), unit: '1/s' },
        {
          name: 'the whole loop / bare, median of the rounds’ ratios',
          value: middle(({ ours, bare }) => ours / bare),
          unit: '',
          goal: { atLeast: 0.7 },
        },
      ]);
    } finally {
      await services.close();
    }
  } finally {
    await parts.stop();
  }
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
