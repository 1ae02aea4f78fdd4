import { invocationRecord, isClientTool } from '@sluice/core';
import type { AgentRun, CallTimes, Evaluator, Step, ToolExecResult } from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { firstUse } from '../documentation.js';
import { notMade } from '../room.js';
import type { NotMade } from '../room.js';
import { afterStep, stepOf, turnAfter } from '../steps.js';
import type { TurnSoFar } from '../steps.js';
import { runsBeside, withBegun } from '../strategy/fan-out.js';
import type { AssumedTurn } from '../strategy/fan-out.js';
import type { ParkedCall } from './call-in-turn.js';

/** The next call of a turn. */
export interface NextCall {
  readonly record: ToolCall;
  readonly call: RequestedCall;
  readonly index: number;
  /** The turn before the call. */
  readonly turn: TurnSoFar;
  /** The steps before it. */
  readonly steps: readonly Step[];
  /** Why the call is not made, whatever its tool; null where it is for the pipeline to say. */
  readonly notMade: NotMade | null;
}

/** What a call became. A call that was not made counts as no call of its tool. */
export type CallOutcome =
  | { readonly kind: 'step'; readonly step: Step; readonly counts: boolean }
  | { readonly kind: 'parked'; readonly parked: ParkedCall; readonly startedAt: number };

/** How a turn left: with all its steps, or parked before a call. */
export type TurnEnd =
  | { readonly kind: 'ended'; readonly steps: readonly Step[]; readonly turn: TurnSoFar }
  | {
      readonly kind: 'parked';
      readonly index: number;
      readonly parked: ParkedCall;
      /** When the call began that waits, milliseconds since the epoch. */
      readonly startedAt: number;
      readonly steps: readonly Step[];
      /** Where the client runs the call: those behind it that the client runs as well. */
      readonly also: readonly number[];
    }
  | {
      /** Parked before calls that begin side by side. */
      readonly kind: 'fanned out';
      readonly first: number;
      readonly members: readonly FannedCall[];
      /** The steps before them. */
      readonly steps: readonly Step[];
    };

/** A call that begins beside others. */
interface FannedCall {
  readonly parked: ParkedCall & { readonly kind: 'agent' };
  readonly startedAt: number;
}

/**
 * Goes through a turn’s calls one after another, behind those that are `done`. Each is decided by the state, the
 * counts and the room that the calls before it left. The executor runs turns by this, and replay derives them by it:
 * they differ in what `next` asks. `count` ends the turn before that call.
 */
export async function runTurn(
  record: ToolCall,
  done: readonly Step[],
  granting: Evaluator,
  next: (call: NextCall) => Promise<CallOutcome>,
  count = record.calls.length,
): Promise<TurnEnd> {
  const steps = [...done];
  let turn = turnAfter(record, done, granting);
  for (let index = done.length; index < count; index++) {
    const call = record.calls[index] as RequestedCall;
    const why = notMade(record, index, steps, turn, granting);
    const outcome = await next({ record, call, index, turn, steps, notMade: why });
    if (isFanned(outcome) && runsBeside(record, call, granting))
      return fanOut(record, index, outcome, { steps, turn }, granting, next, count);
    if (outcome.kind === 'parked') {
      const ofClient = isClients(outcome.parked, call);
      const also = ofClient ? await alsoOfClient(record, index, { steps, turn }, granting, next) : [];
      return { ...outcome, index, steps, also };
    }
    steps.push(outcome.step);
    turn = afterStep(turn, outcome.counts ? call.tool : null, outcome.step, granting);
  }
  return { kind: 'ended', steps, turn };
}

/** Whether the client of the run runs the call, and has heard of it. */
function isClients(parked: ParkedCall, { tool }: RequestedCall): boolean {
  return parked.kind === 'approval' && parked.asking.question !== null && isClientTool(tool);
}

/**
 * The calls behind the one at `first` that wait for the client too: it is shown all of a turn at once. One that is
 * refused now, or waits for an approval, is decided again when those before it have ended.
 */
async function alsoOfClient(
  record: ToolCall,
  first: number,
  before: AssumedTurn,
  granting: Evaluator,
  next: (call: NextCall) => Promise<CallOutcome>,
): Promise<readonly number[]> {
  const found: number[] = [];
  let assumed = before;
  for (let index = first + 1; index < record.calls.length; index++) {
    assumed = withBegun(record, index - 1, assumed, granting);
    const { steps, turn } = assumed;
    const call = record.calls[index] as RequestedCall;
    if (!isClientTool(call.tool) || notMade(record, index, steps, turn, granting) !== null) continue;
    const outcome = await next({ record, call, index, turn, steps, notMade: null });
    if (outcome.kind === 'parked' && isClients(outcome.parked, call)) found.push(index);
  }
  return found;
}

/**
 * The calls that begin with the one at `first`: its neighbours as far as they may run beside it and nothing stands
 * against them. One that is refused now, or waits for an approval, is decided again when those before it have ended.
 */
async function fanOut(
  record: ToolCall,
  first: number,
  begun: FannedCall,
  before: AssumedTurn,
  granting: Evaluator,
  next: (call: NextCall) => Promise<CallOutcome>,
  count: number,
): Promise<TurnEnd> {
  const members = [begun];
  let assumed = before;
  for (let index = first + 1; index < count && runsBeside(record, record.calls[index], granting); index++) {
    assumed = withBegun(record, index - 1, assumed, granting);
    const { steps, turn } = assumed;
    if (notMade(record, index, steps, turn, granting) !== null) break;
    const call = record.calls[index] as RequestedCall;
    const outcome = await next({ record, call, index, turn, steps, notMade: null });
    if (!isFanned(outcome)) break;
    members.push(outcome);
  }
  return { kind: 'fanned out', first, members, steps: before.steps };
}

function isFanned(outcome: CallOutcome): outcome is CallOutcome & FannedCall & { readonly kind: 'parked' } {
  return outcome.kind === 'parked' && outcome.parked.kind === 'agent';
}

/** The step of a call that has ended. */
export function endedStep(
  { record, call, index, turn, steps }: Pick<NextCall, 'record' | 'call' | 'index' | 'turn' | 'steps'>,
  granting: Pick<Evaluator, 'byId' | 'tool' | 'configuration'>,
  result: ToolExecResult,
  times: CallTimes,
  agentRun: AgentRun | null = null,
  edited: Step['edited'] = null,
): Step {
  const ended = invocationRecord(call, result, times);
  const step = stepOf(record, index, turn.state, granting.byId(call.tool), ended, agentRun, edited);
  const first = firstUse(call.tool, { record, steps }, granting);
  return first === null ? step : { ...step, documentation: first.documentation };
}
