import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { faults } from './plan.ts';
import type { FaultName, Round } from './plan.ts';
import { openWorld } from './parts/world.ts';
import type { World } from './parts/world.ts';
import { Random } from './random.ts';

/** Between two looks at the log while the work goes on, milliseconds. */
const lookMs = 2_000;

/**
 * Rounds of faults on one cluster, each judged when it is over. Returns the broken promises of the first round that
 * breaks any.
 */
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
    return world.neverBeyond();
  } finally {
    await world.close();
  }
}

/** There is work from the first moment of a round to the last one of its faults, and somebody looks on. */
async function inflict(world: World, { faults: names, runs, seed }: Round): Promise<readonly string[]> {
  let isOver = false;
  const inflicting = Promise.allSettled(
    names.map((name, index) => faults[name](world, new Random(seed + index + 1))),
  ).finally(() => (isOver = true));
  const onlyCalls = names.includes('crash points of calls');
  const asking = world.load.ask(runs, new Random(seed), () => isOver, onlyCalls);
  const [faulty, ...others] = await Promise.allSettled([inflicting, asking, lookOn(world, names, () => isOver)]);
  const outcomes = [...(faulty.status === 'fulfilled' ? faulty.value : [faulty]), ...others];
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
  const [, looked] = others;
  const seen = looked.status === 'fulfilled' ? looked.value : [];
  return [...failed, ...seen, ...(await world.settle())];
}

/** Looks every few seconds until it is over, and once more. While a broker is away nobody could. */
async function lookOn(world: World, names: readonly FaultName[], isOver: () => boolean): Promise<readonly string[]> {
  for (;;) {
    await sleep(lookMs);
    if (names.includes('broker away') && !isOver()) continue;
    const last = isOver();
    const said = await world.lookOn();
    if (said.length > 0 || last) return said;
  }
}
