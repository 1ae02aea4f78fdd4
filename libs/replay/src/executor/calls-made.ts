import { isDecidedReason } from '@sluice/core';
import type { CallTimes, ConfiguredTool, Evaluator, Step, ToolExecResult } from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { callIdOf, endedStep, noRoomForResult, offeredIds, refusedCall } from '@sluice/run';
import type { CallInTurn, NextCall, NotMade, TurnSoFar } from '@sluice/run';
import { nameIn } from '../approvals.js';
import { recordedResult } from '../calls.js';
import type { RecordedConfigurations } from '../configurations.js';
import type { RunRecords } from '../run-records.js';
import type { Stretch } from './stretches.js';

/** A call of the turn, as the executor judged it. */
export function callIn(
  run: RunRecords,
  record: ToolCall,
  index: number,
  { turn, steps }: { readonly turn: TurnSoFar; readonly steps: readonly Step[] },
  judges: CallInTurn['judges'],
  at: number,
): CallInTurn {
  const call = record.calls[index] as RequestedCall;
  const name = nameIn(run, record, call, index);
  return { record, name, call, index, offered: new Set(offeredIds(record, judges.granting)), turn, steps, judges, at };
}

export function notMadeStep(
  { record, index, turn }: NextCall,
  why: NotMade,
  own: Step | null,
  granting: Evaluator,
): Step {
  return refusedCall(record, index, turn.state, timesOf(own).startedAtMs, why, granting);
}

export function briefStep({ record, index, turn }: NextCall, own: Step | null, granting: Evaluator): Step {
  return noRoomForResult(record, index, turn.state, timesOf(own), granting);
}

export function fromRecord(next: NextCall, own: Step, granting: Evaluator): Step {
  const result = toolsWord(callIdOf(next.record, next.call, next.index), own);
  return endedStep(next, granting, result, timesOf(own), null, own.edited);
}

export function timesOf(own: Step | null): CallTimes {
  return { startedAtMs: own?.startedAt ?? 0, endedAtMs: own?.endedAt ?? 0 };
}

/**
 * Whether an earlier attempt had begun the call: before the configuration was in force that the turn is judged by in
 * the end, or before the call in front of it had ended. If that does not say what is recorded, its result is taken
 * from the record: nothing can refuse it any more.
 */
export function wasBegun(
  { startedAt, reason }: Step,
  before: Step | undefined,
  tool: ConfiguredTool | undefined,
  { inForceVersion, until }: Stretch,
  configurations: RecordedConfigurations,
): boolean {
  if (tool === undefined || tool.spec?.effect === 'read_only' || isDecidedReason(reason)) return false;
  return startedAt < Math.max(before?.endedAt ?? -Infinity, configurations.since(inForceVersion, until));
}

const admittedText = 'The call is admitted, and what its tool says is not recorded.';

export function toolsWord(toolCallId: string, recorded: Step | null): ToolExecResult {
  if (recorded === null || recorded.outcome === 'invalid_json' || isDecidedReason(recorded.reason))
    return { toolCallId, ok: true, value: admittedText };
  return recordedResult(toolCallId, recorded);
}
