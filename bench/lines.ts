import type { OpenRuntime } from '@sluice/host';
import { openLoop, runs } from './loop.js';
import { median, quantile, report } from './measure.js';

const rounds = 60;
const runsPerRound = 64;

/**
 * What a line a request costs, beside what a run takes anyway; the steadier figure of the two is the line by itself.
 * Runs of one call, whose share of it is largest, with lines and without in turn.
 */
export async function benchLines(): Promise<void> {
  const { system, close } = await openLoop(1, { logLevel: 'info' });
  const { log } = system.runtime;
  try {
    for (let warm = 0; warm < 4; warm++) await runs(system, runsPerRound, 64);
    const lineMicroseconds = await costOfLine(system);
    const [work, time]: [number[], number[]] = [[], []];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const cost = { info: { seconds: 0, processor: 0 }, silent: { seconds: 0, processor: 0 } };
      // Each goes first in every other round: what comes later finds a longer log.
      for (const level of round % 2 === 0 ? (['info', 'silent'] as const) : (['silent', 'info'] as const)) {
        log.level = level;
        cost[level] = await runs(system, runsPerRound, 64);
      }
      const { info, silent } = cost;
      bare.push((silent.processor / runsPerRound) * 1e6);
      work.push((info.processor / silent.processor - 1) * 100);
      time.push((info.seconds / silent.seconds - 1) * 100);
    }
    const byItself = (lineMicroseconds / median(bare)) * 100;
    report(`A line a request at info against none, ${rounds} pairs of ${runsPerRound} runs in turn, on SQLite`, [
      {
        name: 'more processor time for a run of one call, median',
        value: median(work),
        unit: '%',
        goal: { atMost: 5 },
      },
      { name: 'the same, middle half of the pairs: from', value: quantile(work, 0.25), unit: '%' },
      { name: 'to', value: quantile(work, 0.75), unit: '%' },
      { name: 'a run of one call without, processor time', value: median(bare), unit: 'µs' },
      { name: 'writing its line again and again, processor time', value: lineMicroseconds, unit: 'µs' },
      { name: 'which is of the run', value: byItself, unit: '%', goal: { atMost: 5 } },
      { name: 'more time by the clock on the wall, median', value: median(time), unit: '%' },
    ]);
  } finally {
    await close();
  }
}

/** Microseconds of the processor for the line that a run writes, in the file where it stands; median of rounds. */
async function costOfLine(system: OpenRuntime): Promise<number> {
  const { log } = system.runtime;
  const written = log.info;
  let line: object | undefined;
  log.info = ((given: object) => (line = given)) as typeof written;
  await runs(system, 1, 1);
  // It is written after the commit, which may be a moment after the answer can be read.
  for (const end = performance.now() + 5_000; line === undefined && performance.now() < end;)
    await new Promise((resolve) => setImmediate(resolve));
  log.info = written;
  if (line === undefined) throw new Error('The run wrote no line.');
  const costs: number[] = [];
  for (let round = 0; round < 40; round++) {
    const usage = process.cpuUsage();
    for (let n = 0; n < 250; n++) log.info(line);
    const { user, system } = process.cpuUsage(usage);
    costs.push((user + system) / 250);
  }
  return median(costs);
}
