import { transition } from '@sluice/core';
import type { ApprovalAsk, Evaluator, Step } from '@sluice/core';
import type { AgentStepResult, ToolCall } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { afterStep, decideTools, notMade, notRecorded, offeredIds, turnAfter } from '@sluice/run';
import type { CallInTurn } from '@sluice/run';
import { admit, nothingDecided } from './calls.js';
import type { Admission, AuthorizerOf } from './calls.js';
import type { RecordedConfigurations } from './configurations.js';
import { stretchesOf } from './executor/stretches.js';
import { wasBegun } from './executor/calls-made.js';
import type { Stretch } from './executor/stretches.js';
import { NotReplayable } from './outcome.js';
import type { OwnTurn } from './own-call.js';
import type { RunRecords } from './run-records.js';
import { nameIn } from './approvals.js';
import type { Change } from './change.js';

/**
 * What would become of a turn’s calls under the candidate, each in the state and after the calls that are recorded.
 * `own` is the turn of a call that its request makes itself.
 */
export async function changedCalls(
  message: Incoming<'agent.steps'>,
  own: OwnTurn | null,
  run: RunRecords,
  configurations: RecordedConfigurations,
  candidate: Evaluator,
  authorizerOf: AuthorizerOf,
): Promise<readonly Change[]> {
  const { steps } = message.record;
  const record = own?.turn ?? turnOf(message.record, run);
  if (record === undefined) throw new NotReplayable('Its ToolCall is not among the records.');
  const granting = configurations.get(record.configVersion);
  const stretches = stretchesOf(message, run);
  const recorded = new Set(offeredIds(record, granting));
  const unknown = notRecorded(record.run, candidate);
  if (unknown !== null) throw new NotReplayable(unknown);
  const offered = offeredBy(candidate, record, own?.decided.decidedAt ?? decidedAtOf(record, run));
  const changes: Change[] = [];
  let turn = turnAfter(record, [], granting);
  for (const [index, step] of steps.entries()) {
    const call = record.calls[index];
    if (call === undefined) break;
    const name = nameIn(run, record, call, index);
    const called = { record, name, call, index, steps: steps.slice(0, index), at: step.startedAt };
    const stretch = stretches.findLast(({ fromIndex }) => fromIndex <= index) as Stretch;
    const inForce = configurations.inForce(stretch.inForceVersion, stretch.at);
    // A call that an earlier attempt had begun was made, whatever was in force when it was reported.
    const was = wasBegun(step, steps[index - 1], granting.byId(call.tool), stretch, configurations)
      ? { verdict: 'made' }
      : await fate({ ...called, offered: recorded, turn, judges: { granting, inForce } }, authorizerOf, steps);
    const judges = { granting: candidate, inForce: candidate };
    const would = await fate({ ...called, offered, turn, judges }, authorizerOf, steps, { granting, inForce });
    const tool = step.action;
    if (was.verdict !== would.verdict) {
      const rule = would.rule ?? was.rule;
      changes.push({
        ...{ kind: 'call', tool, index, was: was.verdict, would: would.verdict },
        ...(rule === undefined ? {} : { rule }),
        ...(Object.keys(step.facts).length === 0 ? {} : { facts: step.facts }),
      });
    }
    if (was.verdict === would.verdict && step.outcome === 'ok') {
      const target = candidate.byId(call.tool);
      const state = target === undefined ? step.state : transition(target, step.stateBefore);
      if (state !== step.state) changes.push({ kind: 'state', tool, index, was: step.state, would: state });
    }
    turn = afterStep(turn, call.tool, step, granting);
  }
  return changes;
}

/**
 * The turn that the steps are of: an iteration has several where it went back to the filter, as after a redrive, and
 * the model was asked again. Of those with the same calls the one of the same attempt.
 */
function turnOf({ iteration, steps, run: { redrive } }: AgentStepResult, { calls }: RunRecords): ToolCall | undefined {
  const ofIteration = calls.map(({ record }) => record).filter((one) => one.iteration === iteration);
  const called = ofIteration.filter((one) =>
    steps.every(({ toolCallId, arguments: args, thought }, index) => {
      const call = one.calls[index];
      // Only a turn’s first step tells its thought.
      const thinksSo = thought === '' || thought === one.thought;
      return thinksSo && call?.toolCallId === toolCallId && call.arguments === args;
    }),
  );
  return called.find((one) => one.run.redrive === redrive) ?? called[0] ?? ofIteration[0];
}

/** The verdict on a call, and the rule that refuses it. */
interface Fate {
  readonly verdict: string;
  readonly rule?: string;
}

async function fate(
  call: CallInTurn,
  authorizerOf: AuthorizerOf,
  steps: readonly Step[],
  recordedBy = call.judges,
): Promise<Fate> {
  const { record, index, turn, judges } = call;
  const why = notMade(record, index, steps.slice(0, index), turn, judges.granting);
  if (why !== null) return { verdict: why === 'history_full' ? 'refused: history full' : `refused: ${why}` };
  const admission = await admit(call, authorizerOf, steps[index] as Step, nothingDecided, null, recordedBy);
  const rule = admission.kind === 'refused' ? admission.result.rule : undefined;
  return { verdict: inWords(admission), ...(rule === undefined ? {} : { rule }) };
}

function inWords(admission: Admission): string {
  switch (admission.kind) {
    case 'admitted':
      return 'made';
    case 'parked':
      return admission.parked.kind === 'approval' ? waitsFor(admission.parked.asking.asks) : 'made';
    case 'refused':
      return `refused: ${admission.result.reason ?? admission.result.errorCode}`;
  }
}

function waitsFor(asks: readonly ApprovalAsk[]): string {
  const count = Math.max(...asks.map(({ quorum }) => quorum));
  return count === 1 ? 'waits for an approval' : `waits for ${count} approvals`;
}

/** What the candidate would have offered in this turn. */
function offeredBy(candidate: Evaluator, record: ToolCall, at: number): ReadonlySet<string> {
  return new Set(decideTools(record, candidate, at).decision.offered.map((tool) => tool.id));
}

/** When the turn’s tools were decided on; where its Toolset is gone, when the run began. */
function decidedAtOf({ iteration, grant, run: { startedAt } }: ToolCall, { toolsets }: RunRecords): number {
  const own = toolsets.filter(({ record }) => record.iteration === iteration);
  const toolset = own.find(({ record }) => record.grant === grant) ?? own[0];
  return toolset?.record.decidedAt ?? startedAt;
}
