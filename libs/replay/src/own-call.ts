import type { AgentResponse, AgentStepResult, CallDecision, ToolCall, Toolset } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { decideCall, endOfCall } from '@sluice/run';
import type { RecordedConfigurations } from './configurations.js';
import { begunBy } from './filter.js';
import { NotReplayable } from './outcome.js';
import type { RunRecords } from './run-records.js';

/** The turn of a call that a request makes itself, before it is signed, and what was decided about it. */
export interface OwnTurn {
  readonly turn: ToolCall;
  readonly decided: CallDecision;
  /** What a filter would have granted. */
  readonly toolset: Toolset;
}

/** A record of such a turn: it says under what it was decided. */
interface OfOwnTurn extends Pick<ToolCall, 'run' | 'configVersion'> {
  readonly call: CallDecision;
}

/** Whether the executor decided on the record’s turn, from its request: what the filter granted has no `call`. */
export function isOfOwnCall<R extends ToolCall | AgentStepResult>(
  record: R,
): record is R & { readonly call: CallDecision } {
  return record.call !== null;
}

/** The turn from each request that it can have followed. */
export function ownTurns(
  { run: after, configVersion, call }: OfOwnTurn,
  { requests }: Pick<RunRecords, 'requests'>,
  configurations: RecordedConfigurations,
): readonly OwnTurn[] {
  const { principal, startedAt } = after;
  if (principal === null) throw new NotReplayable('It does not say who asked.');
  return requests.flatMap((message) => {
    if (message.topic !== 'agent.calls' || message.record.call === null) return [];
    const begun = begunBy(message, { configVersion, principal, startedAt, after }, configurations);
    if (!begun.permission.ok) return [];
    const made = decideCall(begun.ids, begun.request, begun.conditioned, begun.evaluator, call.decidedAt);
    return made.kind === 'end' ? [] : [made];
  });
}

/** The turn that has to wait. */
export function deriveOwnTurn(
  record: ToolCall & OfOwnTurn,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly ToolCall[] {
  const { grant, recordSignature } = record;
  return ownTurns(record, run, configurations).map(({ turn, decided: call }) => {
    return { ...turn, call, grant, recordSignature };
  });
}

/** The end of a run with its one call. */
export function deriveCallEnd(
  { record }: Incoming<'agent.responses'>,
  { steps }: RunRecords,
  configurations: RecordedConfigurations,
): readonly AgentResponse[] {
  const { error, endedAt } = record;
  // That it was cancelled the ledger knew, and why the record says.
  const cancelled = error?.code === 'cancelled' ? error : null;
  return steps.flatMap(({ record: result }) => {
    if (!isOfOwnCall(result)) return [];
    const { configuration } = configurations.inForce(result.inForceVersion, endedAt);
    return [endOfCall(result, configuration, endedAt, cancelled)];
  });
}
