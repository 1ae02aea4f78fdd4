import { Inject, Injectable } from '@nestjs/common';
import { beginRun, Fault, mayRequest, nextIteration, normaliseGroups, normaliseState, runEnd } from '@sluice/core';
import type { Authenticator, RunState } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  AUTHENTICATOR,
  boundedLabel,
  credentialOf,
  endRun,
  errorResponse,
  requestIds,
  RUNTIME,
  signGrant,
  takeTurn,
  verifyContinuation,
} from '@sluice/service';
import type { Loaded, Runtime } from '@sluice/service';
import { reportRefusal } from './refusals.js';
import { toolset } from './toolset.js';

type Ids = { readonly requestId: string; readonly sessionId: string };

/** How long a taken request_id is remembered, in milliseconds: a week. */
const requestMemoryMs = 7 * 24 * 3_600_000;

/** Whose credential is missing or not valid is not known, whatever it says. */
const nobody = { tenant: '', actor: '', reason: 'credential' };

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
    // Who asks is in the run from here on; what the sender wrote of it goes no further.
    const request = { ...message.record, ...ids, userId: null };

    const owner = `${message.topic}/${message.partition}/${message.offset}`;
    const claim = await ledger.claim({
      key: `request/${ids.requestId}`,
      owner,
      now: clock.now(),
      ttlMs: requestMemoryMs,
    });
    if (claim.owner !== owner) return this.dropDuplicate(ids, claim.owner, context);

    const { identity, limits } = loaded.configuration;
    const sender = await this.authenticator.authenticate(identity, credentialOf(message.headers), message.timestamp);
    if (!sender.ok) {
      context.afterCommit(() => this.runtime.metrics.refusedRequests.inc(nobody));
      return [this.deny(ids, sender.message, request, null, context)];
    }

    const { principal } = sender;
    const groups = normaliseGroups(request.group);
    const run = beginRun(request, groups, normaliseState(request.state), limits, principal, clock.now());
    const permission = mayRequest(message.record, groups, principal, identity);
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
    ids: Ids,
    request: AgentRequest,
    run: RunState,
    loaded: Loaded,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { clock, metrics, log } = this.runtime;
    const now = clock.now();
    const end = runEnd(run, request.history, loaded.configuration.limits, now);
    if (end !== null) {
      const response = errorResponse(ids, end, { request, run, configVersion: loaded.configuration.version }, now);
      return [endRun(response, request, context, this.runtime)];
    }

    const decision = loaded.evaluator.evaluate({
      groups: request.group,
      state: request.state,
      unavailable: new Set(),
      calls: run.toolCalls,
    });
    const decided = toolset(ids, request, nextIteration(run, decision), decision, now);
    const record = await signGrant(decided, this.runtime);
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
    ids: Ids,
    message: string,
    request: AgentRequest,
    run: RunState | null,
    context: HandlerContext,
  ): Outgoing {
    const { clock, configurations } = this.runtime;
    const about = { request, run, configVersion: configurations.current().configuration.version };
    const response = errorResponse(ids, { code: 'authz_denied', message }, about, clock.now());
    return endRun(response, request, context, this.runtime);
  }

  private dropDuplicate(ids: Ids, takenBy: string, context: HandlerContext): readonly Outgoing[] {
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
