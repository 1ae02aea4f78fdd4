import { claimMemoryMs, isClientTool, lateRecordMs, onExpiryOf, rulesInForce } from '@sluice/core';
import { make, sha256, topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import {
  answeredMeanwhile,
  approvalAt,
  ApprovalClaims,
  CallerForms,
  ClientCalls,
  cancelledMeanwhile,
  CountingApprovals,
  formGone,
  OpenApprovals,
  runsAtExpiry,
} from '@sluice/run';
import type { ApprovalPosition, ClaimedDecision, NamedRun } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { CancelledWaits } from './cancelled-waits.js';

/** How often it looks, in milliseconds. */
const everyMs = 5_000;
/** Who says that time ran out, or that no approval is needed any more. */
export const executorPrincipal = 'service:executor';

interface Waiting extends ApprovalPosition {
  readonly requestId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly rules: ApprovalRequested['rules'];
  /** The run whose caller is to answer; null where an approval is waited for. */
  readonly asking: NamedRun | null;
}

/**
 * Refuses the calls without a decision in time, or lets them run where their rules say so, refuses those whose run is
 * cancelled, and says when others may decide on one too. What is open is read off the log
 * at the start, so that a restart forgets nothing, and then what was added; the ledger says which records are
 * executors’ own. Any number of executors may look, and the ledger says who was first.
 */
export class ExpirySweep {
  private readonly claims: ApprovalClaims;
  private readonly approvals: OpenApprovals<Waiting>;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void>;
  private since: number;
  /** Of what was open the last time, whether its turn has gone on: the ledger is asked once. */
  private goneOn: ReadonlyMap<string, boolean> = new Map();
  /** Escalations of what is open that were said. */
  private escalated: ReadonlySet<string> = new Set();

  constructor(private readonly runtime: Runtime) {
    this.claims = new ApprovalClaims(runtime);
    const counting = new CountingApprovals(this.claims);
    this.approvals = new OpenApprovals(runtime.bus, (message) => counting.counts(message), kept);
    this.since = runtime.clock.now() - claimMemoryMs;
    this.looking = this.look();
  }

  async close(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.looking;
  }

  private async look(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      const message = 'open approvals could not be looked at; trying again';
      this.runtime.log.warn({ error: (error as Error).message }, message);
    }
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.looking = this.look();
    }, everyMs);
  }

  private async sweep(): Promise<void> {
    const { clock, metrics } = this.runtime;
    const now = clock.now();
    const { signal } = this.stopping;
    await this.approvals.read(this.since, signal);
    if (signal.aborted) return;
    const open = await this.waiting(this.approvals.open);
    const all = [...open.values()];
    const approvals = all.filter(({ asking }) => asking === null);
    metrics.approvalsWaiting.set(approvals.length);
    metrics.mcpQuestionsWaiting.set(all.filter(({ asking, tool }) => asking !== null && !isClientTool(tool)).length);
    metrics.approvalsOldest.set((now - oldestOf(approvals, now)) / 1_000);
    const oldest = oldestOf(all, now);
    const cancelled = await CancelledWaits.since(Math.max(this.since, oldest - lateRecordMs), this.runtime, signal);
    if (!this.approvals.isFull) this.since = now - lateRecordMs;
    for (const [approvalId, waiting] of open) {
      if (signal.aborted) return;
      const early = (await cancelled.has(waiting)) ? cancelledMeanwhile : await this.endOfForm(approvalId, waiting);
      if (early !== null) await this.expire(approvalId, waiting, now, early);
      else if (waiting.expiresAt <= now) await this.expire(approvalId, waiting, now);
    }
    await this.escalate(open, now);
  }

  /** Says of each call since when others may decide on it too; that they may, the time itself says. */
  private async escalate(open: ReadonlyMap<string, Waiting>, now: number): Promise<void> {
    const { bus, configurations, log, metrics } = this.runtime;
    const { policy } = configurations.current().configuration;
    const said = new Set<string>();
    for (const [approvalId, waiting] of open) {
      if (waiting.rules.length === 0 || waiting.expiresAt <= now) continue;
      for (const { name: rule, escalatesAt, escalateTo: to } of rulesInForce(waiting, policy)) {
        if (escalatesAt === null || escalatesAt > now) continue;
        const key = JSON.stringify([approvalId, rule]);
        said.add(key);
        if (this.escalated.has(key) || (await this.claims.hasEscalated(approvalId, rule))) continue;
        if (!(await this.claims.seesTo(key, this.owner(now)))) continue;
        const { requestId, sessionId, tool } = waiting;
        const escalated = { approvalId, requestId, sessionId, tool, rule, to, at: escalatesAt };
        await this.claims.escalate(escalated);
        await bus.publish([{ topic: topics.approvals, key: sessionId, record: make.approval({ escalated }) }]);
        await this.claims.settleEscalation(escalated);
        metrics.approvalsEscalated.inc({ rule });
        log.info({ approval_id: approvalId, request_id: requestId, rule, to }, 'others may decide on a call too');
      }
    }
    this.escalated = said;
  }

  private owner(now: number): string {
    return `${this.runtime.environment.instance}/${now}`;
  }

  /**
   * Why a call waits for its caller no longer, before its time: the decision that says so is lost where the door ended
   * before it was published, and no door can publish it once the form is gone.
   */
  private async endOfForm(approvalId: string, { asking, timestamp, tool }: Waiting): Promise<string | null> {
    if (asking === null || timestamp > this.runtime.clock.now() - everyMs) return null;
    if (isClientTool(tool)) {
      const wait = await new ClientCalls(this.runtime).find(asking, approvalId);
      return wait !== null && wait.results === null ? null : wait === null ? formGone : answeredMeanwhile;
    }
    const parked = await new CallerForms(this.runtime).parked(asking);
    if (parked === null) return formGone;
    return parked.answer === null ? null : answeredMeanwhile;
  }

  /**
   * Without those whose outcome stands on the log before what was read: what asks for them behind it is a copy. Of one
   * that is older than what the ledger remembers nothing can be said.
   */
  private async waiting(open: Map<string, Waiting>): Promise<ReadonlyMap<string, Waiting>> {
    const goneOn = new Map<string, boolean>();
    for (const [approvalId, { timestamp }] of open) {
      if (timestamp <= this.runtime.clock.now() - claimMemoryMs) open.delete(approvalId);
      else goneOn.set(approvalId, this.goneOn.get(approvalId) ?? (await this.claims.hasGoneOn(approvalId)));
    }
    this.goneOn = goneOn;
    return new Map([...open].filter(([approvalId]) => goneOn.get(approvalId) === false));
  }

  /**
   * Says that it is over. If a decision came in time and no outcome followed it, since the record of the decision is
   * among the dead letters, this outcome takes its place: the run goes on once in any case.
   */
  private async expire(
    approvalId: string,
    { partition, offset }: ApprovalPosition,
    now: number,
    why = '',
  ): Promise<void> {
    const { bus, log } = this.runtime;
    if (!(await this.claims.seesTo(approvalId, this.owner(now)))) return;
    const requested = await approvalAt(bus, { partition, offset });
    if (requested === undefined || !(await this.claims.isVouched(requested))) {
      log.warn({ approval_id: approvalId, partition, offset }, 'no executor asked for this approval; it is left alone');
      return;
    }
    const { policy, version } = this.runtime.configurations.current().configuration;
    const isRun = why === '' && onExpiryOf(rulesInForce(requested, policy)) === 'run';
    const expired: ClaimedDecision = {
      decision: isRun ? 'run' : 'expire',
      decidedBy: executorPrincipal,
      reason: isRun ? runsAtExpiry(requested.rules) : why,
      ...{ partition, offset, bound: requested.bound },
      counted: { decidedFor: null, decidedThrough: null, rules: [], approvedBy: [], decidedAs: [] },
    };
    const { taken } = await this.claims.decide(approvalId, executorPrincipal, expired);
    const { requestId, sessionId, argumentsHash } = requested;
    const { decision, decidedBy, reason, edited = null, counted = {} } = taken ?? expired;
    const ids = { approvalId, requestId, sessionId, argumentsHash };
    const outcome = make.approvalOutcome({
      ...ids,
      ...{ decision, decidedBy, reason, ...counted, at: now, configVersion: version },
      editedArguments: edited,
      editedHash: edited === null ? null : sha256(edited),
    });
    await bus.publish([{ topic: topics.approvals, key: sessionId, record: make.approval({ outcome }) }]);
  }
}

function oldestOf(waiting: readonly Waiting[], now: number): number {
  return Math.min(now, ...waiting.map(({ timestamp }) => timestamp));
}

function kept(requested: ApprovalRequested, position: ApprovalPosition): Waiting {
  const { requestId, sessionId, tenantId: tenant, tool, requestedAt, expiresAt, rules, question } = requested;
  const asking = question === null ? null : { requestId, tenant };
  return { ...position, requestId, sessionId, tool, requestedAt, expiresAt, rules, asking };
}
