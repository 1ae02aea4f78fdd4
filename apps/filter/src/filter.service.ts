import { Inject, Injectable } from '@nestjs/common';
import { clockSkewMs } from '@sluice/core';
import type { Authenticator, RunState } from '@sluice/core';
import { passedOnHeader, positionOf, requestIds, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { isCredentialGone } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  asDeadLettered,
  cancelOf,
  decideIteration,
  endedBy,
  endRun,
  isTurnClaimed,
  ledBySteps,
  loadedFor,
  namingTools,
  redrivenFrom,
  requestOwner,
  resumedRun,
  runOfRecord,
  signGrant,
  claimTurn,
  verified,
  verifyContinuation,
  verifyRecord,
  verifyReturned,
  wasHandled,
  topicOfRequest,
  withConditions,
} from '@sluice/run';
import type { EndedBy, Loaded, OfferedBefore, Origin, Redriven, RunIds } from '@sluice/run';
import { AUTHENTICATOR, RequestIntake, RunDecisions, RUNTIME, senderOf } from '@sluice/host';
import type { AcceptedRequest, Runtime } from '@sluice/host';
import { endOverdue, isOverdueTurn } from './overdue/end-overdue.js';

/** A run, and the record by which it may end here. */
interface About {
  readonly request: AgentRequest;
  readonly run: RunState | null;
  readonly by: EndedBy;
}

/** What an iteration is decided about. */
interface Decided extends About {
  readonly run: RunState;
  readonly before?: OfferedBefore | null;
  /** Absent where that has not been looked up yet. */
  readonly cancelled?: AcceptedRequest['cancelled'];
}

/** Decides, for each iteration of each run, which tools there are; ends the runs that have used up what they may. */
@Injectable()
export class FilterService {
  private readonly intake: RequestIntake;
  private readonly decisions: RunDecisions;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {
    this.intake = new RequestIntake(runtime, authenticator);
    this.decisions = new RunDecisions(runtime);
  }

  /** A new request; one that makes its call itself goes on to the executor, which decides about it and runs it. */
  async begin(message: Incoming<'agent.requests'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    if (topicOfRequest(message.record, this.runtime) === topics.calls && (await this.mayPassOn(message)))
      return this.passOn(message, context);
    const taken = await this.intake.take(message, context);
    if (taken.kind === 'over') return taken.outputs;
    const { ids, loaded, origin } = taken;
    return this.decide(ids, taken, loaded, context, origin);
  }

  /**
   * Not where its request_id was taken: by itself before a filter of a former version ended, or by another record, as
   * that which it was passed on as. Then nothing is passed on a second time. Nor where its credential ends before an
   * executor has it: this service goes by when the log took the request first.
   */
  private async mayPassOn(message: Incoming<'agent.requests'>): Promise<boolean> {
    if (isCredentialGone(message.headers)) return false;
    const sender = await senderOf(message, this.runtime, this.authenticator);
    if (sender.ok && (sender.expiresAt ?? Infinity) <= this.runtime.clock.now() + clockSkewMs) return false;
    const { requestId } = requestIds(message, message.record);
    const tenant = sender.ok ? sender.principal.tenantId : null;
    return (await requestOwner({ requestId, tenant }, this.runtime)) === null;
  }

  /** The request as it came, with its credential sealed to the executor. Its id is that of its place here. */
  private async passOn(message: Incoming<'agent.requests'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { credentials } = this.runtime;
    context.credentialUsed(null);
    const { authorization: _, ...headers } = message.headers;
    const record = { ...message.record, ...requestIds(message, message.record) };
    const written = { topic: topics.calls, record } as const;
    const sealed = await credentials.headersFor(written, await credentials.of(message), null);
    return [
      { ...written, key: record.sessionId, headers: { ...headers, [passedOnHeader]: positionOf(message), ...sealed } },
    ];
  }

  /** The next iteration of a run that the executor hands back. */
  async goOn(message: Incoming<'agent.steps'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record } = message;
    const loaded = loadedFor(this.runtime.configurations.current(), record.next);
    const redriven = await redrivenFrom(message, context, this.runtime);
    const wasLed = (iteration: number, run: RunState) => this.wasLed(message, iteration, run, context);
    if (redriven?.again) return this.decideAgain(message, redriven, loaded, context, wasLed);
    if (await isOverdueTurn(message, this.runtime)) return endOverdue(message, context, this.runtime);
    if (record.call !== null) {
      // Its run has ended with it. It is verified all the same: a forged one must show.
      await verifyRecord(message, this.runtime);
      return [];
    }
    await verified(redriven, async () => {
      await verifyContinuation(record, this.runtime);
      await verifyRecord(asDeadLettered(message, redriven), this.runtime);
    });
    const { requestId, sessionId, next } = record;
    const run = resumedRun({ run: record.run, asked: next }, redriven, loaded);
    // A call that its request makes itself may have begun without a Toolset, which the list could be named in.
    const before = next.call === null ? record : null;
    const about = { request: next, run, by: endedBy(message, run), before };
    const decided = this.decide({ requestId, sessionId }, about, loaded, context);
    // Side by side, since each waits for something else; if the turn was taken, nothing of the decision goes out.
    const [outputs, { isAgain }] = await Promise.all([decided, claimTurn(message, this.runtime, redriven?.owner)]);
    if (isAgain && (await wasLed(record.iteration + 1, run))) return [];
    return outputs;
  }

  /** Whether the turn’s end was handled before: the Toolset that it led to is on the log, or the run’s end. */
  private async wasLed(
    message: Incoming<'agent.steps'>,
    iteration: number,
    run: RunState,
    context: HandlerContext,
  ): Promise<boolean> {
    if (context.attempt > 1) return false;
    const { runtime } = this;
    const { record } = message;
    const isTaken = () => isTurnClaimed(topics.toolsets, { ...record, iteration, run }, runtime);
    const { sessionId } = record;
    const before = { message, run: runOfRecord(record), attempt: run.redrive, sessions: [sessionId], isTaken };
    return wasHandled({ ...before, led: ledBySteps(iteration) }, context, runtime);
  }

  /**
   * A turn that this service granted and the agent could not take: it is the same iteration, decided under today’s
   * configuration.
   */
  private async decideAgain(
    message: Incoming<'agent.steps'>,
    redriven: Redriven,
    loaded: Loaded,
    context: HandlerContext,
    wasLed: (iteration: number, run: RunState) => Promise<boolean>,
  ): Promise<readonly Outgoing[]> {
    const { record } = message;
    await verified(redriven, () => verifyReturned(record, this.runtime));
    const { requestId, sessionId, next } = record;
    const granted = { ...record.run, iteration: record.run.iteration - 1 };
    const run = resumedRun({ run: granted, asked: next }, redriven, loaded);
    if (await wasLed(record.iteration, run)) return [];
    return this.decide({ requestId, sessionId }, { request: next, run, by: endedBy(message, run) }, loaded, context);
  }

  private async decide(
    ids: RunIds,
    { request, run, by, before = null, ...about }: Decided,
    loaded: Loaded,
    context: HandlerContext,
    origin?: Origin,
  ): Promise<readonly Outgoing[]> {
    const { clock } = this.runtime;
    const { evaluator } = loaded;
    const { requestId } = ids;
    const [measured, cancelled] = await Promise.all([
      this.decisions.measure({ ids, request, run }, loaded),
      about.cancelled === undefined ? cancelOf({ requestId, run }, this.runtime) : about.cancelled,
    ]);
    const conditioned = withConditions(run, evaluator, measured, origin);
    const decided = this.decisions.timed(evaluator, () =>
      decideIteration(ids, request, conditioned, evaluator, clock.now(), cancelled),
    );
    if (decided.kind === 'end') return endRun(decided.response, request, by, context, this.runtime);

    const { decision } = decided;
    const isWhole = this.runtime.environment.toolsets === 'whole';
    const granted = isWhole ? decided.record : namingTools(decided.record, decision, evaluator, before);
    const record = await signGrant(granted, this.runtime);
    context.afterCommit(this.decisions.counting(decision, record));
    return [{ topic: topics.toolsets, key: ids.sessionId, record }];
  }
}
