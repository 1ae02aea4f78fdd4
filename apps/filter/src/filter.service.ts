import { Inject, Injectable } from '@nestjs/common';
import { Fault } from '@sluice/core';
import type { Authenticator, RunState } from '@sluice/core';
import { requestIds, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { beginning, decideIteration, denial, taken } from '@sluice/decisions';
import type { RunIds } from '@sluice/decisions';
import {
  AUTHENTICATOR,
  boundedLabel,
  credentialOf,
  endRun,
  RUNTIME,
  signGrant,
  takeTurn,
  verifyContinuation,
} from '@sluice/service';
import type { Loaded, Runtime } from '@sluice/service';
import { reportRefusal } from './refusals.js';

/** How long a taken request_id is remembered, in milliseconds: a week. */
const requestMemoryMs = 7 * 24 * 3_600_000;

/** Decides, for each iteration of each run, which tools there are; ends the runs that have used up what they may. */
@Injectable()
export class FilterService {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  /** A new request. Its request_id is taken once; the same record may ask again. */
  async begin(message: Incoming<'agent.requests'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { ledger, clock, configurations } = this.runtime;
    if (message.record.question.trim() === '')
      throw new Fault('invalid_request', 'The question is empty. Put the user’s question there.', false);
    const loaded = configurations.current();
    const ids = requestIds(message, message.record);
    const request = taken(message.record, ids);

    const owner = `${message.topic}/${message.partition}/${message.offset}`;
    const claim = await ledger.claim({
      key: `request/${ids.requestId}`,
      owner,
      now: clock.now(),
      ttlMs: requestMemoryMs,
    });
    if (claim.owner !== owner) return this.dropDuplicate(ids, claim.owner, context);

    const { identity } = loaded.configuration;
    const sender = await this.authenticator.authenticate(identity, credentialOf(message.headers), message.timestamp);
    if (!sender.ok) return [this.deny(ids, sender.message, request, null, context)];

    const { principal } = sender;
    const { run, groups, permission } = beginning(message.record, principal, loaded.evaluator, clock.now());
    if (!permission.ok) {
      reportRefusal(request, principal, permission, loaded, context, this.runtime);
      return [this.deny(ids, permission.message, request, run, context)];
    }
    context.afterCommit(() => this.countGroups(groups, loaded));
    return this.decide(ids, request, run, loaded, context);
  }

  /** The next iteration of a run that the executor hands back. */
  async goOn(message: Incoming<'agent.steps'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record } = message;
    await verifyContinuation(record, this.runtime);
    const { requestId, sessionId, next, run } = record;
    const decided = this.decide({ requestId, sessionId }, next, run, this.runtime.configurations.current(), context);
    // Side by side, since each waits for something else; if the turn was taken, nothing of the decision goes out.
    const [outputs] = await Promise.all([decided, takeTurn(message, this.runtime)]);
    return outputs;
  }

  private async decide(
    ids: RunIds,
    request: AgentRequest,
    run: RunState,
    loaded: Loaded,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { clock, metrics, log } = this.runtime;
    const decided = decideIteration(ids, request, run, loaded.evaluator, clock.now());
    if (decided.kind === 'end') return [endRun(decided.response, request, context, this.runtime)];

    const { decision } = decided;
    const record = await signGrant(decided.record, this.runtime);
    context.afterCommit(() => {
      metrics.filteredTools.observe(decision.eligible.length);
      for (const [reason, count] of Object.entries(record.hiddenCounts)) metrics.hiddenTools.inc({ reason }, count);
      if (record.iteration === 1 && decision.unknownGroups.length > 0) {
        log.warn(
          { request_id: ids.requestId, unknown_groups: decision.unknownGroups.slice(0, 20) },
          'the request names groups that no tool carries',
        );
      }
    });
    return [{ topic: topics.toolsets, key: ids.sessionId, record }];
  }

  /** The one end of a request that is refused before its first iteration. */
  private deny(
    ids: RunIds,
    message: string,
    request: AgentRequest,
    run: RunState | null,
    context: HandlerContext,
  ): Outgoing {
    const { clock, configurations } = this.runtime;
    const { version } = configurations.current().configuration;
    const response = denial(ids, message, { request, run }, version, clock.now());
    return endRun(response, request, context, this.runtime);
  }

  private dropDuplicate(ids: RunIds, takenBy: string, context: HandlerContext): readonly Outgoing[] {
    context.afterCommit(() => {
      this.runtime.metrics.duplicateRequests.inc();
      this.runtime.log.warn(
        { request_id: ids.requestId, taken_by: takenBy },
        'dropped a request whose request_id had been taken',
      );
    });
    return [];
  }

  private countGroups(groups: readonly string[], { evaluator }: Loaded): void {
    for (const group of groups)
      this.runtime.metrics.groupRequests.inc({ group: boundedLabel(group, evaluator.rules.knownGroups) });
  }
}
