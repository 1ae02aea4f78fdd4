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

/** What to change about the arguments. */
export class UsageError extends Error {
  constructor(problem: string) {
    super(`${problem}\n${usage}`);
  }
}

const options = {
  seed: { type: 'string' },
  minutes: { type: 'string' },
  long: { type: 'boolean', default: false },
  only: { type: 'string' },
} as const;

/** @throws UsageError */
export function readArguments(args: readonly string[], anySeed: () => number): Arguments {
  const { values } = parsed(args);
  const only = [...scenes, ...faultNames].find((name) => name === values.only) ?? null;
  if (values.only !== undefined && only === null) throw new UsageError(`There is no “${values.only}”.`);
  return {
    seed: values.seed === undefined ? anySeed() : whole('seed', values.seed),
    minutes: values.minutes === undefined ? (values.long ? 60 : 0) : whole('minutes', values.minutes),
    long: values.long,
    only,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function whole(name: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${name} is “${value}”; it must be a whole number.`);
  return Number(value);
}
