import { Inject, Injectable } from '@nestjs/common';
import { Fault, mayCancelRunsOf } from '@sluice/core';
import type { Authenticator, Principal } from '@sluice/core';
import { longestId, topics } from '@sluice/contracts';
import type { Cancellation, RequestTopic } from '@sluice/contracts';
import { isCredentialGone, senderHeader } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  cancelForCaller,
  cancelRun,
  hasEnded,
  longestCancelReason,
  claimingRequest,
  senderName,
  wasAnswered,
} from '@sluice/run';
import type { NotCancelled } from '@sluice/run';
import { AUTHENTICATOR, RUNTIME, senderOf, VerifiedCallers } from '@sluice/host';
import type { Runtime } from '@sluice/host';

/**
 * Takes cancellations from callers: marks the run, and says on the log who did. The services that have the run look
 * for the mark.
 */
@Injectable()
export class CancellationsService {
  private readonly callers: VerifiedCallers;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {
    this.callers = new VerifiedCallers(runtime, authenticator);
  }

  async take(message: Incoming<'agent.cancellations'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record, key } = message;
    // What the filter itself wrote, or a copy of that: nothing is done by it.
    if (record.outcome !== null) return [];
    requireValid(record);
    const { requestId, reason } = record;
    if (await this.hasOutcome(message, context)) return [];
    const { clock, log, metrics } = this.runtime;
    const sender = await senderOf(message, this.runtime, this.authenticator);
    const caller = sender.ok ? sender.principal : null;
    context.credentialUsed(caller === null ? null : senderName(caller));
    const judged = caller === null ? ({ reason: 'not_authenticated' } as const) : await this.judge(record, caller);
    const notTaken = judged.reason;
    // Of a run that has ended too: it may have ended with a dead letter, and a redrive of it is not wanted either.
    if (caller !== null && !isForeign(notTaken)) {
      const run = { requestId, tenant: caller.tenantId };
      if (judged.forItsCaller === true) await cancelForCaller(run, caller, reason, this.runtime);
      else await cancelRun(requestId, caller, reason, this.runtime);
    }
    const { actorId, tenantId } = caller ?? { actorId: '', tenantId: '' };
    context.afterCommit(() => {
      const about = { request_id: requestId, actor: actorId, tenant: tenantId };
      metrics.cancellations.inc({ outcome: notTaken ?? 'cancelled' });
      if (notTaken === null) log.info(about, 'a run is cancelled');
      else log.warn({ ...about, reason: notTaken }, 'a cancellation does not count');
    });
    const outcome = { actorId, tenantId, notTaken, at: clock.now() };
    return [{ topic: topics.cancellations, key, record: { ...record, sessionId: record.sessionId || key, outcome } }];
  }

  /** Whether the outcome of this cancellation is on the log: it came again. */
  private hasOutcome(message: Incoming<'agent.cancellations'>, context: HandlerContext): Promise<boolean> {
    const { requestId, reason, askedAt } = message.record;
    const is = ({ topic, record }: Incoming): Promise<boolean> =>
      Promise.resolve(
        topic === topics.cancellations &&
          record.outcome !== null &&
          record.requestId === requestId &&
          record.reason === reason &&
          record.askedAt === askedAt,
      );
    return wasAnswered(message, { keys: [message.key], is }, context, this.runtime);
  }

  /** Why it does not count, null if it does, and whether the run is another caller’s, for whom this one may cancel. */
  private async judge({ requestId, mustExist }: Cancellation, caller: Principal): Promise<Judged> {
    const run = { requestId, tenant: caller.tenantId };
    const request = await claimingRequest(run, this.runtime);
    if (request === null) return { reason: mustExist ? 'no_such_run' : null };
    // As far as it can be read; the mark of another caller would count for nothing.
    const isOwn = isNameless(request) || (await this.callers.isSender(caller, request));
    const { configuration } = this.runtime.configurations.current();
    if (!isOwn && !mayCancelRunsOf(request.record, caller, configuration)) return { reason: 'not_its_caller' };
    const hasCome = await hasEnded({ ...run, attempt: null }, this.runtime);
    return { reason: hasCome ? 'ended' : null, forItsCaller: !isOwn };
  }
}

interface Judged {
  readonly reason: NotCancelled | null;
  readonly forItsCaller?: boolean;
}

/** No mark is set then. */
function isForeign(reason: NotCancelled | null): boolean {
  return reason === 'not_its_caller' || reason === 'no_such_run';
}

/** A request that a former version handled, whose credential was blanked afterwards. */
function isNameless({ headers }: Incoming<RequestTopic>): boolean {
  return isCredentialGone(headers) && headers[senderHeader] === undefined;
}

function requireValid({ requestId, sessionId, reason }: Cancellation): void {
  const problem =
    requestId === '' || requestId.length > longestId
      ? `request_id must name the run, in 1 to ${longestId} characters.`
      : sessionId.length > longestId
        ? `session_id must have at most ${longestId} characters.`
        : reason.length > longestCancelReason
          ? `reason must have at most ${longestCancelReason} characters.`
          : null;
  if (problem !== null) throw new Fault('invalid_request', problem, false);
}
