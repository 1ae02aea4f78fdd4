import { anotherAttempt, evaluatorFor } from '@sluice/core';
import type { RunLimits, RunState, Verifier } from '@sluice/core';
import { redriveHeader } from '@sluice/contracts';
import type { AgentStepResult, ToolCall } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { afterAgents, afterApproval, isClosing, isOverdue, isReturned, overdueCall, returnedTurn } from '@sluice/run';
import type { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import type { RunRecords } from './run-records.js';

/**
 * The run as it goes on from a record: as it is, or as another attempt where the record was re-driven and taken as
 * that.
 */
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
 * The turn as its record has it, and as it can have gone on behind each wait for people in it, whose time puts off
 * the run’s deadline.
 */
export function waitedTurns(record: ToolCall, run: RunRecords): readonly ToolCall[] {
  const { approvals, returns } = run;
  const asked = approvals.flatMap(({ record: { requested } }) =>
    requested?.iteration === record.iteration && requested.behind === null ? [requested] : [],
  );
  const behindApprovals = approvals.flatMap(({ record: { outcome }, timestamp }) =>
    asked
      .filter(({ approvalId }) => outcome !== null && isClosing(outcome) && outcome.approvalId === approvalId)
      .map((requested) => afterApproval(record, requested, timestamp)),
  );
  const behindAgents = returns.flatMap(({ record: end }) => (end.run === null ? [] : [afterAgents(record, [end.run])]));
  const waited = [...behindApprovals, ...behindAgents].filter(({ run: one }) => one.parkedMs !== record.run.parkedMs);
  return [record, ...waited];
}

/**
 * A turn in each attempt that it can have been parked in: as the log has it, and as a redrive of it, or of what
 * brought it back, began one.
 */
export function attemptsOf(
  turn: Incoming<'agent.tool-calls'>,
  run: RunRecords,
  limits: () => RunLimits,
): readonly ToolCall[] {
  const { approvals, returns } = run;
  const { record } = turn;
  const again = [turn, ...approvals, ...returns].flatMap(({ headers, timestamp }): readonly ToolCall[] => {
    const redrive = headers[redriveHeader];
    if (redrive === undefined || redrive === record.run.redrive) return [];
    return [{ ...record, run: anotherAttempt(record.run, redrive, record.request, limits(), timestamp) }];
  });
  return [record, ...again].flatMap((one) => waitedTurns(one, run));
}

/**
 * What a redrive, or the filter since the run’s time was up, gave back to the filter instead of an executor, from
 * each turn that it can have been; null if an executor decided the record. Its signature is the turn’s grant, which
 * is verified where the turn is.
 */
export async function deriveReturned(
  { record, headers, timestamp }: Incoming<'agent.steps'>,
  run: RunRecords,
  configurations: RecordedConfigurations,
  verifier: Verifier,
): Promise<readonly AgentStepResult[] | null> {
  const isAgain = headers[redriveHeader] !== undefined;
  if ((!isAgain && !isOverdue(record, timestamp)) || record.steps.length > 0) return null;
  const turns = run.toolsets.filter((toolset) => toolset.record.iteration === record.iteration);
  if (turns.some((toolset) => toolset.record.grant === record.signature))
    return turns.map((toolset) => ({ ...returnedTurn(toolset.record), recordSignature: record.recordSignature }));
  // Only a grant ends at a time; what an executor signs of a turn says otherwise the same.
  const claims = await verifier.verify('filter', record.signature);
  if (typeof claims?.['exp'] !== 'number' || !isReturned(claims, { ...record, request: record.next })) return null;
  const calls = overdueCalls(record, run, configurations);
  if (calls.length > 0) return calls;
  throw new NotReplayable(
    `It gave back a turn that was ${isAgain ? 're-driven' : 'overdue'}, whose Toolset is not among the records.`,
  );
}

/** A call without a model has no Toolset: the filter says of each of its requests whose run it is, and until when. */
function overdueCalls(
  { next, iteration, run: recorded, configVersion, signature, recordSignature }: AgentStepResult,
  { requests }: RunRecords,
  configurations: RecordedConfigurations,
): readonly AgentStepResult[] {
  const { principal, redrive: attempt, startedAt } = recorded;
  if (next.call === null || iteration !== 1 || principal === null) return [];
  return requests.map((message) => {
    const evaluator = evaluatorFor(configurations.get(configVersion), message.record);
    const { turn } = overdueCall(message, principal, { attempt, startedAt }, evaluator);
    return { ...returnedTurn(turn), signature, recordSignature };
  });
}
