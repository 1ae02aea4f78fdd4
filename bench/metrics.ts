import { allTopics } from '@sluice/contracts';
import { faultCodes, runErrors, toolErrors } from '@sluice/core';
import { createMetrics } from '@sluice/service';
import type { Metrics } from '@sluice/service';
import { Counter, Gauge, Histogram } from 'prom-client';
import { onLoop, runs, turns } from './loop.js';
import { median, quantile, report } from './measure.js';

const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [read-only], state: told }
policy: { allowed_tools: [now] }
limits: { max_iterations: 1000, run_seconds: 3600 }
`;

/** What a scrape takes of a process that has counted everything a large installation can count, and what counting costs a service. */
export async function benchMetrics(): Promise<void> {
  const scrapeMs: number[] = [];
  const full = fullMetrics();
  let lines = 0;
  for (let n = 0; n < 41; n++) {
    const begin = performance.now();
    const page = await full.registry.metrics();
    scrapeMs.push(performance.now() - begin);
    lines = page.split('\n').filter((line) => !line.startsWith('#')).length;
  }
  report('Metrics', [
    { name: 'series at full cardinality: 200 tools, 100 groups, 20 states', value: lines, unit: '' },
    { name: 'a scrape of them, median', value: median(scrapeMs), unit: 'ms', goal: { atMost: 50 } },
    { name: 'a scrape of them, p99', value: quantile(scrapeMs, 0.99), unit: 'ms' },
  ]);
  const shares = await throughputShares();
  report('What counting costs the loop', [
    {
      name: 'throughput with metrics and a scrape a second / without',
      value: median(shares),
      unit: '',
      goal: { atLeast: 0.98 },
    },
    { name: 'the same, middle half of the rounds: from', value: quantile(shares, 0.25), unit: '' },
    { name: 'to', value: quantile(shares, 0.75), unit: '' },
  ]);
}

/** Rounds with and without, in turn and in changing order, so that neither is always the one that runs first. */
async function throughputShares(): Promise<number[]> {
  const shares: number[] = [];
  await onLoop(configuration, async (system) => {
    const round = async (counted: boolean): Promise<number> => {
      const restore = counted ? () => undefined : silence();
      const { metrics } = system.runtime;
      const scrapes = setInterval(() => void (counted ? metrics.registry.metrics() : undefined), 1_000);
      const { seconds } = await runs(system, 32, 32);
      clearInterval(scrapes);
      restore();
      return (32 * turns) / seconds;
    };
    await round(true);
    for (let n = 0; n < 16; n++) {
      const first = await round(n % 2 === 0);
      const second = await round(n % 2 !== 0);
      shares.push(n % 2 === 0 ? first / second : second / first);
    }
  });
  return shares;
}

/** Takes the counting away from every metric of this process; returns what gives it back. */
function silence(): () => void {
  const prototypes = [Counter.prototype, Gauge.prototype, Histogram.prototype] as unknown as Record<string, unknown>[];
  const given = prototypes.flatMap((prototype) =>
    ['inc', 'set', 'observe']
      .filter((name) => name in prototype)
      .map((name) => [prototype, name, prototype[name]] as const),
  );
  for (const [prototype, name] of given) prototype[name] = () => undefined;
  return () => {
    for (const [prototype, name, method] of given) prototype[name] = method;
  };
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
      metrics.hopDuration.observe({ group, topic }, 1);
      for (let partition = 0; partition < 24; partition++) metrics.lag.set({ group, topic, partition }, 1);
    }
  }
  for (const actor of names('actor', 100))
    for (const reason of ['groups', 'escalation']) metrics.refusedRequests.inc({ tenant: 'acme', actor, reason });
  return metrics;
}
