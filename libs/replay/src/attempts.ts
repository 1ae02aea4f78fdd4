import { anotherAttempt } from '@sluice/core';
import type { RunLimits, RunState } from '@sluice/core';
import { redriveHeader } from '@sluice/contracts';
import type { AgentStepResult } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { returnedTurn } from '@sluice/decisions';
import type { RunRecords } from './runs.js';

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

/**
 * What a redrive gave back to the filter instead of an executor, from each turn that it can have been; null if an executor decided the record.
 * Its signature is the turn’s grant, which is verified where the turn is.
 */
export function deriveReturned(
  { record, headers }: Incoming<'agent.steps'>,
  { toolsets }: RunRecords,
): readonly AgentStepResult[] | null {
  if (headers[redriveHeader] === undefined || record.steps.length > 0) return null;
  const turns = toolsets.filter((toolset) => toolset.record.iteration === record.iteration);
  return turns.some((toolset) => toolset.record.grant === record.signature)
    ? turns.map((toolset) => returnedTurn(toolset.record))
    : null;
}
