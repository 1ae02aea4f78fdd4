import { Inject, Injectable } from '@nestjs/common';
import { approvalsMissing, deciderFor, rejectionReasons } from '@sluice/core';
import type { Decider, IdentitySettings, RejectionReason, Principal } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { ApprovalDecided, ApprovalRequested } from '@sluice/contracts';
import { ApprovalClaims, approvalRequestFor, judgeAtDoor } from '@sluice/run';
import type { ClaimedDecision } from '@sluice/run';
import { RUNTIME, RunWatch } from '@sluice/host';
import type { Followed, Runtime } from '@sluice/host';
import type { Caller } from './caller.js';
import { editedBy } from './edit-in-body.js';
import { Denials } from './denials.js';
import { Refusal } from './refusal.js';

/** The decision that counts. */
interface Outcome {
  readonly decision: string;
  readonly decided_by: string;
  readonly reason: string;
  /** How many approvals the call waits for behind this one. */
  readonly still_needed: number;
}

/** A decision, what it is on, and whose it is. */
export interface JudgedDecision {
  readonly decided: ApprovalDecided;
  readonly asked: ApprovalRequested;
  readonly decider: Decider;
  /** The outcome, where this very decision was taken before: a client may send it again. */
  readonly taken: Outcome | null;
}

const statuses: Readonly<Record<RejectionReason, number>> = {
  unknown_approval: 404,
  invalid_decision: 400,
  invalid_arguments: 400,
  other_arguments: 409,
  too_late: 409,
  not_authenticated: 403,
  not_for_person: 403,
  not_an_approver: 403,
  own_call: 403,
  already_decided: 409,
};

/**
 * Refuses a decision that cannot count before it is on the log, by the executor’s own rule. The executor still judges
 * what reaches the log, under the configuration that it has then.
 */
@Injectable()
export class Decisions {
  private readonly claims: ApprovalClaims;
  private readonly denials: Denials;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(RunWatch) private readonly watch: RunWatch,
  ) {
    this.claims = new ApprovalClaims(runtime);
    this.denials = new Denials(runtime);
  }

  /** The decision with what its approver changed the call’s arguments to; `args` are JSON text. */
  async withEdit(decided: ApprovalDecided, args: string | null): Promise<ApprovalDecided> {
    if (args === null) return decided;
    return editedBy(decided, args, await approvalRequestFor(decided, this.runtime.bus, this.claims));
  }

  /** Throws Refusal with the reason where the decision cannot count. */
  async judge(decided: ApprovalDecided, caller: Caller): Promise<JudgedDecision> {
    const { bus, clock, configurations } = this.runtime;
    const { configuration } = configurations.current();
    const facts = { bus, claims: this.claims, now: clock.now(), configuration };
    const verdict = await judgeAtDoor(decided, whoDecides(decided, caller, configuration.identity), facts);
    if (verdict.kind === 'refused')
      throw await this.refusal(verdict.reason, decided, verdict.asked, caller.principal, verdict.message);
    const { asked, decider } = verdict;
    return {
      decided,
      asked,
      decider,
      taken: verdict.kind === 'taken' ? outcomeOf(verdict.taken, await this.stillNeeded(asked, verdict.taken)) : null,
    };
  }

  /** How many approvals the call waits for still, where this was one of several. */
  private async stillNeeded(
    asked: ApprovalRequested,
    { decision }: Pick<ClaimedDecision, 'decision'>,
  ): Promise<number> {
    if (decision !== 'approve' || asked.rules.length === 0) return 0;
    if ((await this.claims.decisionOn(asked.approvalId)) !== undefined) return 0;
    const given = await this.claims.approvalsOf(asked.approvalId);
    return approvalsMissing(asked.rules, given);
  }

  /** Reads the run’s records from now on. */
  follow({ asked }: JudgedDecision): Followed {
    return this.watch.follow(asked, asked.tenantId);
  }

  /**
   * The outcome of the decision; null if none comes in so many milliseconds. Throws Refusal where another one was
   * first.
   */
  async outcome(
    judged: JudgedDecision,
    caller: Principal,
    followed: Followed,
    milliseconds: number,
  ): Promise<Outcome | null> {
    const { asked, decided, decider } = judged;
    for (const until = performance.now() + milliseconds; ;) {
      const left = until - performance.now();
      const message = left <= 0 ? undefined : await followed.next(left);
      if (message === undefined || message === null) return null;
      const outcome = message.topic === topics.approvals ? message.record.outcome : null;
      if (outcome?.approvalId !== asked.approvalId) continue;
      const { decision, decidedBy: decided_by, reason, notTaken, stillNeeded: still_needed } = outcome;
      const isOwn = decision === decided.decision && decided_by === decider.actorId;
      if (notTaken !== null) {
        if (isOwn && Object.hasOwn(rejectionReasons, notTaken))
          throw await this.refusal(notTaken as RejectionReason, decided, asked, caller);
      } else if (await this.claims.isDecided(outcome)) {
        if (isOwn) return { decision, decided_by, reason, still_needed };
        // Another person’s approval of several.
        if (still_needed > 0) continue;
        throw await this.refusal('already_decided', decided, asked, caller);
      }
    }
  }

  /** Counts and logs in the executor’s place; an attempt that is not permitted is written to the log for the audit. */
  private async refusal(
    reason: RejectionReason,
    { approvalId, requestId, sessionId, decision }: ApprovalDecided,
    asked: ApprovalRequested | null,
    { tenantId, actorId, subjectId, groups: permittedGroups }: Principal,
    detail: string = rejectionReasons[reason],
  ): Promise<Refusal> {
    const { metrics, log, clock, configurations } = this.runtime;
    metrics.approvalsNotTaken.inc({ reason });
    const about = { approval_id: approvalId, request_id: asked?.requestId ?? requestId, decision };
    log.warn({ ...about, decided_by: actorId, tenant: tenantId, reason }, 'a decision on an approval does not count');
    const code = 'decision_not_taken';
    const status = statuses[reason];
    if (status === 403)
      await this.denials.write({
        ...{ route: 'POST /v1/approvals', code, reason: detail, kind: 'approval', requestId, sessionId },
        ...{ tenantId, actorId, subjectId, permittedGroups, requestedGroups: [], refusedGroups: [], state: '' },
        ...{ configVersion: configurations.current().configuration.version, at: clock.now() },
      });
    return new Refusal(status, code, detail, {}, { not_taken: reason });
  }
}

/**
 * Whose decision it is: the caller’s, who may leave out its name, or that of the person for whom a service decides;
 * without an identity, in any approver’s name.
 */
export function whoDecides(
  { decidedBy, decidedFor = null }: Pick<ApprovalDecided, 'decidedBy'> & Partial<Pick<ApprovalDecided, 'decidedFor'>>,
  { decider, principal: { actorId, tenantId } }: Caller,
  identity: IdentitySettings,
): { readonly decider: Decider | null; readonly tenantId: string | null } {
  const forPerson = (own: Decider) => (decidedFor === null ? own : deciderFor(own, decidedFor));
  if (identity.provider === 'none')
    return { decider: forPerson({ actorId: decidedBy, tenantId: null }), tenantId: null };
  const isOwn = ['', actorId].includes(decidedBy);
  return { decider: isOwn ? forPerson(decider) : null, tenantId };
}

function outcomeOf(
  { decision, decidedBy, reason }: Pick<ClaimedDecision, 'decision' | 'decidedBy' | 'reason'>,
  waits: number,
): Outcome {
  return { decision, decided_by: decidedBy, reason, still_needed: waits };
}
