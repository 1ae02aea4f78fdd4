import type { AgentRun, Evaluator, Step, ToolExecResult } from '@sluice/core';
import type { AgentStepResult, CallDecision, ToolCall } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { beforeMember, callIdOf, callResult, endedStep, runTurn, stepResult, turnAfter } from '@sluice/run';
import type { AssumedTurn, CallOutcome, AcceptedDecision, NextCall, TurnSoFar } from '@sluice/run';
import { agentEnds, begunIn } from '../agent-runs.js';
import { acceptedOutcomes, boundOf } from '../approvals.js';
import { goingOn, isRedriven, waitedTurns } from '../attempts.js';
import { admit } from '../calls.js';
import type { Admission } from '../calls.js';
import type { RecordedConfigurations } from '../configurations.js';
import { NotReplayable } from '../outcome.js';
import { isOfOwnCall, ownTurns } from '../own-call.js';
import type { RunRecords } from '../run-records.js';
import { grantExpiry } from '../signed.js';
import { briefStep, callIn, fromRecord, notMadeStep, timesOf, toolsWord, wasBegun } from './calls-made.js';
import type { Deriving } from './deriving.js';
import { stretchesOf } from './stretches.js';
import type { Stretch } from './stretches.js';

/**
 * A turn’s end, from each ToolCall it can have followed. Tools are not run: what they said is in the recorded steps.
 */
export async function deriveSteps(
  message: Incoming<'agent.steps'>,
  run: RunRecords,
  deriving: Deriving,
): Promise<readonly AgentStepResult[]> {
  const { record, timestamp } = message;
  if (isOfOwnCall(record)) return deriveCall({ ...message, record }, run, deriving);
  const { iteration, steps, signature, recordSignature, inForceVersion } = record;
  const stretches = stretchesOf(message, run);
  const derived: AgentStepResult[] = [];
  const limits = () => deriving.configurations.inForce(inForceVersion, timestamp).configuration.limits;
  for (const call of run.calls.filter((one) => one.record.iteration === iteration)) {
    // A parked turn comes back with what it waited for, which may be what was re-driven.
    const brought = [call, ...run.approvals, ...run.returns].find((one) => isRedriven(one, record.run)) ?? call;
    const going = goingOn(call.record.run, brought, call.record.request, record.run, limits);
    const turns = waitedTurns({ ...call.record, run: going }, run);
    const turn = turns.find((one) => one.run.parkedMs === record.run.parkedMs) ?? (turns[0] as ToolCall);
    const expired = steps.length === 0 && (await grantExpiry(turn.grant, deriving.verifier)) <= timestamp;
    const count = expired ? 0 : turn.calls.length;
    const own = await stepsOf(turn, steps, count, stretches, run, deriving);
    const result = stepResult(turn, own.steps, own.turn, inForceVersion);
    derived.push({ ...result, signature, recordSignature });
  }
  return derived;
}

/** What became of a call that its request made itself, from each request that it can have followed. */
async function deriveCall(
  message: Incoming<'agent.steps'> & { readonly record: { readonly call: CallDecision } },
  run: RunRecords,
  deriving: Deriving,
): Promise<readonly AgentStepResult[]> {
  const { record } = message;
  const { steps, recordSignature, inForceVersion } = record;
  const stretches = stretchesOf(message, run);
  const derived: AgentStepResult[] = [];
  for (const { turn, decided } of ownTurns(record, run, deriving.configurations)) {
    const own = await stepsOf(turn, steps, turn.calls.length, stretches, run, deriving);
    derived.push({ ...callResult(turn, own.steps, own.turn, inForceVersion, decided), recordSignature });
  }
  return derived;
}

/**
 * A turn’s steps up to the call at `count`, by the function that runs turns; what a call gave is taken from the
 * recorded step.
 */
export async function stepsOf(
  record: ToolCall,
  recorded: readonly Step[],
  count: number,
  stretches: readonly Stretch[],
  run: RunRecords,
  deriving: Deriving,
): Promise<{ readonly steps: readonly Step[]; readonly turn: TurnSoFar }> {
  const { configurations } = deriving;
  const granting = configurations.get(record.configVersion);
  const next = async (call: NextCall): Promise<CallOutcome> => {
    const own = recorded[call.index] ?? null;
    const stretch = stretches.findLast(({ fromIndex }) => fromIndex <= call.index) as Stretch;
    const before = call.steps.at(-1);
    const begun = own !== null && wasBegun(own, before, granting.byId(call.call.tool), stretch, configurations);
    const told = begun ? fromRecord(call, own, granting) : null;
    let refused: Step | null = null;
    const all: Step[] = [];
    try {
      if (call.notMade === null) all.push(...(await ended(call, own, stretch, run, deriving)));
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
  own: Step | null,
  stretch: Stretch,
  run: RunRecords,
  { configurations, authorizerOf }: Deriving,
): Promise<readonly Step[]> {
  const { record, call, index } = next;
  const granting = configurations.get(record.configVersion);
  const inForce = configurations.inForce(stretch.inForceVersion, stretch.at);
  const before = asBegun(next, run, granting);
  const judged = callIn(run, record, index, before, { granting, inForce }, own?.startedAt ?? stretch.at);
  const stepsFor = (admission: Admission): readonly Step[] => {
    const { edited } = admission;
    const stepFor = (result: ToolExecResult, agentRun: AgentRun | null = null): Step =>
      endedStep(next, granting, result, timesOf(own), agentRun, edited);
    if (admission.kind === 'refused') return [stepFor(admission.result)];
    if (admission.kind === 'admitted') return [stepFor(toolsWord(callIdOf(record, call, index), own))];
    if (admission.parked.kind === 'approval') throw new Error('A call whose approval is decided does not wait for it.');
    // What stopped the agent before it began is no record’s but its own step’s.
    if (own !== null && own.agentRun === null) return [stepFor(toolsWord(callIdOf(record, call, index), own))];
    const { agentRunId } = admission.parked.handing;
    return agentEnds(judged, agentRunId, run, own).map(({ result, agentRun }) => stepFor(result, agentRun));
  };
  const steps: Step[] = [];
  // A call that was asked about again went on with what was decided then.
  const follow = async (taken: ReadonlyMap<string, AcceptedDecision>): Promise<void> => {
    const admission = await admit(judged, authorizerOf, own, (id) => taken.get(id) ?? null);
    const id =
      admission.kind === 'parked' && admission.parked.kind === 'approval' ? admission.parked.asking.approvalId : null;
    if (id === null) return void steps.push(...stepsFor(admission));
    for (const decision of decisionsTaken(id, run, configurations)) await follow(new Map([...taken, [id, decision]]));
  };
  await follow(new Map());
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
): readonly AcceptedDecision[] {
  const taken = acceptedOutcomes(approvalId, run, configurations);
  if (taken.length === 0)
    throw new NotReplayable(`It needed the approval ${approvalId}, whose outcome is not among the records.`);
  return taken.map((outcome) => {
    const { decision, reason, decidedBy: by, editedArguments: edited } = outcome;
    if (decision === 'approve' || decision === 'refuse' || decision === 'expire' || decision === 'run') {
      const edit = edited === null ? {} : { edit: { arguments: edited, by } };
      return { decision, reason, ...boundOf(outcome, run), ...edit };
    }
    throw new NotReplayable(`The outcome of the approval ${approvalId} is "${decision}", which is none.`);
  });
}
