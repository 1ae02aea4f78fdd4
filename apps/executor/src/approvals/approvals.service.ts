import { Inject, Injectable } from '@nestjs/common';
import { approvalsMissing, countsFor, deciderBy, deciderFor, Fault, isClientTool, judgeDecision } from '@sluice/core';
import type { ApprovalDecision, Authenticator, Decider, RejectionReason } from '@sluice/core';
import { make, maxPayloadBytes, payloadBytes, positionOf, topics } from '@sluice/contracts';
import type { Approval, ApprovalDecided, ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import { recordAt, skipUndecodable, trustedTimeOf } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  afterApproval,
  isClosing,
  keepDeadline,
  ApprovalClaims,
  approvalRequestFor,
  CallerForms,
  ClientCalls,
  isEditSound,
  parkedTurn,
  redrivenFrom,
  waitsAt,
  wasAnswered,
} from '@sluice/run';
import type { ClaimedDecision } from '@sluice/run';
import { AUTHENTICATOR, inHop, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { withdrawRequests } from './withdraw.js';
import { waitForApproval } from './park.js';
import { takeStanding } from './standing.js';
import { ExecutorService } from '../executor.service.js';
import type { Resumed } from '../turn.js';

/**
 * Takes decisions on parked calls, and goes on with their turns. In two hops: the first decision that counts becomes
 * an outcome on the log, which is the run’s token from then on; whatever happens to that record happens to the run,
 * as with any other on the loop.
 */
@Injectable()
export class ApprovalsService {
  private readonly claims: ApprovalClaims;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(ExecutorService) private readonly executor: ExecutorService,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {
    this.claims = new ApprovalClaims(runtime);
  }

  async take(message: Incoming<'agent.approvals'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { decided, outcome, standing } = message.record;
    if (decided !== null) return this.decide(decided, message, context);
    if (outcome !== null && isClosing(outcome)) return this.goOn(outcome, message, context);
    if (standing === null || standing.at !== null) return [];
    const decider = await this.decider(standing, message);
    context.credentialUsed(null);
    return takeStanding(standing, decider, message, context, this.runtime);
  }

  private async decide(
    decided: ApprovalDecided,
    message: Incoming<'agent.approvals'>,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { configurations, clock } = this.runtime;
    const decider = await this.decider(decided, message);
    const decidedBy = decider?.actorId ?? decided.decidedFor ?? decided.decidedBy;
    const asked = await approvalRequestFor(decided, this.runtime.bus, this.claims);
    if (await this.hasOutcome({ ...decided, decidedBy }, message, context)) return [];
    context.credentialUsed(null);
    const { configuration } = configurations.current();
    const { policy, version: configVersion } = configuration;
    const at = trustedTimeOf(message);
    const written = { ...decided, isEditSound: isEditSound(decided, asked?.tool, configuration) };
    const notTaken = judgeDecision(asked, written, decider, at, policy);
    const { approvalId, requestId, sessionId, decision, reason, argumentsHash, editedArguments, editedHash } = decided;
    const ids = { approvalId, requestId: asked?.requestId ?? requestId, sessionId: asked?.sessionId ?? sessionId };
    const decidedFor = decider?.subjectId ?? null;
    const decidedThrough = decider?.through?.actorId ?? null;
    const said = {
      decision,
      decidedBy,
      decidedFor,
      decidedThrough,
      reason,
      argumentsHash,
      editedArguments,
      editedHash,
    };
    const isCounted = asked !== null && decider !== null && notTaken === null;
    const counts = isCounted ? countsFor(asked, decision, decider, at, policy) : {};
    const outcome = make.approvalOutcome({ ...ids, ...said, ...counts, notTaken, at: clock.now(), configVersion });
    // Before it is claimed: a decision that cannot be published would keep the run waiting for ever.
    if (payloadBytes(topics.approvals, outcomeRecord(outcome)) > maxPayloadBytes)
      throw new Fault('invalid_request', 'The decision is too large for an outcome. Give a shorter reason.', false);
    const judged = isCounted ? await this.claim(outcome, asked, decided, positionOf(message), at) : outcome;
    if (judged.notTaken !== null) this.sayNotTaken(judged.notTaken as RejectionReason, decided, context);
    else if (judged.stillNeeded > 0) this.sayWaits(judged, context);
    return [{ topic: topics.approvals, key: ids.sessionId, record: outcomeRecord(judged) }];
  }

  /**
   * Claims the decision where it is the first that counts, or the last of several approvals that are needed; before
   * that it is one of these.
   */
  private async claim(
    outcome: ApprovalOutcome,
    asked: ApprovalRequested,
    { requestedPartition, requestedOffset }: ApprovalDecided,
    position: string,
    at: number,
  ): Promise<ApprovalOutcome> {
    const { approvalId, decision, decidedBy, decidedFor, decidedThrough, reason, rules } = outcome;
    const refused = { ...outcome, rules: [], notTaken: 'already_decided' } as const;
    let approvedBy: readonly string[] = [];
    if (decision === 'approve' && asked.rules.length > 0) {
      const taken = await this.claims.decisionOn(approvalId);
      if (taken !== undefined && taken !== null && taken.decision !== 'approve') return refused;
      const { isOwn, given } = await this.claims.addApproval(approvalId, {
        position,
        by: decidedBy,
        ...(decidedFor === null ? {} : { for: decidedFor }),
        ...(decidedThrough === null ? {} : { through: decidedThrough }),
        rules,
        reason,
        at,
      });
      if (!isOwn || approvalsMissing(asked.rules, given.slice(0, -1)) === 0) return refused;
      approvedBy = given.map(({ by }) => by);
      const stillNeeded = approvalsMissing(asked.rules, given);
      if (stillNeeded > 0) return { ...outcome, approvedBy, stillNeeded };
    }
    const { first } = await this.claims.decide(approvalId, position, {
      decision: decision as ApprovalDecision,
      ...{ decidedBy, reason },
      ...(outcome.editedArguments === null ? {} : { edited: outcome.editedArguments }),
      partition: requestedPartition as number,
      offset: requestedOffset as number,
      bound: asked.bound,
      counted: { decidedFor, decidedThrough, rules, approvedBy, decidedAs: outcome.decidedAs },
    });
    return first ? { ...outcome, approvedBy } : refused;
  }

  /** Whether the outcome of this decision is on the log already: the decision was read once more. */
  private hasOutcome(
    { approvalId, sessionId, decision, decidedBy, reason }: ApprovalDecided,
    message: Incoming<'agent.approvals'>,
    context: HandlerContext,
  ): Promise<boolean> {
    const is = async ({ topic, record }: Incoming): Promise<boolean> => {
      const outcome = topic === topics.approvals ? record.outcome : null;
      if (outcome?.approvalId !== approvalId) return false;
      // The outcome of another person’s approval says nothing of this one.
      const isOwn =
        outcome.decision === decision && outcome.decidedBy === decidedBy && outcome.reason === reason.toWellFormed();
      if (outcome.stillNeeded > 0 && !isOwn) return false;
      return outcome.notTaken !== null || this.claims.isDecided(outcome);
    };
    return wasAnswered(message, { keys: [message.key, sessionId], is }, context, this.runtime);
  }

  /**
   * Whose decision it is: what its credential says, where an identity is configured, else what it says itself. Null:
   * it proves nothing.
   */
  private async decider(
    { decidedBy, decidedFor = null }: Pick<ApprovalDecided, 'decidedBy'> & Partial<Pick<ApprovalDecided, 'decidedFor'>>,
    message: Incoming<'agent.approvals'>,
  ): Promise<Decider | null> {
    const { identity } = this.runtime.configurations.current().configuration;
    const forPerson = (decider: Decider) => (decidedFor === null ? decider : deciderFor(decider, decidedFor));
    if (identity.provider === 'none') return forPerson({ actorId: decidedBy, tenantId: null });
    const sender = await this.authenticator.authenticate(
      identity,
      await this.runtime.credentials.of(message),
      trustedTimeOf(message),
    );
    if (!sender.ok) return null;
    return decidedBy === '' || decidedBy === sender.principal.actorId ? forPerson(deciderBy(sender)) : null;
  }

  private async goOn(
    outcome: ApprovalOutcome,
    message: Incoming<'agent.approvals'>,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { log, bus } = this.runtime;
    const { approvalId } = outcome;
    const redriven = await redrivenFrom(message, context, this.runtime);
    const taken = await this.claims.decisionOn(approvalId);
    if (taken === null) throw new Fault('invalid_request', `The decision on ${approvalId} is not in the ledger.`, true);
    const owner = redriven?.owner ?? positionOf(message);
    const named = taken === undefined ? undefined : await recordAt(bus, topics.approvals, taken, skipUndecodable);
    const asked = named?.record.requested ?? null;
    const requested = named === undefined || asked === null ? null : await this.waitingAt(asked, named.timestamp);
    if (taken !== undefined && asked !== null && requested === null) {
      this.sayDecided(taken, asked, context);
      return [];
    }
    const goesOn = taken === undefined ? null : await this.claims.goesOn(approvalId, owner);
    if (taken === undefined || goesOn?.isOwn !== true) {
      const why = taken === undefined ? 'no decision' : 'the run went on with another outcome';
      context.afterCommit(() => log.warn({ approval_id: approvalId, why }, 'dropped an outcome of an approval'));
      return [];
    }
    const parked = requested === null ? undefined : await parkedTurn(requested, bus);
    if (requested === null || parked === undefined) {
      const message = `The call that ${approvalId} is about is no longer on the log, or not as it was.`;
      throw new Fault('invalid_request', message, false);
    }
    const before = await this.executor.cameBack(parked, waitForApproval(requested), redriven);
    // Another attempt has the time of a new run.
    const record = redriven === null ? afterApproval(before.record, requested, message.timestamp) : before.record;
    const attempt = { ...before, record };
    await keepDeadline(attempt.record, attempt.record.run.deadline, this.runtime);
    // The step of the call itself, or one behind it that waits; to wait for the same call once more is what led here.
    const wasHandled = () => this.executor.wasHandled(message, attempt, requested.index + 1, context);
    if (goesOn.isAgain && context.attempt === 1 && (await wasHandled())) return [];
    this.sayDecided(taken, requested, context);
    const turn = { group: 'executor', message: parked, context };
    const resumed = await this.resumed(requested);
    const askedBefore = [...requested.others, requested.approvalId];
    const goingOn = { resumed, askedBefore };
    return inHop(this.runtime.traces, turn, async (own) => {
      const led = await this.executor.runTurn(attempt, requested.steps, own, goingOn);
      return [...led, ...(await withdrawRequests(requested, led, parked.timestamp, this.runtime))];
    });
  }

  /**
   * What was asked where the turn waits at the call. A decision on a call that the turn has not come to is kept in the
   * ledger: null.
   */
  private async waitingAt(asked: ApprovalRequested, since: number): Promise<ApprovalRequested | null> {
    return asked.behind === null ? asked : waitsAt(asked, since, this.runtime.bus, this.claims);
  }

  /** With what the call goes on that waited for its caller; null for one that waited for an approval. */
  private async resumed({
    question,
    index,
    requestId,
    tenantId: tenant,
    tool,
    approvalId,
  }: ApprovalRequested): Promise<Resumed | null> {
    if (question === null) return null;
    const round = question.round + 1;
    if (isClientTool(tool)) {
      const client = await new ClientCalls(this.runtime).find({ requestId, tenant }, approvalId);
      const parked = { state: {}, questions: [], askedAt: question.askedAt, number: 1, answer: null };
      return client === null ? { index, round, parked: null } : { index, round, parked, client };
    }
    const parked = await new CallerForms(this.runtime).parked({ requestId, tenant });
    return { index, round, parked };
  }

  private sayDecided(
    { decision, decidedBy: decided_by }: Pick<ClaimedDecision, 'decision' | 'decidedBy'>,
    { approvalId: approval_id, requestId: request_id, question }: ApprovalRequested,
    context: HandlerContext,
  ): void {
    const { metrics, log } = this.runtime;
    context.afterCommit(() => {
      if (question === null) metrics.approvalsDecided.inc({ decision });
      log.info({ approval_id, request_id, decision, decided_by }, 'decided');
    });
  }

  private sayWaits(
    {
      approvalId: approval_id,
      requestId: request_id,
      decidedBy: decided_by,
      stillNeeded: still_needed,
    }: ApprovalOutcome,
    context: HandlerContext,
  ): void {
    context.afterCommit(() => {
      this.runtime.metrics.approvalsGiven.inc();
      this.runtime.log.info({ approval_id, request_id, decided_by, still_needed }, 'an approval of several was given');
    });
  }

  private sayNotTaken(reason: RejectionReason, decided: ApprovalDecided, context: HandlerContext): void {
    const { approvalId: approval_id, requestId: request_id, decision, decidedBy: decided_by } = decided;
    context.afterCommit(() => {
      this.runtime.metrics.approvalsNotTaken.inc({ reason });
      this.runtime.log.warn(
        { approval_id, request_id, decision, decided_by, reason },
        'a decision on an approval does not count',
      );
    });
  }
}

function outcomeRecord(outcome: ApprovalOutcome): Approval {
  return make.approval({ outcome });
}
