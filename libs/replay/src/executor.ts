import { invocationRecord } from '@sluice/core';
import type {
  CallTimes,
  ConfiguredTool,
  RunLimits,
  Step,
  ToolErrorCode,
  ToolErrorReason,
  ToolExecResult,
  Verifier,
} from '@sluice/core';
import type { AgentStepResult, ApprovalRequested, RequestedCall, ToolCall } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import {
  afterStep,
  agentBeginning,
  agentRunIdOf,
  approvalIdOf,
  approvalRequest,
  callerOf,
  callIdOf,
  callKeyOf,
  mayHandOver,
  noRoomForResult,
  notMade,
  parseArguments,
  questionOf,
  refusedCall,
  stepOf,
  stepResult,
  turnAfter,
} from '@sluice/decisions';
import type { TurnSoFar } from '@sluice/decisions';
import { agentEnds, begunIn } from './agent-runs.js';
import { outcomesTaken } from './approvals.js';
import { admit, approved } from './calls.js';
import type { Admission, AuthorizerOf } from './calls.js';
import { attemptsOf, goingOn, isRedriven } from './attempts.js';
import type { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import { grantExpiry } from './signed.js';
import type { RunRecords } from './runs.js';

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
  const { iteration, steps, signature, inForceVersion } = record;
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
    derived.push({ ...result, signature });
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
  const { signature, inForceVersion } = recorded;
  const { parent } = recorded.run;
  if (parent === null) return [];
  const { partition, offset, index, startedAt, steps } = parent;
  const derived: (AgentStepResult | { readonly refused: string })[] = [];
  const limits = () => deriving.configurations.inForce(inForceVersion, startedAt).configuration.limits;
  for (const message of placedTurns(run, { partition, offset }, limits)) {
    const { record } = message;
    const call = record.calls[index];
    if (call === undefined) continue;
    const waits = waitsIn(run, record.iteration).filter((one) => one.index <= index);
    const done = await stepsOf(record, steps, index, waited(waits), run, deriving);
    const granting = deriving.configurations.get(record.configVersion);
    const inForce = deriving.configurations.inForce(inForceVersion, startedAt);
    const called = { record, call, index, offered: new Set(record.offered), turn: done.turn };
    const admission = await admit(called, { granting, inForce, authorizerOf: deriving.authorizerOf }, null);
    const verdict = mayHandOver(call.tool, record, [granting, inForce]);
    if (admission.kind === 'refused' || !verdict.ok) {
      const why = admission.kind === 'refused' ? admission.result.safeMessage : verdict.ok ? '' : verdict.message;
      derived.push({ refused: why });
      continue;
    }
    const agentRunId = agentRunIdOf(callKeyOf(record, call, index));
    const handing = { agentRunId, question: questionOf(parseArguments(call.arguments)), startedAt };
    derived.push({ ...agentBeginning(message, index, handing, done.steps, { granting, inForce }), signature });
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
    const called = { record, call, index, offered, turn: done.turn };
    const admission = await admit(called, { granting, inForce, authorizerOf: deriving.authorizerOf }, null);
    if (admission.kind !== 'approval') {
      derived.push({ refused: admission.kind === 'refused' ? admission.result.safeMessage : 'It needs no approval.' });
      continue;
    }
    const { actorId: requestedBy, subjectId: onBehalfOf = null, tenantId } = callerOf(record);
    const asking = {
      approvalId: approvalIdOf(callKeyOf(record, call, index)),
      toolCallId: callIdOf(record, call, index),
      effect: granting.byId(call.tool)?.spec?.effect ?? 'external_side_effect',
      // The tool’s own check of its arguments made them, which a replay does not ask.
      arguments: recorded.arguments,
      requestedBy,
      onBehalfOf,
      tenantId,
    };
    const request = approvalRequest(message, index, asking, done.steps, { granting, inForce }, requestedAt);
    derived.push({ ...request, inForceVersion });
  }
  return derived;
}

async function stepsOf(
  record: ToolCall,
  recorded: readonly Step[],
  count: number,
  stretches: readonly Stretch[],
  run: RunRecords,
  { configurations, authorizerOf }: Deriving,
): Promise<{ readonly steps: readonly Step[]; readonly turn: TurnSoFar }> {
  const granting = configurations.get(record.configVersion);
  const offered = new Set(record.offered);
  const waysOn = (approvalId: string, toolCallId: string): readonly Admission[] => {
    const taken = outcomesTaken(approvalId, run, configurations);
    if (taken.length > 0) return taken.map((outcome) => approved(outcome, toolCallId));
    throw new NotReplayable(`It needed the approval ${approvalId}, whose outcome is not among the records.`);
  };
  const steps: Step[] = [];
  let turn = turnAfter(record, [], granting);
  for (const [index, call] of record.calls.slice(0, count).entries()) {
    const own = recorded[index] ?? null;
    const times = { startedAtMs: own?.startedAt ?? 0, endedAtMs: own?.endedAt ?? 0 };
    const stretch = stretches.findLast(({ fromIndex }) => fromIndex <= index) as Stretch;
    const tool = granting.byId(call.tool);
    const { state } = turn;
    const why = notMade(record, index, steps, turn, granting);
    const judged = async (): Promise<readonly Step[]> => {
      if (why !== null) return [refusedCall(record, index, state, times.startedAtMs, why, granting)];
      const inForce = configurations.inForce(stretch.inForceVersion, stretch.at);
      const called = { record, call, index, offered, turn };
      const admission = await admit(called, { granting, inForce, authorizerOf }, own);
      const toolCallId = callIdOf(record, call, index);
      const ways = admission.kind === 'approval' ? waysOn(admission.approvalId, toolCallId) : [admission];
      const ends = ways.some(({ kind }) => kind === 'admitted')
        ? agentEnds(called, [granting, inForce], run, own)
        : null;
      return ways.flatMap((known): readonly Step[] => {
        if (known.kind === 'refused' || ends === null) return [made(record, index, state, known, own, tool, times)];
        return ends.map(({ result, agentRun }) =>
          stepOf(record, index, state, tool, invocationRecord(call, result, times), agentRun),
        );
      });
    };
    const told =
      own !== null && wasBegun(own, steps[index - 1], tool, stretch, configurations)
        ? made(record, index, state, { kind: 'admitted' }, own, tool, times)
        : null;
    const all: readonly Step[] = await judged().catch((error: unknown) => {
      if (told === null || !(error instanceof NotReplayable)) throw error;
      return [];
    });
    const brief =
      told !== null && why === 'record_full' ? [noRoomForResult(record, index, state, times, granting)] : [];
    const same = [...all, ...brief].find((one) => one.outcome === own?.outcome && one.observation === own.observation);
    const step = same ?? told ?? (all[0] as Step);
    steps.push(step);
    turn = afterStep(turn, why !== null && all.includes(step) ? null : call.tool, step, granting);
  }
  return { steps, turn };
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
  if (tool === undefined || tool.spec?.effect === 'read_only' || ownedByStages.has(reason ?? '')) return false;
  return startedAt < Math.max(before?.endedAt ?? -Infinity, configurations.since(inForceVersion, until));
}

/** The step of a call: the refusal that was derived, or what the tool is recorded to have said. */
function made(
  record: ToolCall,
  index: number,
  state: string,
  admission: Admission,
  recorded: Step | null,
  tool: Parameters<typeof stepOf>[3],
  times: CallTimes,
): Step {
  const call = record.calls[index] as RequestedCall;
  const toolCallId = callIdOf(record, call, index);
  const ended = admission.kind === 'refused' ? admission.result : toolsWord(toolCallId, recorded);
  return stepOf(record, index, state, tool, invocationRecord(call, ended, times));
}

/** Refusals that only stages before the tool make: where one was recorded and none was derived, that is a difference. */
const ownedByStages: ReadonlySet<string> = new Set<ToolErrorReason>([
  ...(['unknown_tool', 'not_eligible_group', 'not_eligible_state', 'not_allowed', 'no_approver'] as const),
  ...([
    'budget_used',
    'grant_invalid',
    'nested_agent',
    'agent_groups',
    'not_permitted',
    'not_delegated',
    'arguments_too_large',
    'too_many_calls',
    'record_full',
  ] as const),
  ...(['approval_refused', 'approval_expired', 'deadline', 'run_completed', 'none_chosen'] as const),
]);

const admittedText = 'The call is admitted, and what its tool says is not recorded.';

function toolsWord(toolCallId: string, recorded: Step | null): ToolExecResult {
  if (recorded === null || recorded.outcome === 'invalid_json' || ownedByStages.has(recorded.reason ?? ''))
    return { toolCallId, ok: true, value: admittedText };
  const { outcome, observation, reason } = recorded;
  const hash = recorded.resultHash === null ? {} : { resultHash: recorded.resultHash };
  if (outcome === 'ok') return { toolCallId, ok: true, value: observation, ...hash };
  const errorCode = outcome as ToolErrorCode;
  const why = reason === null ? {} : { reason: reason as ToolErrorReason };
  return { toolCallId, ok: false, errorCode, ...why, safeMessage: observation, ...hash };
}

/** What was asked in a turn, in the order of its calls; a repeated question counts once. */
function askedIn({ approvals }: RunRecords, iteration: number): readonly ApprovalRequested[] {
  const byIndex = new Map<number, ApprovalRequested>();
  for (const { record } of approvals)
    if (record.requested !== null && record.requested.iteration === iteration)
      byIndex.set(record.requested.index, record.requested);
  return [...byIndex.values()].sort((one, other) => one.index - other.index);
}
