import { agentName, defaultAgent, Fault } from '@sluice/core';
import type { Authenticator, Principal, RunState, Tenant } from '@sluice/core';
import { positionOf, requestIds, topics } from '@sluice/contracts';
import type { AgentRequest, RequestTopic } from '@sluice/contracts';
import { isCredentialGone } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  acceptedRequest,
  beginning,
  boundedLabel,
  cancelOf,
  channelHeader,
  claimRequest,
  clientSchemasProblem,
  clientToolsProblem,
  denial,
  doorOf,
  endedBy,
  enderOfRun,
  endRun,
  keepSender,
  ledByCall,
  ledByRequest,
  loadedFor,
  originOf,
  OwnCalls,
  recall,
  redrivenBefore,
  redrivenFrom,
  requestOwner,
  requestProblem,
  senderName,
  startOfCall,
  wasHandled,
} from '@sluice/run';
import type { EndedBy, KeptDecision, Loaded, NamedRun, Origin, RunIds } from '@sluice/run';
import { senderOfRequest } from './record-sender.js';
import type { Sender } from './record-sender.js';
import type { Runtime } from './runtime.js';
import { countDenial } from './watch/count-denial.js';
import { GroupNotes } from './watch/note-groups.js';
import { unknownCaller } from './watch/verified-callers.js';

/** A request that is its sender’s to make: its run may be decided on. */
export interface AcceptedRequest {
  readonly kind: 'taken';
  readonly ids: RunIds;
  readonly request: AgentRequest;
  /** The run before its first iteration. */
  readonly run: RunState;
  readonly asker: Principal;
  readonly by: EndedBy;
  readonly loaded: Loaded;
  readonly origin: Origin;
  /** Whether an earlier attempt had the request. */
  readonly isAgain: boolean;
  /** What an earlier attempt at a call decided it by, and began to act; null where there is none. */
  readonly kept: KeptDecision | null;
  /** Whether it was cancelled when this began to take it. */
  readonly cancelled: Awaited<ReturnType<typeof cancelOf>>;
  /** When that was looked up, by `performance.now()`. */
  readonly lookedAt: number;
}

type Over = { readonly kind: 'over'; readonly outputs: readonly Outgoing[] };

/**
 * Takes new requests: who asks, whether that sender may, and whether the request_id is its own. The filter takes those
 * that a model is asked for, the executor those that make one call themselves; `isCall` has what differs.
 */
export class RequestIntake {
  private readonly own: OwnCalls;
  private readonly groupNotes: GroupNotes;
  /** Requests at work that were not handled before: an attempt may fail before it has found that out. */
  private readonly isNew = new WeakSet<Incoming>();

  constructor(
    private readonly runtime: Runtime,
    private readonly authenticator: Authenticator,
  ) {
    this.own = new OwnCalls(runtime);
    this.groupNotes = new GroupNotes(runtime);
  }

  /**
   * Takes the request, or says what goes out where nothing is left to decide. Its request_id is taken once for its
   * tenant; the same record may ask again. So who asks is found out first: without a valid credential it takes the id
   * from no tenant. Throws Fault('invalid_request').
   */
  async take(message: Incoming<RequestTopic>, context: HandlerContext): Promise<AcceptedRequest | Over> {
    const { clock, configurations } = this.runtime;
    const isCall = message.topic === topics.calls;
    const ids = requestIds(message, message.record);
    if (isCredentialGone(message.headers)) return over(this.dropHandled(ids, context));

    const sender = await this.senderOf(message, ids);
    // Gateway and MCP server have noted what came through them.
    if (message.headers[channelHeader] === undefined) this.groupNotes.note(sender);
    const tenant = await this.tenantOf(message, ids, sender);
    context.credentialUsed(sender.ok ? senderName(sender.principal) : null);
    keepSender(message, tenant);

    const redriven = await redrivenFrom(message, context, this.runtime);
    const owner = redriven?.owner ?? positionOf(message);
    const named = { requestId: ids.requestId, tenant };
    // A call with an effect is claimed for itself, and that puts this claim on the disk as well.
    const durability = isCall ? 'processLoss' : 'powerLoss';
    const lookedAt = performance.now();
    const principal = sender.ok ? sender.principal : null;
    // Each is a round trip to the database, and neither needs what the other finds.
    const [{ owner: takenBy, isAgain }, cancelled] = await Promise.all([
      claimRequest(named, owner, this.runtime, durability),
      cancelOf({ requestId: ids.requestId, run: { principal, parent: null } }, this.runtime),
    ]);
    if (takenBy !== owner) return over(this.dropDuplicate(ids, takenBy, context));
    const kept = isAgain && isCall ? await this.own.decision(named) : null;
    const attempt = redriven?.deadLetter ?? null;
    const led = isCall ? ledByCall(kept !== null) : ledByRequest;
    const before = { message, run: named, attempt, sessions: [ids.sessionId], led };
    if (isAgain && !this.isNew.has(message) && (await wasHandled(before, context, this.runtime))) return over([]);
    this.isNew.add(message);
    if (isAgain && isCall && kept === null && (await this.isOver({ ...named, attempt }, message, context)))
      return over([]);
    const loaded = loadedFor(await this.configurationOf(kept), message.record);
    // Only now: what is wrong with a record that came under another’s request_id ends nothing.
    const problem =
      requestProblem(ids, message.record, loaded.configuration.limits) ??
      clientToolsProblem(message.record, configurations.current().configuration) ??
      clientSchemasProblem(message.record);
    if (problem !== null) throw new Fault('invalid_request', problem, false);

    if (!sender.ok) {
      context.afterCommit(() => this.runtime.metrics.refusedRequests.inc(unknownCaller));
      const by = { ...endedBy(message, null, redriven), tenant };
      const request = acceptedRequest(message.record, ids);
      return over(await this.deny(ids, sender.message, { request, run: null, by }, context));
    }
    const asker = kept?.asker ?? sender.principal;
    const startedAt = isCall ? startOfCall(message, clock.now()) : clock.now();
    const asks = beginning(message.record, asker, loaded.evaluator, startedAt);
    const { run: begun, groups, permission } = asks;
    const request = acceptedRequest(asks.request, ids);
    const memory = await recall(ids.sessionId, request, asker, loaded.configuration, this.runtime);
    const run = { ...begun, redrive: attempt, memory };
    const origin = originOf({ ...message.headers, ...cameBy(message, sender) }, sender.claims, loaded.evaluator);
    const by = endedBy(message, run);
    if (!permission.ok) {
      context.afterCommit(() => countDenial(ids.requestId, asker, permission, loaded, this.runtime));
      return over(await this.deny(ids, permission.message, { request, run, by }, context));
    }
    context.afterCommit(() => {
      this.countGroups(groups, loaded);
      this.countRun(request, doorOf(message.headers, origin));
    });
    return { kind: 'taken', ids, request, run, asker, by, loaded, origin, isAgain, kept, cancelled, lookedAt };
  }

  /**
   * Its sender; also where the credential counts no longer, or a redrive has none, if an earlier attempt acted by it:
   * what that did is the run’s.
   */
  private async senderOf(message: Incoming<RequestTopic>, { requestId }: RunIds): Promise<Sender> {
    const sender = await senderOfRequest(message, requestId, this.runtime, this.authenticator);
    if (sender.ok || message.topic !== topics.calls) return sender;
    const redriven = await redrivenBefore(message, this.runtime);
    const asker = await this.own.asker(message, redriven?.owner);
    return asker === null ? sender : { ok: true, principal: asker };
  }

  /**
   * The tenant of its sender. A revoked credential is of none, so that it takes no request_id, unless an earlier
   * attempt took this request’s for its tenant: its end is that tenant’s.
   */
  private async tenantOf(message: Incoming<RequestTopic>, { requestId }: RunIds, sender: Sender): Promise<Tenant> {
    if (sender.ok) return sender.principal.tenantId;
    const tenant = sender.revoked ?? null;
    if (tenant === null) return null;
    return (await requestOwner({ requestId, tenant }, this.runtime)) === positionOf(message) ? tenant : null;
  }

  private async configurationOf(kept: KeptDecision | null): Promise<Loaded> {
    const { configurations } = this.runtime;
    return kept === null ? configurations.current() : configurations.version(kept.configVersion);
  }

  /** Whether a filter has ended the run since its time was up, and nothing was done for it before. */
  private async isOver(
    run: NamedRun & { readonly attempt: string | null },
    message: Incoming<RequestTopic>,
    context: HandlerContext,
  ): Promise<boolean> {
    const ender = await enderOfRun(run, this.runtime);
    if (ender === null || ender === positionOf(message)) return false;
    const { requestId } = run;
    context.afterCommit(() =>
      this.runtime.log.info({ request_id: requestId }, 'dropped a request whose run had ended in time'),
    );
    return true;
  }

  /** A record that was handled before, together with whose outputs its credential was blanked: its run has gone on. */
  private dropHandled({ requestId }: RunIds, context: HandlerContext): readonly Outgoing[] {
    const { log } = this.runtime;
    context.afterCommit(() =>
      log.warn(
        { request_id: requestId },
        'a request that was handled before came again, so the group’s offsets were set back',
      ),
    );
    return [];
  }

  /** The one end of a request that is refused before its first iteration. */
  private deny(
    ids: RunIds,
    message: string,
    { request, run, by }: { readonly request: AgentRequest; readonly run: RunState | null; readonly by: EndedBy },
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { clock, configurations } = this.runtime;
    const { version } = configurations.current().configuration;
    const response = denial(ids, message, { request, run, tenant: by.tenant }, version, clock.now());
    return endRun(response, request, by, context, this.runtime);
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

  private countRun(request: AgentRequest, door: string): void {
    const { metrics, configurations } = this.runtime;
    const { agents = {} } = configurations.current().configuration;
    const known = new Set([defaultAgent, ...Object.keys(agents)]);
    metrics.runsBegun.inc({ door, agent: request.call === null ? boundedLabel(agentName(request), known) : '' });
  }

  private countGroups(groups: readonly string[], { evaluator }: Loaded): void {
    for (const group of groups)
      this.runtime.metrics.groupRequests.inc({ group: boundedLabel(group, evaluator.rules.knownGroups) });
  }
}

function over(outputs: readonly Outgoing[]): Over {
  return { kind: 'over', outputs };
}

/** How a request came that no caller made; what its header says of that proves nothing. */
function cameBy({ headers }: Incoming<RequestTopic>, { channel }: Sender): Readonly<Record<string, string>> {
  if (channel !== undefined) return { [channelHeader]: channel };
  return ownChannels.includes(headers[channelHeader] ?? '') ? { [channelHeader]: 'kafka' } : {};
}

const ownChannels = ['schedule', 'hook'];
