import type { RunLimits } from '@sluice/core';
import type { Incoming } from '@sluice/bus';
import { attemptsOf } from '../attempts.js';
import type { RunRecords } from '../run-records.js';

/** The turns that stand at the place, in each attempt that they can have been parked in. */
export function turnsAt(
  run: RunRecords,
  { partition, offset }: { readonly partition: number; readonly offset: number },
  limits: () => RunLimits,
): readonly Incoming<'agent.tool-calls'>[] {
  return run.calls
    .filter((one) => one.partition === partition && one.offset === offset)
    .flatMap((one) => attemptsOf(one, run, limits).map((record) => ({ ...one, record })));
}
