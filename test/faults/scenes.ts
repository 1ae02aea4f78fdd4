import { join } from 'node:path';
import { faults } from './plan.ts';
import type { Round } from './plan.ts';
import { openWorld } from './parts/world.ts';
import type { World } from './parts/world.ts';
import { Random } from './random.ts';

/** Rounds of faults on one cluster, each judged when it is over. Returns the broken promises of the first round that breaks any. */
export async function onKafka(
  brokers: 1 | 3,
  rounds: readonly Round[],
  folder: string,
  say: (line: string) => void,
): Promise<readonly string[]> {
  if (rounds.length === 0) return [];
  say(`${brokers === 1 ? 'One broker' : 'Three brokers, three copies of everything'}: starting it and the services …`);
  const world = await openWorld(join(folder, `brokers-${brokers}`), brokers, say);
  try {
    // Before anything breaks it works.
    await world.load.ask(6, new Random(0));
    const healthy = await world.settle();
    if (healthy.length > 0) return ['Before any fault:', ...healthy];
    for (const round of rounds) {
      const began = performance.now();
      say(`${round.faults.join(' and ')} (seed ${round.seed})`);
      const said = await inflict(world, round);
      say(`  ${Math.round((performance.now() - began) / 1_000)} s; so far ${world.summary()}`);
      if (said.length === 0) continue;
      world.writeDown(join(folder, 'seen.json'));
      return said;
    }
    return [];
  } finally {
    await world.close();
  }
}

async function inflict(world: World, { faults: names, runs, seed }: Round): Promise<readonly string[]> {
  const asking = world.load.ask(runs, new Random(seed));
  const inflicting = names.map((name, index) => faults[name](world, new Random(seed + index + 1)));
  const outcomes = await Promise.allSettled([asking, ...inflicting]);
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
  const onTheWay = failed.length === 0 ? await world.lookOn() : [];
  return [...failed, ...onTheWay, ...(await world.settle())];
}
