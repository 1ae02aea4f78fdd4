import { Inject, Injectable } from '@nestjs/common';
import { agentName, clientToolsIn, defaultAgent, Fault, logNames, quote } from '@sluice/core';
import type { Authenticator, Evaluator, RunState } from '@sluice/core';
import { positionOf, requestIds, topics } from '@sluice/contracts';
import type { AgentRequest, Toolset } from '@sluice/contracts';
import { isCredentialGone } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  channelHeader,
  doorOf,
  asDeadLettered,
  beginning,
  boundedLabel,
  cancelOf,
  clientToolLimits,
  clientToolsProblem,
  decideIteration,
  denial,
  endedBy,
  endRun,
  isOwnRequestId,
  isTurnClaimed,
  keepSender,
  ledByRequest,
  ledBySteps,
  loadedFor,
  namingTools,
  originOf,
  ownRequestId,
  pastOfRun,
  recall,
  redrivenFrom,
  requestProblem,
  resumedRun,
  runOfRecord,
  signGrant,
  acceptedRequest,
  claimRequest,
  claimTurn,
  verified,
  verifyContinuation,
  verifyRecord,
  verifyReturned,
  wasHandled,
  withConditions,
  senderName,
} from '@sluice/run';
import type { EndedBy, Loaded, OfferedBefore, Origin, Redriven, RunIds } from '@sluice/run';
import { AUTHENTICATOR, countDenial, GroupNotes, LoadWatch, RUNTIME, senderOf } from '@sluice/host';
import type { Runtime, Sender } from '@sluice/host';
import { convertOffer } from '@sluice/schemas';
import { endOverdue, isOverdueTurn } from './overdue/end-overdue.js';

/** A run, and the record by which it may end here. */
interface About {
  readonly request: AgentRequest;
  readonly run: RunState | null;
  readonly by: EndedBy;
}

/** Whose credential is missing or not valid is not known, whatever it says. */
const nobody = { tenant: '', actor: '', reason: 'credential' };

/** Decides, for each iteration of each run, which tools there are; ends the runs that have used up what they may. */
@Injectable()
export class FilterService {
  private readonly loads: LoadWatch;

  private readonly groupNotes: GroupNotes;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {
    this.loads = new LoadWatch(runtime);
    this.groupNotes = new GroupNotes(runtime);
  }

  /**
   * A new request. Its request_id is taken once for its tenant; the same record may ask again. So who asks is found
   * out first: without a valid credential it takes the id from no tenant.
   */
  async begin(message: Incoming<'agent.requests'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { clock, configurations } = this.runtime;
    const loaded = loadedFor(configurations.current(), message.record);
    const ids = requestIds(message, message.record);
    if (isCredentialGone(message.headers)) return this.dropHandled(ids, context);

    const sender = ofOwnId(ids.requestId, await senderOf(message, this.runtime, this.authenticator));
    // Gateway and MCP server have noted what came through them.
    if (message.headers[channelHeader] === undefined) this.groupNotes.note(sender);
    const tenant = sender.ok ? sender.principal.tenantId : null;
    context.credentialUsed(sender.ok ? senderName(sender.principal) : null);
    keepSender(message, tenant);

    const redriven = await redrivenFrom(message, context, this.runtime);
    const owner = redriven?.owner ?? positionOf(message);
    const named = { requestId: ids.requestId, tenant };
    const { owner: takenBy, isAgain } = await claimRequest(named, owner, this.runtime);
    if (takenBy !== owner) return this.dropDuplicate(ids, takenBy, context);
    const attempt = redriven?.deadLetter ?? null;
    const before = { message, run: named, attempt, sessions: [ids.sessionId], led: ledByRequest };
    if (isAgain && context.attempt === 1 && (await wasHandled(before, context, this.runtime))) return [];
    // Only now: what is wrong with a record that came under another’s request_id ends nothing.
    const problem =
      requestProblem(ids, message.record, loaded.configuration.limits) ??
      clientToolsProblem(message.record, configurations.current().configuration) ??
      schemasProblem(message.record);
    if (problem !== null) throw new Fault('invalid_request', problem, false);
    const asked = acceptedRequest(message.record, ids);

    if (!sender.ok) {
      context.afterCommit(() => this.runtime.metrics.refusedRequests.inc(nobody));
      const by = endedBy(message, null, redriven);
      return this.deny(ids, sender.message, { request: asked, run: null, by }, context);
    }

    const { principal } = sender;
    const asks = beginning(message.record, principal, loaded.evaluator, clock.now());
    const { run: begun, groups, permission } = asks;
    const request = acceptedRequest(asks.request, ids);
    const memory = await recall(ids.sessionId, request, principal, loaded.configuration, this.runtime);
    const run = { ...begun, redrive: attempt, memory };
    const origin = originOf({ ...message.headers, ...cameBy(message, sender) }, sender.claims, loaded.evaluator);
    if (!permission.ok) {
      context.afterCommit(() => countDenial(ids.requestId, principal, permission, loaded, this.runtime));
      return this.deny(ids, permission.message, { request, run, by: endedBy(message, run) }, context);
    }
    context.afterCommit(() => {
      this.countGroups(groups, loaded);
      this.countRun(request, doorOf(message.headers, origin));
    });
    return this.decide(ids, { request, run, by: endedBy(message, run) }, loaded, context, origin);
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

  /** The next iteration of a run that the executor hands back. */
  async goOn(message: Incoming<'agent.steps'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record } = message;
    const loaded = loadedFor(this.runtime.configurations.current(), record.next);
    const redriven = await redrivenFrom(message, context, this.runtime);
    const wasLed = (iteration: number, run: RunState) => this.wasLed(message, iteration, run, context);
    if (redriven?.again) return this.decideAgain(message, redriven, loaded, context, wasLed);
    if (await isOverdueTurn(message, this.runtime)) return endOverdue(message, context, this.runtime);
    await verified(redriven, async () => {
      await verifyContinuation(record, this.runtime);
      await verifyRecord(asDeadLettered(message, redriven), this.runtime);
    });
    const { requestId, sessionId, next } = record;
    const run = resumedRun({ run: record.run, asked: next }, redriven, loaded);
    const about = { request: next, run, by: endedBy(message, run), before: record };
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
    { request, run, by, before = null }: About & { readonly run: RunState; readonly before?: OfferedBefore | null },
    loaded: Loaded,
    context: HandlerContext,
    origin?: Origin,
  ): Promise<readonly Outgoing[]> {
    const { clock } = this.runtime;
    const { evaluator } = loaded;
    const now = clock.now();
    const [measured, cancelled, facts] = await Promise.all([
      this.loads.measured(loaded),
      cancelOf({ requestId: ids.requestId, run }, this.runtime),
      pastOfRun({ request, run }, ids, evaluator, now, this.runtime.past),
    ]);
    const conditioned = withConditions(run, evaluator, { ...measured, facts }, origin);
    const decided = this.timed(evaluator, () =>
      decideIteration(ids, request, conditioned, evaluator, clock.now(), cancelled),
    );
    if (decided.kind === 'end') return endRun(decided.response, request, by, context, this.runtime);

    const { decision } = decided;
    const isWhole = this.runtime.environment.toolsets === 'whole';
    const granted = isWhole ? decided.record : namingTools(decided.record, decision, evaluator, before);
    const record = await signGrant(granted, this.runtime);
    context.afterCommit(this.counting(decision.eligible.length, record));
    return [{ topic: topics.toolsets, key: ids.sessionId, record }];
  }

  /** The rules’ own time, without what was measured before and what is signed behind. */
  private timed<T>({ rules }: Evaluator, decide: () => T): T {
    const { filterDuration, filterMemory } = this.runtime.metrics;
    const before = rules.memory();
    const start = performance.now();
    const decided = decide();
    filterDuration.observe((performance.now() - start) / 1_000);
    const { hits, misses } = rules.memory();
    filterMemory.inc({ result: 'hit' }, hits - before.hits);
    filterMemory.inc({ result: 'miss' }, misses - before.misses);
    return decided;
  }

  /** Counts a decision once it is on the log; the record is not kept until then. */
  private counting(
    eligible: number,
    { requestId, iteration, hiddenCounts, unknownGroups, fallbackGroups }: Toolset,
  ): () => void {
    const { metrics, log } = this.runtime;
    return () => {
      metrics.filteredTools.observe(eligible);
      for (const [reason, count] of Object.entries(hiddenCounts)) metrics.hiddenTools.inc({ reason }, count);
      for (const group of fallbackGroups) metrics.fallbackGroups.inc({ group });
      if (iteration === 1 && unknownGroups.length > 0) {
        log.warn(
          { request_id: requestId, unknown_groups: logNames(unknownGroups) },
          'the request names groups that no tool carries',
        );
      }
    };
  }

  /** The one end of a request that is refused before its first iteration. */
  private deny(
    ids: RunIds,
    message: string,
    { request, run, by }: About,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { clock, configurations } = this.runtime;
    const { version } = configurations.current().configuration;
    const response = denial(ids, message, { request, run }, version, clock.now());
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

/** A caller takes no id of a run that a schedule or a hook starts: it counts as one without a credential. */
function ofOwnId(requestId: string, sender: Sender): Sender {
  return sender.channel === undefined && isOwnRequestId(requestId) ? { ok: false, message: ownRequestId } : sender;
}

/** What is wrong with the schemas of a client’s tools that no door brought into form; null if nothing is. */
function schemasProblem({ clientTools }: AgentRequest): string | null {
  let bytes = 0;
  for (const { name, description, schema } of clientToolsIn(clientTools ?? '')?.tools ?? []) {
    const offer = convertOffer({ name, description, inputSchema: schema, outputSchema: null });
    if ('problems' in offer) return `The client’s tool ${quote(name)} cannot be offered. ${offer.problems.join(' ')}`;
    bytes += JSON.stringify(offer.inputSchema).length;
    // What a door wrote has no references that grow.
    if (bytes > clientToolLimits.bytes) return 'The schemas of the client’s tools are too large with their references.';
  }
  return null;
}

/** How a request came that no caller made; what its header says of that proves nothing. */
function cameBy({ headers }: Incoming<'agent.requests'>, { channel }: Sender): Readonly<Record<string, string>> {
  if (channel !== undefined) return { [channelHeader]: channel };
  return ownChannels.includes(headers[channelHeader] ?? '') ? { [channelHeader]: 'kafka' } : {};
}

const ownChannels = ['schedule', 'hook'];
