import { join } from 'node:path';
import { Random } from '../random.ts';
import { Embedded } from './embedded.ts';

/** Asked for between two looks at whether it is over. */
const wave = 10;
/** A point is passed at most so often before the process dies there. */
const mostPassed = 40;
/** It serves at most so long first: what was asked for while it was away would all be under way when it dies. */
const servesMostMs = 2_500;

/**
 * Between a claim and its effect, a commit and its answer, a record and its place in the lists, content and its record.
 */
const points = [
  ...['before-commit log', 'after-commit log', 'before-commit ledger', 'after-commit ledger'],
  ...['before-commit projection', 'after-commit projection', 'before-flush any', 'after-flush any'],
  ...['before-sync content', 'after-sync content'],
] as const;

/**
 * Sluice in one process on a log file, killed before and after commits and flushes of each of its files. Returns each
 * broken promise.
 */
export async function embeddedCrashPoints(
  seed: number,
  folder: string,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const random = new Random(seed);
  const began = performance.now();
  say(`embedded, killed at commits (seed ${seed})`);
  const embedded = await Embedded.open(folder, join(folder, 'data'));
  try {
    let isOver = false;
    const requests = new Random(seed + 1);
    const asking = (async () => {
      while (!isOver) await embedded.ask(wave, 100, requests);
    })();
    const said: string[] = [];
    for (const point of random.shuffled(points)) {
      const died = await embedded.diesAt(`${point} ${random.between(1, mostPassed)}`, random.between(0, servesMostMs));
      if (died) said.push(...embedded.lookOn());
      else said.push(`The process was not killed at ${point}: it never came there.`);
    }
    isOver = true;
    embedded.start();
    await asking;
    said.push(...(await embedded.settle()));
    say(`  ${Math.round((performance.now() - began) / 1_000)} s; ${embedded.summary()}`);
    return said;
  } finally {
    await embedded.close();
  }
}
