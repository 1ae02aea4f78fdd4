import {
  approvalsMissing,
  countsFor,
  deciderFor,
  isSamePerson,
  judgeDecision,
  localPrincipal,
  onExpiryOf,
  rulesInForce,
  runName,
} from '@sluice/core';
import type { Decider, GivenApproval, RejectionReason } from '@sluice/core';
import type { ApprovalDecided, ApprovalOutcome, ApprovalRequested, RequestedCall, ToolCall } from '@sluice/contracts';
import {
  answeredMeanwhile,
  approvalIdOf,
  callKeyOf,
  cancelledMeanwhile,
  formGone,
  isClosing,
  isEditSound,
  needlessMeanwhile,
  runsAtExpiry,
} from '@sluice/run';
import type { AcceptedDecision } from '@sluice/run';
import type { Incoming } from '@sluice/bus';
import type { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import type { RunRecords } from './run-records.js';

/**
 * What the run was called when the call was made: a former version knew it by its request_id alone, and its approval
 * says so.
 */
export function nameIn({ approvals }: RunRecords, record: ToolCall, call: RequestedCall, index: number): string {
  const former = runName(record.requestId, localPrincipal.tenantId);
  const id = approvalIdOf(callKeyOf(former, record, call, index));
  const isFormer = approvals.some(({ record: { requested } }) => requested?.approvalId === id);
  return isFormer ? former : runName(record.requestId, record.run.principal?.tenantId ?? null);
}

/** The outcome of a decision, from each decision that it can have followed. */
export function deriveOutcome(
  recorded: ApprovalOutcome,
  run: RunRecords,
  configurations: Pick<RecordedConfigurations, 'inForce'>,
): readonly ApprovalOutcome[] {
  if (isByTime(recorded) && recorded.notTaken === null) return expired(recorded, run, configurations);
  const { configuration } = configurations.inForce(recorded.configVersion, recorded.at);
  const { policy, identity } = configuration;
  const decisions = run.approvals.filter(({ record }) => record.decided?.approvalId === recorded.approvalId);
  return decisions.map((message) => {
    const decided = message.record.decided as ApprovalDecided;
    const asked = requestNamedBy(run, decided);
    const said = { actorId: decided.decidedBy, tenantId: null };
    const own = decided.decidedFor === null ? said : deciderFor(said, decided.decidedFor);
    const decider: Decider | null = identity.provider === 'none' ? own : proven(recorded, asked);
    // Of a decision that came when its run was long over: it changed nothing, and what it was about is not read with
    // it.
    if (asked === null && run.toolsets.length === 0 && recorded.notTaken !== null && namesPlace(decided))
      throw new NotReplayable(
        'It came after its run had ended, and the question is not among the records that were read.',
      );
    const written = { ...decided, isEditSound: isEditSound(decided, asked?.tool, configuration) };
    let notTaken: RejectionReason | null = judgeDecision(asked, written, decider, message.timestamp, policy);
    const counts =
      asked !== null && decider !== null && notTaken === null
        ? countsFor(asked, decided.decision, decider, message.timestamp, policy)
        : { rules: [], decidedAs: [] };
    if (notTaken === null && recorded.notTaken !== null && isDecidedElsewhere(recorded, run))
      notTaken = 'already_decided';
    if (identity.provider !== 'none' && notTaken !== recorded.notTaken && asksWho(recorded))
      throw new NotReplayable('It hung on the credential that came with the decision, and credentials are not kept.');
    const { approvalId, requestId, sessionId, decision, reason, argumentsHash, decidedBy } = decided;
    const { editedArguments, editedHash } = decided;
    const given = { by: decider?.actorId ?? decided.decidedFor ?? decidedBy, rules: counts.rules };
    return {
      ...counts,
      ...(notTaken === null
        ? progressWith(given, recorded, asked, run)
        : { rules: [], stillNeeded: 0, approvedBy: [] }),
      approvalId,
      requestId: asked?.requestId ?? requestId,
      sessionId: asked?.sessionId ?? sessionId,
      decision,
      decidedBy: decider?.actorId ?? decided.decidedFor ?? decidedBy,
      decidedFor: decider?.subjectId ?? null,
      decidedThrough: decider?.through?.actorId ?? null,
      reason,
      argumentsHash,
      editedArguments,
      editedHash,
      notTaken,
      at: recorded.at,
      configVersion: recorded.configVersion,
    };
  });
}

/** Whether no decision is behind the outcome: time was up. */
export function isByTime({ decision }: Pick<ApprovalOutcome, 'decision'>): boolean {
  return decision === 'expire' || decision === 'run';
}

/** What the call waits for behind an approval, by those that came before it. */
function progressWith(
  own: GivenApproval,
  { approvalId, approvedBy, decision }: ApprovalOutcome,
  asked: ApprovalRequested | null,
  { approvals }: RunRecords,
): Pick<ApprovalOutcome, 'stillNeeded' | 'approvedBy'> {
  if (asked === null || asked.rules.length === 0 || decision !== 'approve') return { stillNeeded: 0, approvedBy: [] };
  const before = approvals.flatMap(({ record: { outcome } }) => {
    const isBefore =
      outcome !== null &&
      outcome.approvalId === approvalId &&
      outcome.stillNeeded > 0 &&
      outcome.approvedBy.length < approvedBy.length;
    return isBefore ? [{ by: outcome.decidedBy, rules: outcome.rules, place: outcome.approvedBy.length }] : [];
  });
  const given = [...before.sort((one, other) => one.place - other.place), own];
  return { stillNeeded: approvalsMissing(asked.rules, given), approvedBy: given.map(({ by }) => by) };
}

/**
 * A digest of what the decision is on: that of the question that it names, else of the last one before it. Nothing
 * where the question is gone, or an earlier version asked it.
 */
export function boundOf(
  { approvalId, decision, reason, decidedBy, at }: ApprovalOutcome,
  run: RunRecords,
): Pick<AcceptedDecision, 'bound'> {
  const decided = run.approvals.find(({ record: { decided: one } }) => {
    const isSaid = one?.approvalId === approvalId && one.decision === decision && one.reason === reason;
    return isSaid && (one.decidedFor === null ? ['', decidedBy].includes(one.decidedBy) : one.decidedFor === decidedBy);
  });
  const named = decided?.record.decided == null ? null : requestNamedBy(run, decided.record.decided);
  const asked = run.approvals.flatMap(({ record: { requested } }) =>
    requested?.approvalId === approvalId ? [requested] : [],
  );
  const bound = (named ?? asked.findLast(({ requestedAt }) => requestedAt <= at) ?? asked[0])?.bound;
  return bound === undefined ? {} : { bound };
}

/** The decision on an approval that the records have; null where they have none. */
export function decisionBefore(approvalId: string, run: RunRecords): AcceptedDecision | null {
  const outcome = run.approvals.find(
    ({ record }) => record.outcome?.approvalId === approvalId && isClosing(record.outcome),
  )?.record.outcome;
  if (outcome === undefined || outcome === null) return null;
  const { decision, reason } = outcome;
  return { decision: decision as AcceptedDecision['decision'], reason, ...boundOf(outcome, run) };
}

/**
 * The outcomes that a turn can have gone on with. An approver can write others, which the executor drops: so where
 * there are several, those that follow from a decision or a question.
 */
export function acceptedOutcomes(
  approvalId: string,
  run: RunRecords,
  configurations: Pick<RecordedConfigurations, 'inForce'>,
): readonly ApprovalOutcome[] {
  const taken = run.approvals.flatMap(({ record: { outcome } }) =>
    outcome !== null && outcome.approvalId === approvalId && isClosing(outcome) ? [outcome] : [],
  );
  if (taken.length < 2) return taken;
  const following = taken.filter((outcome) => follows(outcome, run, configurations));
  return following.length > 0 ? following : taken;
}

function follows(
  outcome: ApprovalOutcome,
  run: RunRecords,
  configurations: Pick<RecordedConfigurations, 'inForce'>,
): boolean {
  const said = (one: ApprovalOutcome): string =>
    JSON.stringify([one.decision, one.decidedBy, one.reason, one.argumentsHash, one.notTaken, one.editedArguments]);
  try {
    return deriveOutcome(outcome, run, configurations).some((derived) => said(derived) === said(outcome));
  } catch (error) {
    if (!(error instanceof NotReplayable)) throw error;
    return true;
  }
}

/**
 * The executor’s own word that no decision came in time, that the run was cancelled or the approval needed no more
 * meanwhile, that its caller answered, or that the form is gone.
 */
function expired(
  recorded: ApprovalOutcome,
  { approvals }: RunRecords,
  configurations: Pick<RecordedConfigurations, 'inForce'>,
): readonly ApprovalOutcome[] {
  const { configVersion, at } = recorded;
  // A former version went by the request alone.
  const policy = configVersion === '' ? null : configurations.inForce(configVersion, at).configuration.policy;
  return approvals.flatMap(({ record: { requested } }) => {
    if (requested?.approvalId !== recorded.approvalId) return [];
    const own = requested.question === null ? [needlessMeanwhile] : [answeredMeanwhile, formGone];
    const early = [cancelledMeanwhile, ...own];
    const isEarly = early.includes(recorded.reason) && recorded.decision === 'expire';
    if (!isEarly && recorded.at < requested.expiresAt) return [];
    const { approvalId, requestId, sessionId, argumentsHash } = requested;
    const ids = { approvalId, requestId, sessionId, argumentsHash };
    const rules = policy === null ? requested.rules : rulesInForce(requested, policy);
    const isRun = !isEarly && onExpiryOf(rules) === 'run';
    const reason = isEarly ? recorded.reason : isRun ? runsAtExpiry(requested.rules) : '';
    const decision = isRun ? 'run' : 'expire';
    return [{ ...recorded, ...ids, decision, decidedBy: 'service:executor', reason }];
  });
}

/**
 * Who the credential named is in the outcome, and so are the entries of the approvers’ lists that it answered; of which
 * tenant it was is not, but only the asker’s own can decide.
 */
function proven(recorded: ApprovalOutcome, asked: ApprovalRequested | null): Decider | null {
  if (recorded.notTaken === 'not_authenticated') return null;
  const { decidedBy: actorId, decidedFor: subjectId, decidedThrough, decidedAs } = recorded;
  if (decidedThrough !== null)
    return deciderFor({ actorId: decidedThrough, tenantId: asked?.tenantId ?? null }, actorId);
  return { actorId, subjectId, tenantId: asked?.tenantId ?? null, named: (entry) => decidedAs.includes(entry) };
}

function asksWho({ notTaken }: ApprovalOutcome): boolean {
  return ['not_an_approver', 'not_authenticated', 'not_for_person'].includes(notTaken ?? '');
}

function namesPlace({ requestedPartition, requestedOffset }: ApprovalDecided): boolean {
  return requestedPartition !== null && requestedOffset !== null;
}

function requestNamedBy({ approvals }: RunRecords, decided: ApprovalDecided): ApprovalRequested | null {
  const { requestedPartition, requestedOffset } = decided;
  const at = approvals.find(({ partition, offset }) => partition === requestedPartition && offset === requestedOffset);
  return at?.record.requested ?? null;
}

/** Whether another decision was first, or the same person has approved the call already. */
function isDecidedElsewhere(
  { approvalId, decidedBy, decidedFor }: ApprovalOutcome,
  { approvals }: RunRecords,
): boolean {
  return approvals.some(
    ({ record: { outcome } }: Incoming<'agent.approvals'>) =>
      outcome !== null &&
      outcome.approvalId === approvalId &&
      outcome.notTaken === null &&
      (isClosing(outcome) ||
        isSamePerson(
          { actorId: outcome.decidedBy, subjectId: outcome.decidedFor },
          { actorId: decidedBy, subjectId: decidedFor },
        )),
  );
}
