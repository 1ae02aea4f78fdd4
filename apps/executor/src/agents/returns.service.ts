import { Inject, Injectable } from '@nestjs/common';
import { Fault } from '@sluice/core';
import { positionOf } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  afterAgents,
  AgentRunClaims,
  asDeadLettered,
  endedBy,
  endRun,
  errorResponse,
  isCallOf,
  keepDeadline,
  redrivenFrom,
  runOfEnd,
  runOfRecord,
  turnAt,
  verified,
  verifyEnd,
} from '@sluice/run';
import type { EndedBy, NamedRun, CallPosition, Redriven } from '@sluice/run';
import { inHop, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { waitForAgent } from './hand-over.js';
import { join } from './join.js';
import { ExecutorService } from '../executor.service.js';

/** Goes on with turns whose call was an agent’s run, once that has ended. */
@Injectable()
export class ReturnsService {
  private readonly claims: AgentRunClaims;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(ExecutorService) private readonly executor: ExecutorService,
  ) {
    this.claims = new AgentRunClaims(runtime);
  }

  async take(message: Incoming<'agent.responses'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record } = message;
    const { requestId } = record;
    const run = runOfEnd(record);
    const place = await this.claims.parkedAt(run);
    // A caller’s own run, under an id of that form.
    if (place === null) return [];
    const redriven = await redrivenFrom(message, context, this.runtime);
    await verified(redriven, () => verifyEnd(asDeadLettered(message, redriven), this.runtime));
    if (!(await this.claims.isVouched(record))) return this.drop(requestId, 'no service ended the run so', context);
    const { isOwn, isAgain } = await this.claims.goesOn(run, redriven?.owner ?? positionOf(message));
    if (!isOwn) return this.drop(requestId, 'the turn went on with another end', context);
    // The run says where its caller was parked when it began; what is only claimed may be of an attempt that came to
    // nothing.
    const parked = await this.parked(run, record.run?.parent ?? place);
    if (parked === undefined) {
      const why = `The call that ${requestId} answers is no longer on the log, or not as it was.`;
      throw new Fault('invalid_request', why, false);
    }
    const turn = { group: 'executor', message: parked, context };
    return inHop(this.runtime.traces, turn, (own) => this.goOn(message, parked, redriven, isAgain, own));
  }

  private async goOn(
    message: Incoming<'agent.responses'>,
    parked: Incoming<'agent.tool-calls'>,
    redriven: Redriven | null,
    isAgain: boolean,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { record: end } = message;
    const parent = end.run?.parent ?? null;
    // A dead letter that did not say whose run it was: what was done of the turn is not known here, so it cannot go on.
    if (end.run === null || parent === null)
      return this.giveUp(parked, endedBy(message, parked.record.run, redriven), context);
    const own = { end, run: end.run, startedAt: parent.startedAt };
    const returned =
      parent.fanOut === null
        ? new Map([[parent.index, own]])
        : await join(message, parent, parked, redriven?.owner ?? positionOf(message), this.runtime);
    // Others that began with it have not ended yet, or the turn goes on with the end of one of those.
    if (returned === null) return [];
    const wait = await waitForAgent(runOfEnd(end), parent.startedAt, this.runtime);
    const before = await this.executor.cameBack(parked, wait, redriven);
    // Another attempt has the time of a new run.
    const ended = [...returned.values()].map(({ run }) => run);
    const record = redriven === null ? afterAgents(before.record, ended) : before.record;
    const attempt = { ...before, record };
    if (record.run.parkedMs !== before.record.run.parkedMs)
      await keepDeadline(record, record.run.deadline, this.runtime);
    // Of agents side by side, what comes behind them all.
    const from = parent.fanOut === null ? parent.index + 1 : parent.fanOut.first + parent.fanOut.size;
    const wasHandled = () => this.executor.wasHandled(message, attempt, from, context);
    if (isAgain && context.attempt === 1 && (await wasHandled())) return [];
    return this.executor.runTurn(attempt, parent.steps, context, { returned });
  }

  private giveUp(
    { record }: Incoming<'agent.tool-calls'>,
    by: EndedBy,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { requestId, sessionId, request, run, configVersion } = record;
    const message =
      'A record of an agent that this run called could not be processed. It is kept among the dead letters.';
    const error = { code: 'dead_lettered', message } as const;
    const now = this.runtime.clock.now();
    const response = errorResponse({ requestId, sessionId }, error, { request, run, configVersion }, now);
    return endRun(response, request, by, context, this.runtime);
  }

  /** The parked turn, if it is the one whose very call the run answers. */
  private async parked(
    { requestId, tenant }: NamedRun,
    place: CallPosition,
  ): Promise<Incoming<'agent.tool-calls'> | undefined> {
    const turn = await turnAt(this.runtime.bus, place);
    if (turn === undefined || runOfRecord(turn.record).tenant !== tenant) return undefined;
    return isCallOf(requestId, turn.record, place.index) ? turn : undefined;
  }

  private drop(requestId: string, why: string, context: HandlerContext): readonly Outgoing[] {
    context.afterCommit(() =>
      this.runtime.log.warn({ agent_request_id: requestId, why }, 'dropped an end of an agent’s run'),
    );
    return [];
  }
}
