import type { OpenRuntime } from '@sluice/service';
import { configuration, onLoop, runs } from './loop.js';
import { median, report } from './measure.js';

const rounds = 12;
const runsPerRound = 256;

/** What a line a request costs: runs of one call, whose share of it is largest, with lines and without in turn. */
export function benchLines(): Promise<void> {
  return onLoop(configuration, measure, 1);
}

async function measure(system: OpenRuntime): Promise<void> {
  const { log } = system.runtime;
  await runs(system, runsPerRound, 64);
  const shares: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const seconds = { info: 0, silent: 0 };
    // Each goes first in every other round: what comes later finds a longer log.
    for (const level of round % 2 === 0 ? (['info', 'silent'] as const) : (['silent', 'info'] as const)) {
      log.level = level;
      seconds[level] = (await runs(system, runsPerRound, 64)).seconds;
    }
    shares.push((seconds.info / seconds.silent - 1) * 100);
  }
  report(`A line a request at info against none, ${rounds} pairs of ${runsPerRound} runs in turn, on SQLite`, [
    { name: 'more time for a run of one call, median', value: median(shares), unit: '%', goal: { atMost: 5 } },
  ]);
}
