import { invocationRecord } from '@sluice/core';
import type { Evaluator, Step } from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { callIdOf } from '../calls.js';
import { afterStep, stepOf } from '../steps.js';
import type { TurnSoFar } from '../steps.js';

/** A turn as it stands while calls of it are under way elsewhere. */
export interface AssumedTurn {
  readonly steps: readonly Step[];
  readonly turn: TurnSoFar;
}

/**
 * Part of the time that is left of a run that its agents side by side may take: the run needs the rest for its
 * answer.
 */
export const shareOfTime = 0.8;

/**
 * Whether the call may run beside its neighbours: an agent’s, in a supervisor’s run. One that changes something
 * outside, or that leads to another state, runs alone, like a call of any other tool.
 */
export function runsBeside(
  { run }: Pick<ToolCall, 'run'>,
  call: RequestedCall | undefined,
  granted: Evaluator,
): boolean {
  if (run.strategy?.name !== 'supervisor' || call === undefined) return false;
  const tool = granted.byId(call.tool);
  return tool?.agent !== undefined && tool.target === null && tool.spec?.effect === 'read_only';
}

/**
 * The turn behind a call that has begun beside others: it has run, with a result as long as it may be, and nothing is
 * known to have succeeded. By that the calls behind it are judged that begin at the same time.
 */
export function withBegun(
  record: ToolCall,
  index: number,
  { steps, turn }: AssumedTurn,
  granted: Evaluator,
): AssumedTurn {
  const call = record.calls[index] as RequestedCall;
  const tool = granted.byId(call.tool);
  const ended = { toolCallId: callIdOf(record, call, index), ok: true, value: '' } as const;
  const times = { startedAtMs: record.run.deadline, endedAtMs: record.run.deadline };
  const { resultBytes } = granted.configuration.limits;
  const bytes = Math.min(tool?.isClients === true ? resultBytes : (tool?.agent?.answerBytes ?? 0), resultBytes);
  const step: Step = {
    ...stepOf(record, index, turn.state, tool, invocationRecord(call, ended, times)),
    ...{ outcome: 'execution', reason: 'agent_failed', observation: 'x'.repeat(bytes) },
  };
  return { steps: [...steps, step], turn: afterStep(turn, call.tool, step, granted) };
}

/** The turn before the call at `index`, one of those that began side by side with the one at `first`. */
export function beforeMember(
  record: ToolCall,
  first: number,
  index: number,
  before: AssumedTurn,
  granted: Evaluator,
): AssumedTurn {
  let assumed = before;
  for (let member = first; member < index; member++) assumed = withBegun(record, member, assumed, granted);
  return assumed;
}
