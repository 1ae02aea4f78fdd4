import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../random.ts';
import { Embedded } from './embedded.ts';

const runs = 150;

/** Sluice in one process on a log file, killed again and again while it is asked. Returns each broken promise. */
export async function embeddedKilled(
  seed: number,
  folder: string,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const random = new Random(seed);
  const began = performance.now();
  say(`embedded, killed (seed ${seed})`);
  const embedded = await Embedded.open(folder, join(folder, 'data'));
  try {
    const asking = embedded.ask(runs, 60, new Random(seed + 1));
    const said: string[] = [];
    let hasServed = false;
    for (let kills = random.between(5, 8); kills > 0; kills--) {
      embedded.start();
      // A ledger that nothing was written to is refused beside a log that was worked on, as the spoiled records say.
      if (!hasServed) await embedded.serves();
      hasServed = true;
      await sleep(random.between(1_200, 4_000));
      await embedded.spoil(random);
      said.push(...embedded.lookOn());
      await embedded.end('SIGKILL');
      said.push(...embedded.lookOn());
    }
    embedded.start();
    await asking;
    said.push(...(await embedded.settle()));
    say(`  ${Math.round((performance.now() - began) / 1_000)} s; ${embedded.summary()}`);
    return said;
  } finally {
    await embedded.close();
  }
}
