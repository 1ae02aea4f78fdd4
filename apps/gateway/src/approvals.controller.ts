import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isJsonObject } from '@sluice/core';
import type { JsonValue, Principal } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { Approval, ApprovalDecided } from '@sluice/contracts';
import { ApprovalClaims, toolNames } from '@sluice/run';
import type { ToolName } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { ApprovalCursor, WaitingApproval } from '@sluice/projection';
import { Callers } from './caller.js';
import type { Caller } from './caller.js';
import { whenGone } from './client-disconnect.js';
import { ApprovalDetails } from './approval-details.js';
import { approvalsGiven, progressOf, rulesIn } from './approval-progress.js';
import { Decisions } from './decisions.js';
import type { JudgedDecision } from './decisions.js';
import { decisionsOf, mayDecide } from './open-decisions.js';
import { approvalQuery, cursorFor } from './lists/list-query.js';
import { Lists } from './lists/lists.js';
import { prefers } from './prefers.js';
import { describedBody } from './described-body.js';
import { recordHeaders } from './record-headers.js';
import { Refusal } from './refusal.js';
import { recordOf, requireSize } from './requests.js';
import { withoutArguments } from './edit-in-body.js';
import { ApprovalFollowers, approvalEvents } from './stream/approval-stream.js';
import type { Waiting } from './stream/approval-stream.js';
import { sendStream } from './send-stream.js';
import { requireKnownFields, strictBody, strictFields } from './strict-body.js';
import { Route } from './openapi/route.js';
import { ByCaller } from './rights.js';

/** A decision, with what `approval_requested` holds beside it: who decides may send all of that back. */
const decisionRecords = ['ApprovalDecided', 'ApprovalRequested'] as const;

/** Decisions of one request, at most: more than a turn has calls. */
const mostDecisions = 100;

/** So many calls are followed at a time, the oldest. The next ones come when some of these are decided. */
const mostFollowed = 1_000;

/**
 * Decisions on calls that wait for one (docs/approvals.md). Whether a decision counts is the executor’s to say, on
 * agent.approvals.
 */
@Controller()
export class ApprovalsController {
  private readonly claims: ApprovalClaims;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Lists) private readonly lists: Lists,
    @Inject(ApprovalFollowers) private readonly followers: ApprovalFollowers,
    @Inject(Decisions) private readonly decisions: Decisions,
    @Inject(ApprovalDetails) private readonly details: ApprovalDetails,
  ) {
    this.claims = new ApprovalClaims(runtime);
  }

  /** What waits in the caller’s tenant, if the caller is an approver; to others nothing does. */
  @Route('listApprovals')
  async list(
    @ByCaller() caller: Caller,
    @Req() request: Request,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() response: Response,
  ): Promise<void> {
    const { limit, after } = approvalQuery(query);
    if (prefers(request).kind === 'stream') return this.stream(request, caller, response);
    const found = await this.read(caller, this.reading(caller.principal, after, limit + 1));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    response.json({
      approvals: await this.described(caller.principal, await this.decidable(caller, page)),
      next_cursor: last === undefined ? null : cursorFor({ startedAt: last.requestedAt, requestId: last.approvalId }),
    });
  }

  /** What waits now and what comes, until the reader goes away, its credential ends or the gateway is stopped. */
  private async stream(request: Request, caller: Caller, response: Response): Promise<void> {
    const follower = this.followers.follow();
    try {
      // Throws before anything is sent where there are no lists.
      await this.read(caller, this.reading(caller.principal, null, 1));
      whenGone(response, () => follower.abort());
      const look = async (): Promise<readonly Waiting[] | null> => {
        if (!(await this.callers.holds(request, caller.principal))) return null;
        const shared = (): Promise<readonly WaitingApproval[]> =>
          this.followers.waiting(
            caller.principal.tenantId,
            this.runtime.clock.now(),
            this.reading(caller.principal, null, mostFollowed),
          );
        return this.decidable(caller, await this.read(caller, shared));
      };
      const describe = (waiting: readonly Waiting[]) => this.described(caller.principal, waiting);
      await sendStream(response, approvalEvents(look, describe, follower.signal));
    } catch (error) {
      if (!response.headersSent) throw error;
      if (!follower.signal.aborted)
        this.runtime.log.warn({ error: String(error) }, 'a stream of approvals over HTTP was cut');
    } finally {
      follower.abort();
    }
  }

  /** The calls that wait, the oldest first, for who may be an approver of some; none for others. */
  private async read(
    caller: Caller,
    read: () => Promise<readonly WaitingApproval[]>,
  ): Promise<readonly WaitingApproval[]> {
    return mayDecide(caller, this.runtime.configurations.current().configuration) ? read() : [];
  }

  /** Those of them that the caller may decide on. */
  private async decidable(caller: Caller, found: readonly WaitingApproval[]): Promise<readonly Waiting[]> {
    const { clock, configurations } = this.runtime;
    const { configuration } = configurations.current();
    const now = clock.now();
    const waiting = await Promise.all(
      found.map(async ({ asked: approval, approvalId, requestedAt }) => {
        const asked = { requestedAt, rules: rulesIn(approval) };
        const whose = { requestedBy: approval.requested_by, onBehalfOf: approval.on_behalf_of };
        const given = await approvalsGiven(approvalId, asked, this.claims);
        const decisions = decisionsOf(caller, { ...asked, ...whose }, configuration, now, given);
        return { approval, decisions, progress: progressOf(asked, given, configuration.policy, now) };
      }),
    );
    return waiting.filter(({ decisions }) => decisions.length > 0);
  }

  /** With the names of their tools and the questions of their runs. */
  private async described(
    caller: Principal,
    waiting: readonly Waiting[],
  ): Promise<readonly (Waiting & { readonly tool: ToolName | undefined; readonly question: string | null })[]> {
    if (waiting.length === 0) return [];
    const asked = waiting.map(({ approval }) => approval);
    const calls = asked.map(({ tool, config_version: configVersion }) => ({ tool, configVersion }));
    const tools = toolNames(calls, this.runtime.configurations);
    const ids = asked.map(({ request_id: id }) => id);
    const questions = await this.lists.projection.questions(caller, ids);
    return waiting.map((one, n) => ({
      ...one,
      tool: tools[n],
      question: questions.get(one.approval.request_id) ?? null,
    }));
  }

  private reading(
    caller: Principal,
    after: ApprovalCursor | null,
    limit: number,
  ): () => Promise<readonly WaitingApproval[]> {
    return () => this.lists.projection.approvals(caller, this.runtime.clock.now(), after, limit);
  }

  /** One of them, with what it is about and, once it is decided, its outcome. */
  @Route('readApproval')
  async show(@ByCaller() caller: Caller, @Param('approval_id') id: string, @Res() response: Response): Promise<void> {
    const leaving = new AbortController();
    whenGone(response, () => leaving.abort());
    const found = await this.details.of(id, caller, leaving.signal);
    if (!leaving.signal.aborted) response.json(found);
  }

  @Route('decide')
  async decide(@ByCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    const { bus } = this.runtime;
    const written = this.decisionIn(strictBody(request, decisionRecords) as JsonValue);
    const { judged, outgoing, headers } = await this.judged(written, caller, request);
    const { sessionId, approvalId: approval_id } = judged.asked;
    const preference = prefers(request);
    const waitMs = preference.kind === 'wait' ? preference.milliseconds : 0;
    // Before it is published, so that nothing of it is missed.
    const followed = waitMs > 0 && judged.taken === null ? this.decisions.follow(judged) : null;
    whenGone(response, () => followed?.end());
    try {
      if (judged.taken === null) await bus.publish([{ ...outgoing, key: sessionId, headers }]);
      const waited =
        followed === null ? null : await this.decisions.outcome(judged, caller.principal, followed, waitMs);
      const outcome = judged.taken ?? waited;
      const status = outcome === null ? 'published' : 'taken';
      response.status(outcome === null ? 202 : 200).json({ approval_id, status, outcome });
    } finally {
      followed?.end();
    }
  }

  /** A decision by the id of the approval and the hash of the arguments; the rest is looked up. */
  @Route('decideById')
  async decideById(
    @ByCaller() caller: Caller,
    @Param('approval_id') approval_id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { arguments: args = null, ...given } = describedBody<DecisionById>(request, 'DecisionById');
    const found = await this.details.waiting(approval_id, caller.principal);
    const { requestId: request_id, sessionId: session_id } = found?.record.requested ?? {
      requestId: '',
      sessionId: '',
    };
    // Nothing has no place: it is refused in the order of what the caller may learn.
    const place = { requested_partition: found?.partition ?? null, requested_offset: found?.offset ?? null };
    // Without an identity a decision goes by this name.
    const ids = { approval_id, request_id, session_id, decided_by: caller.principal.actorId };
    const written = { ...this.decisionIn({ ...given, ...ids, ...place }), args };
    const { judged, outgoing, headers } = await this.judged(written, caller, request);
    const { taken, asked } = judged;
    if (taken === null) await this.runtime.bus.publish([{ ...outgoing, key: asked.sessionId, headers }]);
    const status = taken === null ? 'published' : 'taken';
    response.status(taken === null ? 202 : 200).json({ approval_id, status, outcome: taken });
  }

  /** Several decisions, as those on the calls of one turn: each counts or not by itself. */
  @Route('decideAll')
  async decideAll(@ByCaller() caller: Caller, @Req() request: Request): Promise<object> {
    const { decisions } = strictFields(request, ['decisions']);
    if (!Array.isArray(decisions) || decisions.length === 0 || decisions.length > mostDecisions)
      throw new Refusal(400, 'invalid_request', `decisions must be a list of 1 to ${mostDecisions} decisions.`);
    // All are read before one is written.
    const written = decisions.map((one: JsonValue, n) => {
      requireKnownFields(decisionRecords, one, `decisions[${n}].`);
      return this.decisionIn(one);
    });
    const answers: object[] = [];
    for (const one of written) answers.push(await this.decideOne(one, caller, request));
    return { decisions: answers };
  }

  private async decideOne(written: WrittenDecision, caller: Caller, request: Request): Promise<object> {
    const { approvalId: approval_id } = written.decided;
    try {
      const { judged, outgoing, headers } = await this.judged(written, caller, request);
      const { taken, asked } = judged;
      if (taken === null) await this.runtime.bus.publish([{ ...outgoing, key: asked.sessionId, headers }]);
      const status = taken === null ? 'published' : 'taken';
      return { approval_id, status, outcome: taken, not_taken: null, message: null };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { not_taken = null } = error.more;
      return { approval_id, status: 'refused', outcome: null, not_taken, message: error.message };
    }
  }

  /** The decision that a body holds; throws Refusal(400) where it is none. */
  private decisionIn(body: JsonValue): WrittenDecision {
    const times = { decided_by: '', decided_at: this.runtime.clock.now() };
    const { given, args } = withoutArguments(body);
    const decided = recordOf<ApprovalDecided>('ApprovalDecided', isJsonObject(given) ? { ...times, ...given } : given);
    return { decided, args };
  }

  /** Throws Refusal where it cannot count. */
  private async judged(
    { decided: written, args }: WrittenDecision,
    caller: Caller,
    request: Request,
  ): Promise<{
    readonly judged: JudgedDecision;
    readonly outgoing: { readonly topic: typeof topics.approvals; readonly record: Approval };
    readonly headers: Readonly<Record<string, string>>;
  }> {
    const decided = await this.decisions.withEdit(written, args);
    const record = make.approval({ decided });
    requireSize(topics.approvals, record);
    const outgoing = { topic: topics.approvals, record } as const;
    const headers = await recordHeaders(request, outgoing, caller.principal, this.runtime);
    return { judged: await this.decisions.judge(decided, caller), outgoing, headers };
  }
}

/** The body of a decision by id. */
interface DecisionById {
  readonly decision: string;
  readonly arguments_hash: string;
  readonly reason?: string;
  readonly decided_for?: string | null;
  readonly arguments?: string | null;
}

/** A decision as its author wrote it, with what the call is to be made with; null where it keeps its own arguments. */
interface WrittenDecision {
  readonly decided: ApprovalDecided;
  readonly args: string | null;
}
