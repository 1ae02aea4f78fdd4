import { Inject, Injectable } from '@nestjs/common';
import { Fault, judgeDecision } from '@sluice/core';
import type { ApprovalDecision, Authenticator, Decider, RejectionReason } from '@sluice/core';
import { maxPayloadBytes, payloadBytes, positionOf, topics } from '@sluice/contracts';
import type { Approval, ApprovalDecided, ApprovalOutcome } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  afterApproval,
  keepDeadline,
  approvalAt,
  ApprovalClaims,
  approvalRequestFor,
  isEditSound,
  parkedTurn,
  redrivenFrom,
  wasAnswered,
} from '@sluice/run';
import { AUTHENTICATOR, inHop, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { waitForApproval } from './park.js';
import { ExecutorService } from '../executor.service.js';

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
    const { decided, outcome } = message.record;
    if (decided !== null) return this.decide(decided, message, context);
    if (outcome !== null && outcome.notTaken === null) return this.goOn(outcome, message, context);
    return [];
  }

  private async decide(
    decided: ApprovalDecided,
    message: Incoming<'agent.approvals'>,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { configurations, clock } = this.runtime;
    if (await this.hasOutcome(decided, message, context)) return [];
    const asked = await approvalRequestFor(decided, this.runtime.bus, this.claims);
    const decider = await this.decider(decided, message);
    context.credentialUsed(null);
    const decidedBy = decider?.actorId ?? decided.decidedBy;
    const { configuration } = configurations.current();
    const { policy, version: configVersion } = configuration;
    const written = { ...decided, isEditSound: isEditSound(decided, asked?.tool, configuration) };
    let notTaken = judgeDecision(asked, written, decider, trustedTimeOf(message), policy);
    const { approvalId, requestId, sessionId, decision, reason, argumentsHash, editedArguments, editedHash } = decided;
    const ids = { approvalId, requestId: asked?.requestId ?? requestId, sessionId: asked?.sessionId ?? sessionId };
    const said = { decision, decidedBy, reason, argumentsHash, editedArguments, editedHash };
    const outcome = { ...ids, ...said, notTaken, at: clock.now(), configVersion };
    // Before it is claimed: a decision that cannot be published would keep the run waiting for ever.
    if (payloadBytes(topics.approvals, outcomeRecord(outcome)) > maxPayloadBytes)
      throw new Fault('invalid_request', 'The decision is too large for an outcome. Give a shorter reason.', false);
    if (asked !== null && notTaken === null) {
      const { requestedPartition, requestedOffset } = decided;
      const { first } = await this.claims.decide(asked.approvalId, positionOf(message), {
        decision: decided.decision as ApprovalDecision,
        decidedBy,
        reason,
        ...(editedArguments === null ? {} : { edited: editedArguments }),
        partition: requestedPartition as number,
        offset: requestedOffset as number,
      });
      if (!first) notTaken = 'already_decided';
    }
    if (notTaken !== null) this.sayNotTaken(notTaken, decided, context);
    return [{ topic: topics.approvals, key: ids.sessionId, record: outcomeRecord({ ...outcome, notTaken }) }];
  }

  /** Whether the outcome of this decision is on the log already: the decision was read once more. */
  private hasOutcome(
    { approvalId, sessionId }: ApprovalDecided,
    message: Incoming<'agent.approvals'>,
    context: HandlerContext,
  ): Promise<boolean> {
    const is = async ({ topic, record }: Incoming): Promise<boolean> => {
      const outcome = topic === topics.approvals ? record.outcome : null;
      if (outcome?.approvalId !== approvalId) return false;
      return outcome.notTaken !== null || this.claims.isDecided(outcome);
    };
    return wasAnswered(message, { keys: [message.key, sessionId], is }, context, this.runtime);
  }

  /**
   * Whose decision it is: what its credential says, where an identity is configured, else what it says itself. Null:
   * it proves nothing.
   */
  private async decider({ decidedBy }: ApprovalDecided, message: Incoming<'agent.approvals'>): Promise<Decider | null> {
    const { identity } = this.runtime.configurations.current().configuration;
    if (identity.provider === 'none') return { actorId: decidedBy, tenantId: null };
    const sender = await this.authenticator.authenticate(
      identity,
      await this.runtime.credentials.of(message),
      trustedTimeOf(message),
    );
    if (!sender.ok) return null;
    const { actorId, tenantId } = sender.principal;
    return decidedBy === '' || decidedBy === actorId ? { actorId, tenantId } : null;
  }

  private async goOn(
    outcome: ApprovalOutcome,
    message: Incoming<'agent.approvals'>,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { metrics, log, bus } = this.runtime;
    const { approvalId } = outcome;
    const redriven = await redrivenFrom(message, context, this.runtime);
    const taken = await this.claims.decisionOn(approvalId);
    if (taken === null) throw new Fault('invalid_request', `The decision on ${approvalId} is not in the ledger.`, true);
    const owner = redriven?.owner ?? positionOf(message);
    const goesOn = taken === undefined ? null : await this.claims.goesOn(approvalId, owner);
    if (taken === undefined || goesOn?.isOwn !== true) {
      const why = taken === undefined ? 'no decision' : 'the run went on with another outcome';
      context.afterCommit(() => log.warn({ approval_id: approvalId, why }, 'dropped an outcome of an approval'));
      return [];
    }
    const requested = await approvalAt(bus, taken);
    const parked = requested === undefined ? undefined : await parkedTurn(requested, bus);
    if (requested === undefined || parked === undefined) {
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
    context.afterCommit(() => {
      const { decision, decidedBy } = taken;
      metrics.approvalsDecided.inc({ decision });
      log.info(
        { approval_id: approvalId, request_id: requested.requestId, decision, decided_by: decidedBy },
        'decided',
      );
    });
    const turn = { group: 'executor', message: parked, context };
    return inHop(this.runtime.traces, turn, (own) => this.executor.runTurn(attempt, requested.steps, own));
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
  return { requested: null, decided: null, outcome };
}
