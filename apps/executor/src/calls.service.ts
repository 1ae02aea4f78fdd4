import { Inject, Injectable } from '@nestjs/common';
import { Fault } from '@sluice/core';
import type { Authenticator, Step } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentResponse, CallDecision, ToolCall } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  callResult,
  cancelOf,
  claimedName,
  decideCall,
  endOfCall,
  endRun,
  endRunWith,
  loadedFor,
  OwnCalls,
  runOfRecord,
  signCall,
  signCallTurn,
  withConditions,
} from '@sluice/run';
import type { KeptDecision, Loaded, TurnEnd } from '@sluice/run';
import { AUTHENTICATOR, RequestIntake, RunDecisions, RUNTIME } from '@sluice/host';
import type { Runtime, AcceptedRequest } from '@sluice/host';
import { measureSteps } from './step-metrics.js';
import { Toolbox } from './toolbox.js';
import { Turn } from './turn.js';

/**
 * Runs requests that make one call themselves, from the request to its end in one hop: no model speaks, so no filter
 * has to hold one to what it granted. The decision, the checks and the run of the call are those of any other.
 */
@Injectable()
export class CallsService {
  private readonly intake: RequestIntake;
  private readonly decisions: RunDecisions;
  private readonly own: OwnCalls;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Toolbox) private readonly toolbox: Toolbox,
    @Inject(AUTHENTICATOR) authenticator: Authenticator,
  ) {
    this.own = new OwnCalls(runtime);
    this.intake = new RequestIntake(runtime, authenticator);
    this.decisions = new RunDecisions(runtime);
  }

  async call(message: Incoming<'agent.calls'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { runtime } = this;
    if (!runtime.signatures.canSign('call')) throw new Fault('invalid_request', noKey, false);
    if (message.record.call === null) throw new Fault('invalid_request', noCall, false);
    const taken = await this.intake.take(message, context);
    if (taken.kind === 'over') return taken.outputs;
    const { ids, request, run, asker, by, loaded, isAgain, kept } = taken;
    const { evaluator } = loaded;
    const { at, measured, origin, cancelled, lookedAt } = await this.inputs(taken);
    const conditioned = withConditions(run, evaluator, measured, origin);
    const decided = this.decisions.timed(evaluator, () =>
      decideCall(ids, request, conditioned, evaluator, at, cancelled),
    );
    if (decided.kind === 'end') return endRun(decided.response, request, by, context, runtime);
    const { turn: record, toolset, decision } = decided;
    context.afterCommit(this.decisions.counting(decision, toolset));

    const inForce = loadedFor(runtime.configurations.current(), request);
    const name = await claimedName(runOfRecord(record), runtime);
    const keeping = { at, configVersion: record.configVersion, asker, measured, origin };
    const keep = async (): Promise<void> => {
      if (kept !== null) return;
      const { own } = this;
      // By the request as well: its credential may count no longer when the next attempt asks whose call this is.
      await Promise.all([own.keepDecision(runOfRecord(record), keeping), own.keepAsker(message, asker)]);
    };
    const own = { keep, lookedAt };
    const turn = new Turn(record, name, isAgain, context, loaded, inForce, this.toolbox, runtime, null, own);
    const end = await turn.run([], new Map());
    if (end.kind !== 'ended') return this.wait(message, record, end, decided.decided);
    context.afterCommit(measureSteps(record, end.steps, loaded, turn.begunBefore, runtime));
    return this.end(taken, record, end, decided.decided, inForce, context);
  }

  /** What the call is decided by: as an attempt before had it that began to act, else as it is now. */
  private async inputs(
    taken: AcceptedRequest,
  ): Promise<Pick<KeptDecision, 'at' | 'measured' | 'origin'> & Pick<AcceptedRequest, 'cancelled' | 'lookedAt'>> {
    // The call itself says whether it is cancelled, since it may have begun.
    if (taken.kept !== null) return { ...taken.kept, cancelled: null, lookedAt: -Infinity };
    const measured = await this.decisions.measure(taken, taken.loaded);
    const { origin, cancelled, lookedAt } = taken;
    return { at: this.runtime.clock.now(), measured, origin, cancelled, lookedAt };
  }

  /**
   * A call that waits, for an approval, an answer of its caller or an agent, goes the way of a turn from here on: it
   * waits on the log, and the filter ends its run.
   */
  private async wait(
    message: Incoming<'agent.calls'>,
    record: ToolCall,
    end: Exclude<TurnEnd, { readonly kind: 'ended' }>,
    decision: CallDecision,
  ): Promise<readonly Outgoing[]> {
    // With this record’s commit its credential goes, and the filter watches the run by its request.
    if (record.run.principal !== null) await this.own.keepAsker(message, record.run.principal);
    if (end.kind === 'parked' && end.parked.kind === 'approval') {
      const { asking } = end.parked;
      await this.own.keepWait(runOfRecord(record), { asking, startedAt: end.startedAt });
    }
    const turn = await signCallTurn({ ...record, call: decision }, this.runtime);
    return [{ topic: topics.toolCalls, key: record.sessionId, record: turn }];
  }

  /** The one record of decision, call and step, and the run’s end beside it. */
  private async end(
    { request, by }: AcceptedRequest,
    record: ToolCall,
    { steps, turn }: TurnEnd & { readonly kind: 'ended'; readonly steps: readonly Step[] },
    decision: CallDecision,
    inForce: Loaded,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { runtime } = this;
    const result = callResult(record, steps, turn, inForce.configuration.version, decision);
    const respond = async (): Promise<AgentResponse> => {
      const cancelled = await cancelOf(record, runtime);
      return endOfCall(result, inForce.configuration, runtime.clock.now(), cancelled);
    };
    // Each is a round trip to the database, and neither needs what the other finds.
    const [signed, ends] = await Promise.all([
      signCall(result, runtime),
      endRunWith(result, respond, request, by, context, runtime),
    ]);
    return [{ topic: topics.steps, key: result.sessionId, record: signed }, ...ends];
  }
}

const noCall = 'The request makes no call. Write it to agent.requests, or name the tool and its arguments in `call`.';
const noKey =
  'The keys have none for calls. Write the request to agent.requests, or give the installation such keys with `sluice keys rotate`.';
