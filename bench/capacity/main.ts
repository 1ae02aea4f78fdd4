import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startInfrastructure } from '../kafka/infrastructure.js';
import { quantile } from '../measure.js';
import { embedded } from './embedded.js';
import { startOutside } from './installation.js';
import type { Installation } from './installation.js';
import { costsOf, predicted } from './model.js';
import type { Costs, Counted, Measured } from './model.js';
import { onKafka } from './on-kafka.js';
import type { OnKafka } from './on-kafka.js';
import { standardPlan, standardPlans } from './plans.js';
import { sizeOf } from './sizing.js';
import { checkTable, countedOf, countTable, cpuTable, sizeTable } from './tables.js';
import type { Check, CostsFile, InstallationCosts } from './tables.js';
import { closed, idle, open } from './window.js';
import type { Mix, Window } from './window.js';

const short = process.env['BENCH_SHORT'] === 'true';
/** A broker that has just started takes several times as much for a run until its code is compiled. */
const warmRuns = short ? 32 : 1_500;
const idleSeconds = short ? 3 : 10;
const aloneRuns = 50;
const aloneSeconds = short ? 3 : 15;
const inFlight = 64;
const floodRuns = short ? 64 : 400;
/** Behind a flood, until databases and collectors have done what they do behind it. */
const calmMs = short ? 0 : 6_000;
const checkSeconds = short ? 3 : 20;
/** Of what floods of the mix’s kinds ended a second: three loads that this machine can carry. */
const checkedShares = [0.15, 0.35, 0.6] as const;
/** Where the time of a commit is measured, before and after each of them. */
const betweenShare = 0.25;
const betweenSeconds = short ? 3 : 10;

const overHttp: Mix = {
  'http answer': 0.15,
  'http read': 0.3,
  'http effect': 0.2,
  'http three': 0.1,
  'http call': 0.1,
  'mcp call': 0.15,
};

/** What a run takes of each part, counted; whether that holds for three loads; and what it means for larger ones. */
export async function benchCapacity(): Promise<void> {
  const outside = await startOutside();
  try {
    const one = await embedded(outside.port);
    const inOneProcess = await measure('embedded', one, overHttp).finally(() => one.close());
    const parts = await startInfrastructure();
    try {
      const many = await onKafka(parts, outside.port);
      const measured = await measure('on Kafka', many, standardPlan.mix, many).finally(() => many.close());
      const costs: CostsFile = {
        machine: `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
        measuredOn: new Date().toISOString(),
        embedded: inOneProcess,
        kafka: measured,
      };
      const sizes = standardPlans.map((plan) => [plan, sizeOf(measured.costs, plan)] as const);
      console.log(`\nWhat that means on Kafka\n\n${sizeTable(measured.costs, sizes)}`);
      const file = join(import.meta.dirname, 'capacity.json');
      writeFileSync(file, `${JSON.stringify(costs, rounded, 2)}\n`);
      console.log('\nThe costs are in dist/capacity.json: `npm run bench -- size 500` goes by them.');
    } finally {
      await parts.stop();
    }
  } finally {
    outside.stop();
  }
}

async function measure(
  title: string,
  installation: Installation,
  mix: Mix,
  cluster?: OnKafka,
): Promise<InstallationCosts> {
  const loadBefore = loadavg()[0] ?? 0;
  const names = Object.keys(mix) as (keyof Mix)[];
  const say = (what: string, { runs, sending, latencies, load }: Window): void =>
    console.log(
      `  ${title}, ${what}: ${runs} runs at ${(runs / sending).toFixed(1)} a second, ${quantile(latencies, 0.5).toFixed(0)} and ${quantile(latencies, 0.99).toFixed(0)} ms, load ${load.toFixed(1)}`,
    );
  say('warm', await closed(installation, mix, { runs: warmRuns, inFlight: inFlight / 4 }));
  await delay(calmMs);
  const nothing = await idle(installation, idleSeconds);
  const runs: Record<string, Measured> = {};
  const claims: Record<string, Record<string, number>> = {};
  for (const name of names) {
    const alone = await closed(installation, { [name]: 1 }, { runs: aloneRuns, inFlight: 1, seconds: aloneSeconds });
    say(`${name}, alone`, alone);
    const full = await closed(installation, { [name]: 1 }, { runs: floodRuns, inFlight });
    say(`${name}, flood`, full);
    runs[name] = { alone, full };
    claims[name] = Object.fromEntries(
      Object.entries(full.counted.claims).map(([what, many]) => [what, many / full.runs]),
    );
  }
  // By the time that each kind had.
  const most = 1 / names.reduce((sum, name) => sum + (mix[name] ?? 0) * secondsOf(runs[name]?.full), 0);
  const middle = names.find((name) => name.endsWith(' read')) ?? 'log read';
  const between: Window[] = [];
  const checked: Window[] = [];
  const measureBetween = async (): Promise<void> => {
    const window = await open(installation, { [middle]: 1 }, most * betweenShare, betweenSeconds);
    say(`${middle}, between`, window);
    between.push(window);
  };
  await measureBetween();
  for (const share of checkedShares) {
    const window = await open(installation, mix, most * share, checkSeconds);
    say('checked', window);
    checked.push(window);
    await measureBetween();
  }
  let twoFilters: Window | undefined;
  if (cluster !== undefined) {
    const second = await cluster.startSecondFilter();
    await closed(installation, { [middle]: 1 }, { runs: floodRuns, inFlight });
    say('two filters', (twoFilters = await closed(installation, { [middle]: 1 }, { runs: floodRuns, inFlight })));
    await second.stop();
  }
  const claimBytes = (await cluster?.bytesOfClaim()) ?? 0;
  const costsBy = (windows: readonly Window[]): Costs =>
    costsOf({
      ...{ idle: nothing, runs, claimBytes, between: { name: middle, counted: windows } },
      ...(twoFilters === undefined ? {} : { twoFilters }),
    });
  const costs = costsBy(between);
  const checks = checked.map(({ runs: sent, sending, counted: reading, load }, n): Check => {
    const perSecond = sent / sending;
    const counted = countedOf(reading, Object.keys(costs.commits));
    const seconds = { sending, all: reading.at };
    return {
      perSecond,
      // How long a commit takes goes by what else the machine does: by what was measured before and after.
      predicted: predicted(costsBy(between.slice(n, n + 2)), mix, perSecond, seconds),
      measured: counted,
      byCommits: predicted(costs, mix, perSecond, seconds, counted.commits),
      load,
    };
  });
  const loads = [loadBefore, loadavg()[0] ?? 0] as const;
  const result: InstallationCosts = { costs, claims, flood: most, mix, checks, loads };
  console.log(`\nWhat a run takes, ${title}, load ${loads.map((load) => load.toFixed(1)).join(' to ')}\n`);
  console.log(`${cpuTable(result)}\n\n${countTable(result)}\n\n${checkTable(result)}`);
  return result;
}

/** That a run of a flood took of it. */
function secondsOf(full: Counted | undefined): number {
  return full === undefined ? 0 : full.sending / full.runs;
}

/** Four figures of each number are enough. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
