import { allTopics } from '@sluice/contracts';
import { faultCodes, runErrors, toolErrors } from '@sluice/core';
import { createMetrics } from '@sluice/host';
import type { Metrics } from '@sluice/host';
import { Counter, Gauge, Histogram } from 'prom-client';
import { openLoop, runs, turns } from './loop.js';
import { median, quantile, report } from './measure.js';

const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [read-only], state: told }
policy: { allowed_tools: [now] }
limits: { max_iterations: 1000, run_seconds: 3600 }
`;

/**
 * What a scrape takes of a process that has counted everything a large installation can count, and what counting
 * costs a service.
 */
export async function benchMetrics(): Promise<void> {
  const full = fullMetrics();
  const page = await full.registry.metrics();
  const lines = page.split('\n').filter((line) => !line.startsWith('#')).length;
  const scrapeMs = await scrapes(full);
  report('Metrics', [
    { name: 'series at full cardinality: 200 tools, 100 groups, 20 states', value: lines, unit: '' },
    { name: 'a scrape of them, median', value: median(scrapeMs.wall), unit: 'ms', goal: { atMost: 50 } },
    { name: 'a scrape of them, p99', value: quantile(scrapeMs.wall, 0.99), unit: 'ms' },
    { name: 'a scrape of them, processor time', value: median(scrapeMs.processor), unit: 'ms' },
  ]);
  const { speed, work, bare, counting, scrape } = await shares();
  const itself = 1 / (1 + counting / median(bare));
  report('What metrics cost the loop, on a core that has nothing but work', [
    { name: 'an iteration without counting, processor time', value: median(bare), unit: 'µs' },
    { name: 'what it counts, counted again and again, processor time', value: counting, unit: 'µs' },
    { name: 'a scrape of what it counted, processor time', value: scrape, unit: 'ms' },
    {
      name: 'throughput with both, a scrape every 15 s / without',
      value: itself * (1 - scrape / scrapeEveryMs),
      unit: '',
      goal: { atLeast: 0.98 },
    },
    {
      name: 'pairs: with counting / without, by processor time',
      value: median(work),
      unit: '',
      goal: { atLeast: 0.98 },
    },
    { name: 'the same, middle half of the pairs: from', value: quantile(work, 0.25), unit: '' },
    { name: 'to', value: quantile(work, 0.75), unit: '' },
    { name: 'the same by the clock on the wall', value: median(speed), unit: '' },
  ]);
}

/** As ops/prometheus has it. */
const scrapeEveryMs = 15_000;
/** Some four minutes of them: a pair scatters by a fifth, and what is looked for is a fiftieth. */
const pairs = 260;

/** Milliseconds of each of many scrapes, on the wall and of the processor. */
async function scrapes({ registry }: Metrics): Promise<{ wall: number[]; processor: number[] }> {
  const [wall, processor]: [number[], number[]] = [[], []];
  for (let n = 0; n < 41; n++) {
    const [begin, usage] = [performance.now(), process.cpuUsage()];
    await registry.metrics();
    const { user, system } = process.cpuUsage(usage);
    wall.push(performance.now() - begin);
    processor.push((user + system) / 1_000);
  }
  return { wall, processor };
}

/** Rounds with and without, in turn and in changing order, so that neither is always the one that runs first. */
async function shares() {
  const [speed, work, bares]: [number[], number[], number[]] = [[], [], []];
  const counting = switched();
  const { system, close } = await openLoop(turns, { configured: configuration });
  try {
    const round = (counted: boolean): Promise<{ seconds: number; processor: number }> => {
      counting.on = counted;
      return runs(system, 16, 16);
    };
    for (let warm = 0; warm < 4; warm++) await round(warm % 2 === 0);
    for (let n = 0; n < pairs; n++) {
      const pair = [await round(n % 2 === 0), await round(n % 2 !== 0)] as const;
      const [counted, bare] = n % 2 === 0 ? pair : [pair[1], pair[0]];
      speed.push(bare.seconds / counted.seconds);
      work.push(bare.processor / counted.processor);
      bares.push((bare.processor / (16 * turns)) * 1e6);
    }
    counting.on = true;
    counting.heard = [];
    await runs(system, 16, 16);
    const { heard } = counting;
    counting.heard = undefined;
    const scrape = median((await scrapes(system.runtime.metrics)).processor);
    return { speed, work, bare: bares, counting: costOf(heard) / (16 * turns), scrape };
  } finally {
    counting.restore();
    await close();
  }
}

type Method = (...args: unknown[]) => unknown;

interface Counted {
  readonly metric: unknown;
  readonly method: Method;
  readonly args: unknown[];
}

/** Microseconds of the processor for all that was counted, counted once more; median of rounds. */
function costOf(heard: readonly Counted[]): number {
  const costs: number[] = [];
  for (let round = 0; round < 60; round++) {
    const usage = process.cpuUsage();
    for (const { metric, method, args } of heard) method.apply(metric, args);
    const { user, system } = process.cpuUsage(usage);
    costs.push(user + system);
  }
  return median(costs);
}

/**
 * Lets every metric that is made from now on count or not: a counter takes its method when it is made. A switch,
 * since other methods every round would make V8 compile all their callers again.
 */
function switched(): { on: boolean; heard: Counted[] | undefined; restore(): void } {
  const prototypes = [Counter.prototype, Gauge.prototype, Histogram.prototype] as unknown as Record<string, Method>[];
  const given = prototypes.flatMap((prototype) =>
    ['inc', 'incWithoutExemplar', 'set', 'observeWithoutExemplar'].flatMap((name) => {
      const method = prototype[name];
      return method === undefined ? [] : [[prototype, name, method] as const];
    }),
  );
  const counting = {
    on: true,
    heard: undefined as Counted[] | undefined,
    restore: () => {
      for (const [prototype, name, method] of given) prototype[name] = method;
    },
  };
  for (const [prototype, name, method] of given)
    prototype[name] = function (this: unknown, ...args) {
      if (!counting.on) return undefined;
      counting.heard?.push({ metric: this, method, args });
      return method.apply(this, args);
    };
  return counting;
}

/** Every label that an installation of that size can have, all in one process. */
function fullMetrics(): Metrics {
  const metrics = createMetrics();
  const names = (what: string, many: number): readonly string[] =>
    Array.from({ length: many }, (_, n) => `${what}-${n}`);
  const groups = [...names('group', 100), 'other'];
  const states = [...names('state', 20), 'other'];
  for (const group of groups) {
    metrics.groupRequests.inc({ group });
    metrics.groupAvailability.set({ group }, 1);
    metrics.groupAccessDenied.inc({ group });
  }
  for (const state of states) {
    metrics.stateAvailability.set({ state }, 1);
    metrics.workflowDuration.observe({ state }, 1);
    for (const to of states) metrics.stateChanges.inc({ from: state, to });
  }
  for (const tool of [...names('tool', 200), 'other']) {
    metrics.stateTransitions.inc({ tool });
    metrics.toolDuration.observe({ tool }, 1);
    metrics.unknownOutcomes.inc({ tool });
    metrics.approvalsRequested.inc({ tool });
    for (const direction of ['arguments', 'result']) metrics.toolBytes.inc({ tool, direction });
    for (const outcome of ['ok', ...Object.keys(toolErrors)]) metrics.toolCalls.inc({ tool, source: 'core', outcome });
  }
  for (const outcome of ['answer', ...Object.keys(runErrors)]) metrics.runsEnded.inc({ outcome });
  for (const topic of allTopics) {
    for (const code of Object.keys(faultCodes)) metrics.deadLetters.inc({ topic, code });
    for (const group of ['filter', 'agent', 'executor', 'audit']) {
      metrics.hopDuration.observe({ consumer_group: group, topic }, 1);
      for (let partition = 0; partition < 24; partition++)
        metrics.lag.set({ consumer_group: group, topic, partition }, 1);
    }
  }
  for (const actor of names('actor', 100))
    for (const reason of ['groups', 'escalation']) metrics.refusedRequests.inc({ tenant: 'acme', actor, reason });
  return metrics;
}
