import { invocationRecord } from '@sluice/core';
import type { Evaluator } from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import type { Asking } from '../approvals/request.js';
import { callIdOf } from '../calls.js';
import { notMade } from '../room.js';
import { afterStep, stepOf } from '../steps.js';
import type { AssumedTurn } from '../strategy/fan-out.js';
import type { CallInTurn, CallWorld } from './call-in-turn.js';
import { runCall } from './run-call.js';
import type { NextCall } from './run-turn.js';

/** A call behind the one that its turn waits at. */
export interface CallAhead {
  readonly index: number;
  readonly asking: Asking;
}

/**
 * The calls behind the one at `first`, where the turn waits for an approval, that will need one as well: so their
 * approvers see the whole turn at once. Each is judged as if the calls before it had succeeded; when its turn comes it
 * is judged again. Nothing behind an agent’s call is looked at: that takes as long as a run.
 */
export async function callsAhead(
  record: ToolCall,
  first: number,
  before: AssumedTurn,
  granted: Evaluator,
  peek: (next: NextCall) => Promise<Asking | null>,
): Promise<readonly CallAhead[]> {
  const found: CallAhead[] = [];
  let assumed = before;
  for (let index = first + 1; index < record.calls.length; index++) {
    if (!endsHere(record, index - 1, granted)) break;
    assumed = withSuccess(record, index - 1, assumed, granted);
    const { steps, turn } = assumed;
    if (notMade(record, index, steps, turn, granted) !== null) continue;
    const call = record.calls[index] as RequestedCall;
    const asking = await peek({ record, call, index, turn, steps, notMade: null });
    if (asking !== null) found.push({ index, asking });
  }
  return found;
}

/** The turn before the call at `index`, if all calls from `first` on have succeeded. */
export function assumedBefore(
  record: ToolCall,
  first: number,
  index: number,
  before: AssumedTurn,
  granted: Evaluator,
): AssumedTurn {
  let assumed = before;
  for (let call = first; call < index; call++) assumed = withSuccess(record, call, assumed, granted);
  return assumed;
}

/** Whether the call ends within its turn: an agent’s does not. */
function endsHere({ calls }: ToolCall, index: number, granted: Evaluator): boolean {
  const tool = granted.byId(calls[index]?.tool ?? '');
  return tool?.agent === undefined && tool?.plan === undefined;
}

function withSuccess(record: ToolCall, index: number, { steps, turn }: AssumedTurn, granted: Evaluator): AssumedTurn {
  const call = record.calls[index] as RequestedCall;
  const ended = { toolCallId: callIdOf(record, call, index), ok: true, value: '' } as const;
  const times = { startedAtMs: record.run.deadline, endedAtMs: record.run.deadline };
  const step = stepOf(record, index, turn.state, granted.byId(call.tool), invocationRecord(call, ended, times));
  return { steps: [...steps, step], turn: afterStep(turn, call.tool, step, granted) };
}

/** The call would begin here. One for all calls: an error’s stack is costly. */
const wouldBegin = new Error('A call that is looked at ahead does not begin.');

/** What the call would wait for if it came now, up to where it would begin; null where it needs no approval. */
export async function peekAtCall(of: CallInTurn, world: CallWorld): Promise<Asking | null> {
  const still: CallWorld = {
    ...world,
    rate: () => Promise.reject(wouldBegin),
    onParked: () => undefined,
    onFault: () => undefined,
    onResult: () => undefined,
  };
  try {
    const end = await runCall(of, still);
    return end.kind === 'parked' && end.parked.kind === 'approval' ? end.parked.asking : null;
  } catch (error) {
    if (error === wouldBegin) return null;
    throw error;
  }
}
