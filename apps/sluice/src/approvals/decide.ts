import {
  clockSkewMs,
  deciderBy,
  deciderFor,
  isRejectionReason,
  rejectionReasons,
  printable,
  printableIn,
} from '@sluice/core';
import type { Configuration, Decider } from '@sluice/core';
import { make, sha256, topics } from '@sluice/contracts';
import type { ApprovalDecided, ApprovalOutcome } from '@sluice/contracts';
import { isClosing, judgeAtDoor } from '@sluice/run';
import { authenticatorOf, ownHeaders, ownToken } from '@sluice/host';
import type { Environment } from '@sluice/host';
import type { CommandContext } from '../commands/command-context.js';
import { printJson, quietFor } from '../json-answer.js';
import { configurationNow } from './approval-log.js';
import type { ApprovalLog, LoggedApproval } from './approval-log.js';

/** How long an executor may need to apply a decision before the command says that none has yet, in milliseconds. */
const patienceMs = 10_000;

type Deciding = {
  readonly decision: 'approve' | 'refuse';
  readonly reason: string;
  readonly decidedBy: string;
  /** The person for whom a service decides; null: who decides does so itself. */
  readonly decidedFor: string | null;
  /** The arguments to make the call with, as JSON; null: its own. */
  readonly edited: string | null;
};

/** Decides on a call that waits, unless the decision cannot count; says which decision was taken. */
export async function decide(
  { requested, place }: LoggedApproval,
  deciding: Deciding,
  log: ApprovalLog,
  json: boolean,
  surroundings: CommandContext,
): Promise<number> {
  const { environment, write, paint } = quietFor(json, surroundings);
  const answer = (status: string, reason: string | null): void => {
    if (json) printJson(surroundings, { approval_id: requested.approvalId, status, reason });
  };
  const { approvalId, requestId, sessionId, argumentsHash } = requested;
  const decidedAt = Date.now();
  const { partition: requestedPartition, offset: requestedOffset } = place;
  const { edited, ...said } = deciding;
  const ids = { approvalId, requestId, sessionId, argumentsHash };
  const edit = edited === null ? {} : { editedArguments: edited, editedHash: sha256(edited) };
  const decided = make.approvalDecided({ ...ids, ...said, ...edit, decidedAt, requestedPartition, requestedOffset });
  const refusal = await refusalOf(decided, log, environment);
  if (refusal !== null) {
    answer('refused', printable(refusal));
    write(
      `${paint.bad('✗')} ${approvalId}: the decision does not count, so it was not written. ${printable(refusal)}\n`,
    );
    return 1;
  }
  const record = make.approval({ decided });
  const written = { topic: topics.approvals, record } as const;
  const headers = await ownHeaders(written, environment);
  await log.bus.publish([{ ...written, key: sessionId, headers }]);
  const outcome = printableIn(await outcomeOf(approvalId, deciding, decidedAt - clockSkewMs, log));
  if (outcome === null) {
    answer('pending', null);
    write('The decision is on the log. No executor has taken it yet; one does when it runs.\n');
    return 0;
  }
  const { notTaken } = outcome;
  if (notTaken === null && isOwn(outcome, deciding)) {
    answer('taken', null);
    if (outcome.stillNeeded > 0) {
      const more = outcome.stillNeeded === 1 ? '1 more approval' : `${outcome.stillNeeded} more approvals`;
      write(`${paint.good('✓')} ${approvalId}: the approval counts, and the call waits for ${more}.\n`);
      return 0;
    }
    const then = requested.behind === null ? 'the run goes on' : 'it is used when the turn comes to the call';
    write(`${paint.good('✓')} ${approvalId}: ${deciding.decision} was taken, and ${then}.\n`);
    return 0;
  }
  const why =
    notTaken === null
      ? `${outcome.decidedBy} was first, with ${outcome.decision}.`
      : isRejectionReason(notTaken)
        ? rejectionReasons[notTaken]
        : notTaken;
  answer('refused', why);
  write(`${paint.bad('✗')} ${approvalId}: the decision does not count. ${why}\n`);
  return 1;
}

/** The outcome of the decision, or of the one that was first; null if nothing comes in time. */
async function outcomeOf(
  approvalId: string,
  deciding: Deciding,
  fromTime: number,
  { bus, counts }: ApprovalLog,
): Promise<ApprovalOutcome | null> {
  const options = { from: { time: fromTime }, follow: true, signal: AbortSignal.timeout(patienceMs) };
  for await (const message of bus.read([topics.approvals], options)) {
    const { outcome } = message.record;
    if (outcome?.approvalId !== approvalId) continue;
    if (outcome.notTaken === null && !(await counts(message))) continue;
    if (isClosing(outcome) || isOwn(outcome, deciding)) return outcome;
  }
  return null;
}

/** As far as one can tell: who the credential names is not known here. */
function isOwn({ decision, decidedBy }: ApprovalOutcome, deciding: Deciding): boolean {
  const by = deciding.decidedFor ?? deciding.decidedBy;
  return decision === deciding.decision && (by === '' || decidedBy === by);
}

/**
 * Why the decision cannot count, by the executor’s own rule; null where it may. Where this machine cannot tell whose
 * decision it is, the executor says so.
 */
async function refusalOf(decided: ApprovalDecided, log: ApprovalLog, environment: Environment): Promise<string | null> {
  const configuration = await configurationNow(log);
  if (configuration === undefined) return null;
  const who = await whoDecides(decided, configuration, log, environment);
  if (who === 'unknown') return null;
  if ('refused' in who) return who.refused;
  const { bus, claims } = log;
  const facts = { bus, claims, now: decided.decidedAt, configuration };
  const verdict = await judgeAtDoor(decided, { decider: who, tenantId: who.tenantId }, facts);
  return verdict.kind === 'refused' ? verdict.message : null;
}

async function whoDecides(
  { decidedBy, decidedFor, decidedAt }: ApprovalDecided,
  { identity }: Configuration,
  { documents }: ApprovalLog,
  environment: Environment,
): Promise<Decider | { readonly refused: string } | 'unknown'> {
  const forPerson = (own: Decider) => (decidedFor === null ? own : deciderFor(own, decidedFor));
  if (identity.provider === 'none') return forPerson({ actorId: decidedBy, tenantId: null });
  const token = ownToken(environment);
  if (token === undefined)
    return {
      refused: 'SLUICE_TOKEN is not set. It must hold your credential, since the configuration has an identity.',
    };
  if (documents === null) return 'unknown';
  try {
    const sender = await authenticatorOf({ environment, documents }).authenticate(
      identity,
      `Bearer ${token}`,
      decidedAt,
    );
    if (!sender.ok) return { refused: `${sender.message} SLUICE_TOKEN holds it.` };
    const { actorId } = sender.principal;
    if (decidedBy === '' || decidedBy === actorId) return forPerson(deciderBy(sender));
    return {
      refused: `The credential in SLUICE_TOKEN is that of ${actorId}. Leave out --as, or decide with the credential of ${decidedBy}.`,
    };
  } catch {
    // The keys that verify it cannot be had here now.
    return 'unknown';
  }
}
