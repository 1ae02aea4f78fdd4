import { anotherAttempt } from '@sluice/core';
import type { RunLimits, RunState } from '@sluice/core';
import type { Incoming } from '@sluice/bus';

/** Names the dead letter on the record that was re-driven from it. That it counted, the run of the record that followed says. */
const redriveHeader = 'sluice-redrive';

/** The run as it goes on from a record: as it is, or as another attempt where the record was re-driven and taken as that. */
export function goingOn(
  run: RunState,
  { headers, timestamp }: Pick<Incoming, 'headers' | 'timestamp'>,
  asked: { readonly deadline: number | null },
  after: RunState,
  limits: () => RunLimits,
): RunState {
  const { redrive } = after;
  if (redrive === null || run.redrive === redrive || !isRedriven({ headers }, after)) return run;
  return anotherAttempt(run, redrive, asked, limits(), timestamp);
}

/** Whether the record was re-driven as the attempt that the run is in. */
export function isRedriven({ headers }: Pick<Incoming, 'headers'>, { redrive }: RunState): boolean {
  return redrive !== null && headers[redriveHeader] === redrive;
}
