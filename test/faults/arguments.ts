import { parseArgs } from 'node:util';
import { faultNames } from './plan.ts';
import type { FaultName } from './plan.ts';

/** The parts of the suite that can be had alone. */
export const scenes = ['one broker', 'three brokers', 'embedded'] as const;

export interface Arguments {
  readonly seed: number;
  /** With seed, seed + 1, … until so many minutes have passed; 0 for once. */
  readonly minutes: number;
  readonly long: boolean;
  /** One fault or one scene alone. */
  readonly only: FaultName | (typeof scenes)[number] | null;
}

export const usage = `npm run test:faults [-- --seed N] [--minutes M] [--long] [--only NAME]
  --seed N     does again what a run with this seed did
  --minutes M  goes on with the next seeds until so many minutes have passed
  --long       more of everything, and several faults at the same time; 60 minutes unless --minutes says otherwise
  --only NAME  one part: ${[...scenes, ...faultNames].join(', ')}`;

/** @throws Error that says what to change */
export function readArguments(args: readonly string[], anySeed: () => number): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string' },
      long: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  const only = [...scenes, ...faultNames].find((name) => name === values.only) ?? null;
  if (values.only !== undefined && only === null) throw new Error(`There is no “${values.only}”.\n${usage}`);
  return {
    seed: values.seed === undefined ? anySeed() : whole('seed', values.seed),
    minutes: values.minutes === undefined ? (values.long ? 60 : 0) : whole('minutes', values.minutes),
    long: values.long,
    only,
  };
}

function whole(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new Error(`--${name} is “${value}”; it must be a whole number.\n${usage}`);
  return Number(value);
}
