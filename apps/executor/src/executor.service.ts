import { Inject, Injectable } from '@nestjs/common';
import { Fault, isClientTool } from '@sluice/core';
import type { Step } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentStepResult, ToolCall } from '@sluice/contracts';
import {
  agentRunIdOf,
  asDeadLettered,
  attemptKept,
  callKeyOf,
  claimedName,
  hasEnded,
  isTurnClaimed,
  loadedFor,
  OwnCalls,
  ledByTurn,
  redrivenBefore,
  redrivenFrom,
  resumedRun,
  runOfRecord,
  signContinuation,
  stepResult,
  claimTurn,
  turnAfter,
  verified,
  verifyGrant,
  verifyRecord,
  wasHandled,
} from '@sluice/run';
import type { Attempt, KeptWait, Redriven } from '@sluice/run';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { measureSteps } from './step-metrics.js';
import { handOver } from './agents/hand-over.js';
import type { AllReturned } from './agents/returned.js';
import { park } from './approvals/park.js';
import { showClient } from './approvals/show-client.js';
import { Toolbox } from './toolbox.js';
import { Turn } from './turn.js';
import type { Resumed } from './turn.js';

/** How a turn goes on. */
interface GoingOn {
  readonly returned?: AllReturned;
  readonly isAgain?: boolean;
  readonly resumed?: Resumed | null;
  /** Approvals that were asked for in this turn before. */
  readonly askedBefore?: readonly string[];
}

/** Turns calls into steps, one after another: the only service that runs tools. */
@Injectable()
export class ExecutorService {
  private readonly own: OwnCalls;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Toolbox) private readonly toolbox: Toolbox,
  ) {
    this.own = new OwnCalls(runtime);
  }

  async execute(message: Incoming<'agent.tool-calls'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const redriven = await redrivenFrom(message, context, this.runtime);
    const grant = await verified(redriven, async () => {
      const found = await verifyGrant(message.record, this.runtime);
      await verifyRecord(asDeadLettered(message, redriven), this.runtime);
      return found;
    });
    await this.requireOwnCall(message.record);
    const { takenAt, isAgain } = await claimTurn(message, this.runtime, redriven?.owner);
    const turn = this.anotherAttempt(message, redriven);
    if (isAgain && context.attempt === 1 && (await this.wasHandled(message, turn, 0, context))) return [];
    // A turn that was taken in time may have done things: it is gone through again, and finds their outcomes.
    if (grant === 'expired' && (await verifyGrant(message.record, this.runtime, takenAt)) === 'expired')
      return (await this.isOver(turn.record, context)) ? [] : this.backToFilter(turn.record, context);
    const wait = turn.record.request.call === null ? null : await this.own.wait(runOfRecord(turn.record));
    // An executor has found that the call waits, and handed it over for that.
    if (wait !== null) return this.parkOwn(turn, wait, context);
    return this.runTurn(turn, [], context, { isAgain });
  }

  /**
   * A turn that the key for calls granted is the call of its request and no other, of the tool that the request names.
   * Throws Fault('grant_invalid').
   */
  private async requireOwnCall(record: ToolCall): Promise<void> {
    const { configurations, signatures } = this.runtime;
    const { request, configVersion, calls, grant } = record;
    if (request.call === null || (await signatures.verify('call', grant)) === null) return;
    const { evaluator } = loadedFor(await configurations.version(configVersion), request);
    const { tool } = request.call;
    if (calls[0]?.tool === (evaluator.tool(tool)?.id ?? tool)) return;
    throw new Fault('grant_invalid', 'The turn calls another tool than its request, and no filter granted it.', false);
  }

  private async parkOwn(
    message: Incoming<'agent.tool-calls'>,
    { asking, startedAt: askedAt }: KeptWait,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { record } = message;
    const { configurations } = this.runtime;
    const granting = loadedFor(await configurations.version(record.configVersion), record.request);
    const judges = [granting, loadedFor(configurations.current(), record.request)];
    const place = { index: 0, asking, askedAt, ahead: [], before: [] };
    return park(message, place, [], judges, context, this.runtime);
  }

  /** Whether the turn went on from the call at `from` before, by this record. */
  wasHandled(
    by: Incoming,
    turn: Incoming<'agent.tool-calls'>,
    from: number,
    context: HandlerContext,
  ): Promise<boolean> {
    const { record } = turn;
    const isTaken = () => isTurnClaimed(topics.steps, record, this.runtime);
    const sessions = [record.sessionId, ...record.calls.map((call, index) => agentRunIdOf(record, call, index))];
    const run = { run: runOfRecord(record), attempt: record.run.redrive, sessions };
    return wasHandled({ message: by, ...run, isTaken, led: ledByTurn(turn, from) }, context, this.runtime);
  }

  /**
   * A parked turn as it goes on: in the attempt that what brought it back was re-driven as, else in the one that it
   * was parked in.
   */
  async cameBack(
    parked: Incoming<'agent.tool-calls'>,
    wait: string,
    redriven: Redriven | null,
  ): Promise<Incoming<'agent.tool-calls'>> {
    const { runtime } = this;
    const attempt = redriven ?? (await attemptKept(wait, runtime)) ?? (await redrivenBefore(parked, runtime));
    return this.anotherAttempt(parked, attempt);
  }

  /** The turn with the time of another attempt if it was re-driven, else as it is. */
  private anotherAttempt(message: Incoming<'agent.tool-calls'>, attempt: Attempt | null): Incoming<'agent.tool-calls'> {
    if (attempt === null) return message;
    const { run, request: asked } = message.record;
    const record = {
      ...message.record,
      run: resumedRun({ run, asked }, attempt, loadedFor(this.runtime.configurations.current(), asked)),
    };
    return { ...message, record };
  }

  /**
   * Runs a turn's calls one after another, behind those that are done. One that needs an approval parks the turn:
   * there is no result yet. Nor is there of one that runs as an agent; where it `returned`, the turn goes on with
   * what that said. The grant was verified when the turn was taken; how long a call then waits is not its expiry's
   * affair. `isAgain` is false where no attempt went before.
   */
  async runTurn(
    message: Incoming<'agent.tool-calls'>,
    done: readonly Step[],
    context: HandlerContext,
    { returned = new Map(), isAgain = true, resumed = null, askedBefore = [] }: GoingOn = {},
  ): Promise<readonly Outgoing[]> {
    const { record } = message;
    const { configurations } = this.runtime;
    const granting = loadedFor(await configurations.version(record.configVersion), record.request);
    const inForce = loadedFor(configurations.current(), record.request);
    const name = await claimedName(runOfRecord(record), this.runtime);
    const turn = new Turn(record, name, isAgain, context, granting, inForce, this.toolbox, this.runtime, resumed);
    const end = await turn.run(done, returned);
    const { steps } = end;
    const keyOf = (index: number): string =>
      callKeyOf(name, record, record.calls[index] as ToolCall['calls'][number], index);
    if (end.kind === 'parked') {
      const { index, parked } = end;
      const judges = [granting, inForce] as const;
      if (parked.kind === 'approval') {
        const { asking } = parked;
        const askedAt = end.startedAt;
        const ahead = asking.question === null ? await turn.ahead(index, steps, askedAt) : [];
        const place = { index, asking, askedAt, ahead, before: askedBefore };
        const outgoing = await park(message, place, steps, judges, context, this.runtime);
        if (asking.question !== null && isClientTool(record.calls[index]?.tool ?? ''))
          await showClient(record, { indexes: [index, ...end.also], keyOf, outgoing }, this.runtime);
        return outgoing;
      }
      const handing = { ...parked.handing, startedAt: end.startedAt, fanOut: null };
      return handOver(message, index, keyOf(index), handing, steps, judges, context, this.runtime);
    }
    if (end.kind === 'fanned out') {
      const { first, members } = end;
      const fanOut = { first, size: members.length };
      const begun = members.map(({ parked, startedAt }, n) => {
        const handing = { ...parked.handing, startedAt, fanOut };
        const index = first + n;
        return handOver(message, index, keyOf(index), handing, steps, [granting, inForce], context, this.runtime);
      });
      return (await Promise.all(begun)).flat();
    }
    // Of a turn in which something was done the step is recorded in any case.
    if (steps.every(({ reason }) => reason === 'deadline') && (await this.isOver(record, context))) return [];
    context.afterCommit(measureSteps(record, steps, granting, turn.begunBefore, this.runtime));
    return this.goOn(stepResult(record, steps, end.turn, inForce.configuration.version));
  }

  /** Whether the run’s time is up and it has ended, so that a turn in which nothing was done is late and of no use. */
  private async isOver(record: ToolCall, context: HandlerContext): Promise<boolean> {
    const { clock, log } = this.runtime;
    const { requestId, run } = record;
    if (clock.now() < run.deadline) return false;
    if (!(await hasEnded({ ...runOfRecord(record), attempt: run.redrive }, this.runtime))) return false;
    context.afterCommit(() => log.info({ request_id: requestId }, 'dropped a turn whose run had ended in time'));
    return true;
  }

  /**
   * No call is made; the filter decides again, in an iteration of its own, so that this ends with the run’s
   * iterations.
   */
  private backToFilter(record: ToolCall, context: HandlerContext): Promise<readonly Outgoing[]> {
    context.afterCommit(() => this.runtime.metrics.expiredGrants.inc());
    const { evaluator } = loadedFor(this.runtime.configurations.current(), record.request);
    return this.goOn(stepResult(record, [], turnAfter(record, [], evaluator), evaluator.configuration.version));
  }

  private async goOn(result: AgentStepResult): Promise<readonly Outgoing[]> {
    return [{ topic: topics.steps, key: result.sessionId, record: await signContinuation(result, this.runtime) }];
  }
}
