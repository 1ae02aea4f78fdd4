import { isDecidedReason } from '@sluice/core';
import type {
  AgentRun,
  CallTimes,
  ConfiguredTool,
  Evaluator,
  RunLimits,
  Step,
  ToolExecResult,
  Verifier,
} from '@sluice/core';
import type { AgentStepResult, ApprovalRequested, RequestedCall, ToolCall } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import {
  agentBeginning,
  approvalRequest,
  beforeMember,
  callIdOf,
  endedStep,
  noRoomForResult,
  refusedCall,
  runTurn,
  stepResult,
  turnAfter,
} from '@sluice/run';
import type { AssumedTurn, CallInTurn, CallOutcome, DecisionTaken, NextCall, NotMade, TurnSoFar } from '@sluice/run';
import { agentEnds, begunIn, fanOutOf } from './agent-runs.js';
import { nameIn, outcomesTaken } from './approvals.js';
import { admit, recordedResult } from './calls.js';
import type { Admission, AuthorizerOf } from './calls.js';
import { attemptsOf, goingOn, isRedriven } from './attempts.js';
import type { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import { grantExpiry } from './signed.js';
import type { RunRecords } from './run-records.js';

export interface Deriving {
  readonly configurations: RecordedConfigurations;
  readonly authorizerOf: AuthorizerOf;
  readonly verifier: Verifier;
}

/** From which call on of a turn a configuration was in force: a turn that waited goes on under another one. */
export interface Stretch {
  readonly fromIndex: number;
  readonly inForceVersion: string;
  readonly at: number;
  /** When the last of these calls was judged, at the latest. */
  readonly until: number;
}

/** A turn’s end, from each ToolCall it can have followed. Tools are not run: what they said is in the recorded steps. */
export async function deriveSteps(
  message: Incoming<'agent.steps'>,
  run: RunRecords,
  deriving: Deriving,
): Promise<readonly AgentStepResult[]> {
  const { record, timestamp } = message;
  const { iteration, steps, signature, recordSignature, inForceVersion } = record;
  const stretches = stretchesOf(message, run);
  const derived: AgentStepResult[] = [];
  const limits = () => deriving.configurations.inForce(inForceVersion, timestamp).configuration.limits;
  for (const call of run.calls.filter((one) => one.record.iteration === iteration)) {
    // A parked turn comes back with what it waited for, which may be what was re-driven.
    const brought = [call, ...run.approvals, ...run.returns].find((one) => isRedriven(one, record.run)) ?? call;
    const going = goingOn(call.record.run, brought, call.record.request, record.run, limits);
    const turn = { ...call.record, run: going };
    const expired = steps.length === 0 && (await grantExpiry(turn.grant, deriving.verifier)) <= timestamp;
    const count = expired ? 0 : turn.calls.length;
    const own = await stepsOf(turn, steps, count, stretches, run, deriving);
    const result = stepResult(turn, own.steps, own.turn, inForceVersion);
    derived.push({ ...result, signature, recordSignature });
  }
  return derived;
}

/** Which configuration was in force for which calls of the turn. */
export function stretchesOf({ record, timestamp }: Incoming<'agent.steps'>, run: RunRecords): readonly Stretch[] {
  const waits = waitsIn(run, record.iteration);
  const fromIndex = waits.at(-1)?.nextFrom ?? 0;
  const { inForceVersion, steps } = record;
  const at = steps[fromIndex]?.startedAt ?? timestamp;
  return [...waited(waits), { fromIndex, inForceVersion, at, until: timestamp }];
}

/** A call before which its turn was parked. */
interface Wait {
  readonly index: number;
  /** From which call on the turn was judged again: one that waited for an approval is judged again, one that ran as an agent is done. */
  readonly nextFrom: number;
  readonly inForceVersion: string;
  readonly at: number;
}

/** Where a turn was parked, in the order of its calls: for an approval before it was handed over. */
function waitsIn(run: RunRecords, iteration: number): readonly Wait[] {
  const asked = askedIn(run, iteration).map(({ index, inForceVersion, requestedAt: at }) => {
    return { index, nextFrom: index, inForceVersion, at };
  });
  const begun = begunIn(run, iteration).map(({ record }) => {
    const { index = 0, startedAt: at = 0 } = record.run.parent ?? {};
    return { index, nextFrom: index + 1, inForceVersion: record.inForceVersion, at };
  });
  return [...asked, ...begun].sort((one, other) => one.index - other.index || one.nextFrom - other.nextFrom);
}

/** Up to each call that waited. */
function waited(waits: readonly Wait[]): readonly Stretch[] {
  return waits.map(({ inForceVersion, at }, n) => {
    return { fromIndex: waits[n - 1]?.nextFrom ?? 0, inForceVersion, at, until: at };
  });
}

/** How an agent’s run began, from the turn that stands where it says. */
export async function deriveBeginning(
  { record: recorded }: Incoming<'agent.steps'>,
  run: RunRecords,
  deriving: Deriving,
): Promise<readonly (AgentStepResult | { readonly refused: string })[]> {
  const { signature, recordSignature, inForceVersion } = recorded;
  const { parent } = recorded.run;
  if (parent === null) return [];
  const { partition, offset, index, startedAt, steps } = parent;
  const fanOut = fanOutOf(run, parent);
  const first = fanOut?.first ?? index;
  const derived: (AgentStepResult | { readonly refused: string })[] = [];
  const limits = () => deriving.configurations.inForce(inForceVersion, startedAt).configuration.limits;
  for (const message of placedTurns(run, { partition, offset }, limits)) {
    const { record } = message;
    const call = record.calls[index];
    if (call === undefined) continue;
    const waits = waitsIn(run, record.iteration).filter((one) => one.index <= index);
    const done = await stepsOf(record, steps, first, waited(waits), run, deriving);
    const granting = deriving.configurations.get(record.configVersion);
    const inForce = deriving.configurations.inForce(inForceVersion, startedAt);
    const judges = { granting, inForce };
    const name = nameIn(run, record, call, index);
    const before = beforeMember(record, first, index, done, granting);
    const called = {
      record,
      name,
      call,
      index,
      offered: new Set(record.offered),
      turn: before.turn,
      steps: before.steps,
      judges,
      at: startedAt,
    };
    // Where it needed an approval, it had that before it began.
    const admission = await admit(called, deriving.authorizerOf, null, { decision: 'approve', reason: '' });
    if (admission.kind !== 'parked' || admission.parked.kind !== 'agent') {
      derived.push({ refused: admission.kind === 'refused' ? admission.result.safeMessage : 'It is no agent.' });
      continue;
    }
    const handing = { ...admission.parked.handing, startedAt, fanOut };
    const beginning = agentBeginning(message, index, handing, done.steps, { granting, inForce });
    derived.push({ ...beginning, signature, recordSignature });
  }
  return derived;
}

/** The turns that stand at the place, in each attempt that they can have been parked in. */
function placedTurns(
  run: RunRecords,
  { partition, offset }: { readonly partition: number; readonly offset: number },
  limits: () => RunLimits,
): readonly Incoming<'agent.tool-calls'>[] {
  return run.calls
    .filter((one) => one.partition === partition && one.offset === offset)
    .flatMap((one) => attemptsOf(one, run, limits).map((record) => ({ ...one, record })));
}

/** What was asked of a call that waits, from the turn that stands where it says. */
export async function deriveAsked(
  recorded: ApprovalRequested,
  run: RunRecords,
  deriving: Deriving,
): Promise<readonly (ApprovalRequested | { readonly refused: string })[]> {
  const { partition, offset, index, requestedAt, iteration, inForceVersion, steps } = recorded;
  const derived: (ApprovalRequested | { readonly refused: string })[] = [];
  const stretches = waited(waitsIn(run, iteration).filter((one) => one.index < index || one.nextFrom === index));
  const limits = () => deriving.configurations.inForce(inForceVersion, requestedAt).configuration.limits;
  for (const message of placedTurns(run, { partition, offset }, limits)) {
    const { record } = message;
    const done = await stepsOf(record, steps, index, stretches, run, deriving);
    const granting = deriving.configurations.get(record.configVersion);
    const inForce = deriving.configurations.inForce(inForceVersion, requestedAt);
    const call = record.calls[index] as RequestedCall;
    const offered = new Set(record.offered);
    const name = nameIn(run, record, call, index);
    const called = {
      record,
      name,
      call,
      index,
      offered,
      turn: done.turn,
      steps: done.steps,
      judges: { granting, inForce },
      at: requestedAt,
    };
    const admission = await admit(called, deriving.authorizerOf, null, null);
    if (admission.kind !== 'parked' || admission.parked.kind !== 'approval') {
      derived.push({ refused: admission.kind === 'refused' ? admission.result.safeMessage : 'It needs no approval.' });
      continue;
    }
    // The tool’s own check of its arguments made them, which only the recorded run has asked.
    const asking = { ...admission.parked.asking, arguments: recorded.arguments };
    const request = approvalRequest(message, index, asking, done.steps, { granting, inForce }, requestedAt);
    derived.push({ ...request, inForceVersion });
  }
  return derived;
}

/** A turn’s steps up to the call at `count`, by the function that runs turns; what a call gave is taken from the recorded step. */
async function stepsOf(
  record: ToolCall,
  recorded: readonly Step[],
  count: number,
  stretches: readonly Stretch[],
  run: RunRecords,
  deriving: Deriving,
): Promise<{ readonly steps: readonly Step[]; readonly turn: TurnSoFar }> {
  const { configurations } = deriving;
  const granting = configurations.get(record.configVersion);
  const offered = new Set(record.offered);
  const next = async (call: NextCall): Promise<CallOutcome> => {
    const own = recorded[call.index] ?? null;
    const stretch = stretches.findLast(({ fromIndex }) => fromIndex <= call.index) as Stretch;
    const before = call.steps.at(-1);
    const begun = own !== null && wasBegun(own, before, granting.byId(call.call.tool), stretch, configurations);
    const told = begun ? fromRecord(call, own, granting) : null;
    let refused: Step | null = null;
    const all: Step[] = [];
    try {
      if (call.notMade === null) all.push(...(await ended(call, offered, own, stretch, run, deriving)));
      else all.push((refused = notMadeStep(call, call.notMade, own, granting)));
    } catch (error) {
      if (told === null || !(error instanceof NotReplayable)) throw error;
    }
    if (told !== null && call.notMade === 'record_full') all.push(briefStep(call, own, granting));
    const same = all.find((one) => one.outcome === own?.outcome && one.observation === own.observation);
    const step = same ?? told ?? (all[0] as Step);
    return { kind: 'step', step, counts: step !== refused };
  };
  const end = await runTurn(record, [], granting, next, count);
  if (end.kind !== 'ended') throw new Error('A call that is derived is not parked.');
  return end;
}

/** The steps that a call can have ended as: one, but for records that say several things of what it waited for. */
async function ended(
  next: NextCall,
  offered: ReadonlySet<string>,
  own: Step | null,
  stretch: Stretch,
  run: RunRecords,
  { configurations, authorizerOf }: Deriving,
): Promise<readonly Step[]> {
  const { record, call, index } = next;
  const granting = configurations.get(record.configVersion);
  const inForce = configurations.inForce(stretch.inForceVersion, stretch.at);
  const name = nameIn(run, record, call, index);
  const at = own?.startedAt ?? stretch.at;
  const before = asBegun(next, run, granting);
  const judged: CallInTurn = {
    ...{ record, name, call, index, offered, at },
    ...{ turn: before.turn, steps: before.steps },
    judges: { granting, inForce },
  };
  const stepFor = (result: ToolExecResult, agentRun: AgentRun | null = null): Step =>
    endedStep(next, granting, result, timesOf(own), agentRun);
  const stepsFor = (admission: Admission): readonly Step[] => {
    if (admission.kind === 'refused') return [stepFor(admission.result)];
    if (admission.kind === 'admitted') return [stepFor(toolsWord(callIdOf(record, call, index), own))];
    if (admission.parked.kind === 'approval') throw new Error('A call whose approval is decided does not wait for it.');
    // What stopped the agent before it began is no record’s but its own step’s.
    if (own !== null && own.agentRun === null) return [stepFor(toolsWord(callIdOf(record, call, index), own))];
    const { agentRunId } = admission.parked.handing;
    return agentEnds(judged, agentRunId, run, own).map(({ result, agentRun }) => stepFor(result, agentRun));
  };
  const admission = await admit(judged, authorizerOf, own, null);
  if (admission.kind !== 'parked' || admission.parked.kind !== 'approval') return stepsFor(admission);
  const decisions = decisionsTaken(admission.parked.asking.approvalId, run, configurations);
  const steps: Step[] = [];
  for (const decision of decisions) steps.push(...stepsFor(await admit(judged, authorizerOf, own, decision)));
  return steps;
}

/** The turn by which a call was judged: one that began beside others was before those had ended. */
function asBegun({ record, index, turn, steps }: NextCall, run: RunRecords, granting: Evaluator): AssumedTurn {
  const first = begunIn(run, record.iteration)
    .map((message) => message.record.run.parent)
    .find((parent) => parent?.index === index)?.fanOut?.first;
  if (first === undefined || first === index) return { steps, turn };
  const done = steps.slice(0, first);
  return beforeMember(record, first, index, { steps: done, turn: turnAfter(record, done, granting) }, granting);
}

/** The decisions that a call can have gone on with. */
function decisionsTaken(
  approvalId: string,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly DecisionTaken[] {
  const taken = outcomesTaken(approvalId, run, configurations);
  if (taken.length === 0)
    throw new NotReplayable(`It needed the approval ${approvalId}, whose outcome is not among the records.`);
  return taken.map(({ decision, reason }) => {
    if (decision === 'approve' || decision === 'refuse' || decision === 'expire') return { decision, reason };
    throw new NotReplayable(`The outcome of the approval ${approvalId} is "${decision}", which is none.`);
  });
}

function notMadeStep({ record, index, turn }: NextCall, why: NotMade, own: Step | null, granting: Evaluator): Step {
  return refusedCall(record, index, turn.state, timesOf(own).startedAtMs, why, granting);
}

function briefStep({ record, index, turn }: NextCall, own: Step | null, granting: Evaluator): Step {
  return noRoomForResult(record, index, turn.state, timesOf(own), granting);
}

function fromRecord(next: NextCall, own: Step, granting: Evaluator): Step {
  const result = toolsWord(callIdOf(next.record, next.call, next.index), own);
  return endedStep(next, granting, result, timesOf(own));
}

function timesOf(own: Step | null): CallTimes {
  return { startedAtMs: own?.startedAt ?? 0, endedAtMs: own?.endedAt ?? 0 };
}

/**
 * Whether an earlier attempt had begun the call: before the configuration was in force that the turn is judged by in the end, or before the
 * call in front of it had ended. If that does not say what is recorded, its result is taken from the record: nothing can refuse it any more.
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

function toolsWord(toolCallId: string, recorded: Step | null): ToolExecResult {
  if (recorded === null || recorded.outcome === 'invalid_json' || isDecidedReason(recorded.reason))
    return { toolCallId, ok: true, value: admittedText };
  return recordedResult(toolCallId, recorded);
}

/** What was asked in a turn, in the order of its calls; a repeated question counts once. */
function askedIn({ approvals }: RunRecords, iteration: number): readonly ApprovalRequested[] {
  const byIndex = new Map<number, ApprovalRequested>();
  for (const { record } of approvals)
    if (record.requested !== null && record.requested.iteration === iteration)
      byIndex.set(record.requested.index, record.requested);
  return [...byIndex.values()].sort((one, other) => one.index - other.index);
}
