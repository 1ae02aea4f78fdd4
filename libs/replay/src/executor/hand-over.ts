import type { AgentStepResult } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { agentBeginning, approvalIdOf, beforeMember, callKeyOf } from '@sluice/run';
import type { AcceptedDecision, CallInTurn } from '@sluice/run';
import { fanOutOf } from '../agent-runs.js';
import { acceptedOutcomes } from '../approvals.js';
import { admit } from '../calls.js';
import type { RunRecords } from '../run-records.js';
import { callIn } from './calls-made.js';
import type { Deriving } from './deriving.js';
import { turnsAt } from './turns-at.js';
import { waited, waitsIn } from './stretches.js';
import { stepsOf } from './turn.js';

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
  for (const message of turnsAt(run, { partition, offset }, limits)) {
    const { record } = message;
    if (record.calls[index] === undefined) continue;
    const waits = waitsIn(run, record.iteration).filter((one) => one.index <= index);
    const done = await stepsOf(record, steps, first, waited(waits), run, deriving);
    const granting = deriving.configurations.get(record.configVersion);
    const inForce = deriving.configurations.inForce(inForceVersion, startedAt);
    const judges = { granting, inForce };
    const before = beforeMember(record, first, index, done, granting);
    const called = callIn(run, record, index, before, judges, startedAt);
    // Where it needed an approval, it had that before it began.
    const admission = await admit(called, deriving.authorizerOf, null, () => approvalOf(called, run, deriving));
    if (admission.kind !== 'parked' || admission.parked.kind !== 'agent') {
      derived.push({ refused: admission.kind === 'refused' ? admission.result.safeMessage : 'It is no agent.' });
      continue;
    }
    const handing = { ...admission.parked.handing, startedAt, fanOut };
    const beginning = agentBeginning(message, index, handing, done.steps, judges);
    derived.push({ ...beginning, signature, recordSignature });
  }
  return derived;
}

/** With what its approver changed its question to, if one did. */
function approvalOf(
  { record, name, call, index }: CallInTurn,
  run: RunRecords,
  { configurations }: Deriving,
): AcceptedDecision {
  const approvalId = approvalIdOf(callKeyOf(name, record, call, index));
  const approve = { decision: 'approve', reason: '' } as const;
  const edited = acceptedOutcomes(approvalId, run, configurations).find((one) => one.editedArguments !== null);
  if (edited === undefined || edited.editedArguments === null) return approve;
  return { ...approve, edit: { arguments: edited.editedArguments, by: edited.decidedBy } };
}
