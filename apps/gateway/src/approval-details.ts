import { Inject, Injectable } from '@nestjs/common';
import { mayReadCalls } from '@sluice/core';
import type { Configuration, Policy, Principal } from '@sluice/core';
import { authorizers } from '@sluice/authorization';
import { recordToJson, topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import { recordAt, skipUndecodable } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import { ApprovalClaims, approvalView, outcomeOfCall, parkedTurn, shownSteps } from '@sluice/run';
import type { MayRead } from '@sluice/run';
import { Busy, isSame, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Lists } from './lists/lists.js';
import { approvalsGiven, progressOf } from './approval-progress.js';
import type { ApprovalProgress } from './approval-progress.js';
import type { Caller } from './caller.js';
import { decisionsOf, mayDecide } from './open-decisions.js';
import { Refusal } from './refusal.js';

/** Readings at a time: each goes through a piece of the log. */
const mostReadings = 16;

/** One approval as who may decide on it sees it, before the decision and behind it (docs/approvals.md). */
@Injectable()
export class ApprovalDetails {
  private readonly claims: ApprovalClaims;
  private readonly authorizer: ReturnType<typeof authorizers>;
  private readings = 0;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {
    this.claims = new ApprovalClaims(runtime);
    this.authorizer = authorizers((variable) => runtime.environment.secret(variable));
  }

  /** Throws Refusal(404) where there is no such approval, and for who may not decide on it. */
  async of(approvalId: string, caller: Caller, signal: AbortSignal): Promise<object> {
    const { bus, clock, configurations } = this.runtime;
    const { configuration } = configurations.current();
    // Who is no approver does not learn whether there is one.
    if (!mayDecide(caller, configuration)) throw noApproval();
    const claimed = await this.claims.decisionOn(approvalId);
    const message = await this.request(approvalId, claimed ?? null, caller.principal);
    const requested = message?.record.requested ?? null;
    if (message === null || requested === null || requested.question !== null) throw noApproval();
    const given = await approvalsGiven(approvalId, requested, this.claims);
    const open = decisionsOf(caller, requested, configuration, clock.now(), given);
    if (open.length === 0) throw noApproval();

    const turn = await parkedTurn(requested, bus);
    const judges = await this.judgesOf(requested);
    const mayRead = this.reader(caller.principal, turn?.record.run.principal ?? null, configuration);
    const view = await approvalView(requested, turn?.record ?? null, judges, mayRead);
    const isDecided = claimed !== undefined;
    const outcome = isDecided ? await this.outcome(requested, message.timestamp, signal) : null;
    const step = outcome?.step ?? null;
    const [call = null] = step === null ? [] : await shownSteps([step], judges, mayRead);
    const { policy } = configuration;
    const progress = progressOf(requested, given, policy, clock.now());
    const decision = claimed ?? null;
    return {
      approval: asListed(requested, message),
      decisions: isDecided || requested.expiresAt <= clock.now() ? [] : open,
      question: view.question,
      tool: { key: view.tool.key, description: view.tool.description, input_schema: view.tool.inputSchema },
      arguments: view.arguments,
      asked_because: view.rule,
      holds: 'once',
      approvers: approversOf(progress, policy),
      progress: isDecided ? { ...progress, still_needed: 0 } : progress,
      requester_may_not_approve: policy.requesterMayNotApprove,
      steps_before: view.stepsBefore,
      decision:
        decision === null
          ? null
          : { decision: decision.decision, decided_by: decision.decidedBy, reason: decision.reason, still_needed: 0 },
      decided_at: outcome?.outcome?.at ?? null,
      call,
      run_ended: outcome?.runEnded ?? null,
    };
  }

  /** What an executor asked under this id, in the caller’s tenant; null for nothing. */
  async waiting(approvalId: string, caller: Principal): Promise<Incoming<'agent.approvals'> | null> {
    const place = (await this.claims.decisionOn(approvalId)) ?? (await this.claims.placeOf(approvalId));
    return this.request(approvalId, place ?? null, caller);
  }

  private async request(
    approvalId: string,
    claimed: { readonly partition: number; readonly offset: number } | null,
    caller: Principal,
  ): Promise<Incoming<'agent.approvals'> | null> {
    const waiting = claimed === null ? await this.lists.projection.approval(caller, approvalId) : undefined;
    const position =
      claimed ??
      (waiting === undefined
        ? null
        : { partition: waiting.asked.requested_partition, offset: waiting.asked.requested_offset });
    if (position === null) return null;
    const found = await recordAt(this.runtime.bus, topics.approvals, position, skipUndecodable);
    const requested = found?.record.requested;
    if (found === undefined || requested?.approvalId !== approvalId) return null;
    return requested.tenantId === caller.tenantId && (await this.claims.isVouched(requested)) ? found : null;
  }

  /** The configurations that asked, as far as they can be read; else the one in force. */
  private async judgesOf({ configVersion, inForceVersion }: ApprovalRequested): Promise<readonly Configuration[]> {
    const { configurations } = this.runtime;
    const versions = [...new Set([configVersion, inForceVersion])].filter((version) => version !== '');
    const found = await Promise.all(versions.map((version) => configurations.version(version).catch(() => null)));
    const judges = found.flatMap((loaded) => (loaded === null ? [] : [loaded.configuration]));
    return judges.length > 0 ? judges : [configurations.current().configuration];
  }

  /** A run’s own caller reads all of it, others what they could have called themselves. */
  private reader(caller: Principal, owner: Principal | null, configuration: Configuration): MayRead {
    if (owner !== null && isSame(owner, caller)) return () => Promise.resolve(true);
    const authorizer = this.authorizer(configuration);
    return (tool) => mayReadCalls(tool, caller, configuration, authorizer);
  }

  private async outcome(requested: ApprovalRequested, since: number, signal: AbortSignal) {
    if (this.readings >= mostReadings)
      throw new Busy('This gateway looks for the outcomes of other approvals. Try again in a moment.');
    this.readings++;
    try {
      const { bus, signatures } = this.runtime;
      return await outcomeOfCall(requested, since, bus, { signatures, claims: this.claims }, signal);
    } finally {
      this.readings--;
    }
  }
}

/** As the list has it, so that a decision can be made of it. */
function asListed(requested: ApprovalRequested, { partition, offset }: Incoming): object {
  const {
    steps: _,
    question: __,
    ...asked
  } = recordToJson('ApprovalRequested', requested) as Readonly<Record<string, unknown>>;
  return { ...asked, requested_partition: partition, requested_offset: offset };
}

/** Who may decide now, by any of the rules. */
function approversOf({ rules }: ApprovalProgress, { approvers }: Pick<Policy, 'approvers'>): readonly string[] {
  return rules.length === 0 ? approvers : [...new Set(rules.flatMap((rule) => rule.approvers))];
}

function noApproval(): Refusal {
  return new Refusal(
    404,
    'not_found',
    'There is no such approval for you to decide on, or it is gone. GET /v1/approvals lists those that wait for you.',
  );
}
