import type { ApprovalRequested } from '@sluice/contracts';
import { approvalRequest, assumedBefore } from '@sluice/run';
import { decisionBefore } from '../approvals.js';
import { admit } from '../calls.js';
import type { RunRecords } from '../run-records.js';
import { callIn } from './calls-made.js';
import type { Deriving } from './deriving.js';
import { turnsAt } from './turns-at.js';
import { waited, waitsIn } from './stretches.js';
import { stepsOf } from './turn.js';

/** What was asked of a call that waits, from the turn that stands where it says. */
export async function deriveApprovalRequest(
  recorded: ApprovalRequested,
  run: RunRecords,
  deriving: Deriving,
): Promise<readonly (ApprovalRequested | { readonly refused: string })[]> {
  const { partition, offset, index, requestedAt, iteration, inForceVersion, steps, behind } = recorded;
  // Where the turn waits: what is asked ahead of it is judged as if the calls from there on had succeeded.
  const first = behind === null ? index : steps.length;
  const derived: (ApprovalRequested | { readonly refused: string })[] = [];
  const stretches = waited(waitsIn(run, iteration).filter((one) => one.index < first || one.nextFrom === first));
  const limits = () => deriving.configurations.inForce(inForceVersion, requestedAt).configuration.limits;
  for (const message of turnsAt(run, { partition, offset }, limits)) {
    const { record } = message;
    const done = await stepsOf(record, steps, first, stretches, run, deriving);
    const granting = deriving.configurations.get(record.configVersion);
    const inForce = deriving.configurations.inForce(inForceVersion, requestedAt);
    const judges = { granting, inForce };
    const assumed = assumedBefore(record, first, index, done, granting);
    const called = callIn(run, record, index, assumed, judges, requestedAt);
    // What was decided before on the call as it was then leads to asking about it as it is now.
    const before = (id: string) => (id === recorded.approvalId ? null : decisionBefore(id, run));
    const admission = await admit(called, deriving.authorizerOf, null, before, recorded.question);
    if (admission.kind !== 'parked' || admission.parked.kind !== 'approval') {
      derived.push({ refused: admission.kind === 'refused' ? admission.result.safeMessage : 'It needs no approval.' });
      continue;
    }
    // The tool’s own check of its arguments made them, which only the recorded run has asked.
    const asking = { ...admission.parked.asking, arguments: recorded.arguments };
    const asked = { others: othersOf(recorded, run), behind };
    const request = approvalRequest(message, index, asking, done.steps, judges, requestedAt, asked);
    derived.push({ ...request, inForceVersion });
    // An earlier version let no call wait beyond the run’s deadline.
    if (recorded.expiresAt <= record.run.deadline)
      derived.push({ ...request, inForceVersion, expiresAt: Math.min(request.expiresAt, record.run.deadline) });
  }
  return derived;
}

/** The other approvals that were asked for in the turn up to then, sorted. */
function othersOf(
  { approvalId, iteration, partition, offset, requestedAt }: ApprovalRequested,
  { approvals }: RunRecords,
): readonly string[] {
  const asked = approvals.flatMap(({ record: { requested } }) => {
    const isOfTurn = requested?.iteration === iteration && requested.partition === partition;
    return isOfTurn && requested.offset === offset && requested.requestedAt <= requestedAt
      ? [requested.approvalId]
      : [];
  });
  return [...new Set(asked)].filter((id) => id !== approvalId).sort();
}
