import { badLines } from './inflict/bad-lines.ts';
import { brokerAway } from './inflict/broker-away.ts';
import { crashAtPoints, crashAtPointsOfCalls } from './inflict/crash-points.ts';
import { databaseAway } from './inflict/database-away.ts';
import type { Inflict } from './inflict/fault.ts';
import { randomKills } from './inflict/random-kills.ts';
import { rebalances } from './inflict/rebalances.ts';
import { spoiledRecords } from './inflict/spoiled-records.ts';
import { zombies } from './inflict/zombies.ts';
import { Random } from './random.ts';

/** What can be done to services on Kafka. */
export const faults = {
  'random kills': randomKills,
  'crash points': crashAtPoints,
  'crash points of calls': crashAtPointsOfCalls,
  zombies,
  rebalances,
  'broker away': brokerAway,
  'database away': databaseAway,
  'bad lines': badLines,
  'spoiled records': spoiledRecords,
} as const satisfies Readonly<Record<string, Inflict>>;

export type FaultName = keyof typeof faults;

export const faultNames = Object.keys(faults) as readonly FaultName[];

/** Faults that go on side by side while so many runs are asked for. */
export interface Round {
  readonly faults: readonly FaultName[];
  readonly runs: number;
  readonly seed: number;
}

export interface Plan {
  readonly oneBroker: readonly Round[];
  readonly threeBrokers: readonly Round[];
  /** The seed of each fault on the embedded log. */
  readonly embedded: { readonly killed: number; readonly diskFull: number; readonly crashPoints: number };
}

/** What can go on at the same time as another fault: it needs nothing to be there that the other one takes away. */
const besides: readonly FaultName[] = ['random kills', 'rebalances', 'bad lines', 'zombies'];

/**
 * All that is done, in which order and when: a function of the seed. The long form does more of it, and faults at the
 * same time.
 */
export function planOf(seed: number, long: boolean): Plan {
  const random = new Random(seed);
  const round = (names: readonly FaultName[], runs: number): Round => ({
    faults: names,
    runs,
    seed: random.between(1, 1_000_000_000),
  });
  const one = random.shuffled(faultNames).map((name) => round([name], 50));
  const pairs = random
    .shuffled(['broker away', 'database away', 'bad lines', 'spoiled records'] as const)
    .map((name) => round([name, random.pick(besides.filter((other) => other !== name))], 80));
  return {
    oneBroker: long ? [...one, ...pairs] : one,
    threeBrokers: long
      ? [
          round(['broker away'], 120),
          round(['broker away', 'random kills'], 120),
          round(['rebalances', 'bad lines'], 80),
        ]
      : [round(['broker away'], 80)],
    embedded: {
      killed: random.between(1, 1_000_000_000),
      diskFull: random.between(1, 1_000_000_000),
      crashPoints: random.between(1, 1_000_000_000),
    },
  };
}
