import { openLoop, runs } from './loop.js';
import { median, quantile, report } from './measure.js';

const rounds = 40;
const runsPerRound = 96;

/** What a line a request costs: runs of one call, whose share of it is largest, with lines and without in turn. */
export async function benchLines(): Promise<void> {
  const { system, close } = await openLoop(1, { logLevel: 'info' });
  const { log } = system.runtime;
  try {
    for (let warm = 0; warm < 4; warm++) await runs(system, runsPerRound, 64);
    const [work, time]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const cost = { info: { seconds: 0, processor: 0 }, silent: { seconds: 0, processor: 0 } };
      // Each goes first in every other round: what comes later finds a longer log.
      for (const level of round % 2 === 0 ? (['info', 'silent'] as const) : (['silent', 'info'] as const)) {
        log.level = level;
        cost[level] = await runs(system, runsPerRound, 64);
      }
      const { info, silent } = cost;
      work.push((info.processor / silent.processor - 1) * 100);
      time.push((info.seconds / silent.seconds - 1) * 100);
    }
    report(`A line a request at info against none, ${rounds} pairs of ${runsPerRound} runs in turn, on SQLite`, [
      {
        name: 'more processor time for a run of one call, median',
        value: median(work),
        unit: '%',
        goal: { atMost: 5 },
      },
      { name: 'the same, middle half of the pairs: from', value: quantile(work, 0.25), unit: '%' },
      { name: 'to', value: quantile(work, 0.75), unit: '%' },
      { name: 'more time by the clock on the wall, median', value: median(time), unit: '%' },
    ]);
  } finally {
    await close();
  }
}
