import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isOperator } from '@sluice/core';
import type { Principal } from '@sluice/core';
import type { ListedRun, RunFilter } from '@sluice/projection';
import { waitingOf } from '@sluice/run';
import type { Waiting } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Callers } from '../caller.js';
import { whenGone } from '../client-disconnect.js';
import { linkToken } from '../local-access.js';
import { prefers } from '../prefers.js';
import { RunReaders } from '../run-readers.js';
import type { RunReader } from '../run-readers.js';
import { RunListFollowers, runListEvents } from '../stream/run-list-stream.js';
import type { RunChanges, RunRow } from '../stream/run-list-stream.js';
import { sendStream } from '../send-stream.js';
import { Refusal } from '../refusal.js';
import { waitingJson } from '../run-json.js';
import { shownArguments } from '@sluice/core';
import { stepJson, tokensOf } from '../run-progress.js';
import { whereIs } from '../run-location.js';
import type { RunLocation } from '../run-location.js';
import {
  beforeForm,
  cursorFor,
  limitOf,
  parametersOf,
  runQuery,
  sessionParameters,
  stepParameters,
} from './list-query.js';
import { Lists } from './lists.js';
import { Route } from '../openapi/route.js';
import { ByPrincipal } from '../rights.js';

type Queried = Readonly<Record<string, unknown>>;

interface StreamedList {
  readonly http: Request;
  readonly principal: Principal;
  readonly reader: RunReader;
  readonly filter: RunFilter;
  readonly limit: number;
}

/** Lists of runs and sessions, from this instance’s projection (docs/http.md). */
@Controller()
export class ListsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunReaders) private readonly readers: RunReaders,
    @Inject(RunListFollowers) private readonly followers: RunListFollowers,
  ) {}

  /** The runs of the caller’s tenant; what others asked is not shown. */
  @Route('listRuns')
  async runs(
    @ByPrincipal() principal: Principal,
    @Query() query: Queried,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { filter: wanted, tenant, limit, after } = runQuery(query, this.runtime.clock.now());
    const reader = await this.readers.of(principal, tenant, 'GET /v1/runs');
    // Who may not read the questions of others finds nothing by their words.
    const filter = wanted.words === undefined || reader.seesAll ? wanted : { ...wanted, own: true as const };
    if (prefers(http).kind === 'stream') return this.stream({ http, principal, reader, filter, limit }, response);
    const { runs, next } = await this.lists.projection.page(reader.caller, filter, after, limit);
    const listed = await Promise.all(runs.map((run) => this.row(run, reader)));
    response.json({ runs: listed, next_cursor: next === null ? null : cursorFor(next) });
  }

  /** The newest runs, then each that changes, until the reader goes away, its credential ends or the gateway stops. */
  private async stream({ http, principal, reader, filter, limit }: StreamedList, response: Response): Promise<void> {
    const { projection } = this.lists;
    const follower = this.followers.follow(principal);
    try {
      whenGone(response, () => follower.abort());
      const source: RunChanges = {
        latest: () => this.followers.latest(() => projection.latestChange(), this.runtime.clock.now()),
        newest: async () => (await projection.page(reader.caller, filter, null, limit)).runs,
        changed: (behind, most) => projection.changes(reader.caller, filter, behind, most),
        row: (run) => this.row(run, reader),
        holds: async () =>
          (await this.callers.holds(http, principal)) && (!reader.seesAll || this.isOperator(principal)),
      };
      await sendStream(response, runListEvents(source, filter, follower.signal));
    } catch (error) {
      if (!response.headersSent) throw error;
      if (!follower.signal.aborted)
        this.runtime.log.warn({ error: String(error) }, 'a stream of the list of runs over HTTP was cut');
    } finally {
      follower.abort();
    }
  }

  private isOperator(principal: Principal): boolean {
    return isOperator(principal, this.runtime.configurations.current().configuration.identity);
  }

  private async row(run: ListedRun, { caller, seesAll }: RunReader): Promise<RunRow> {
    const isSeen = seesAll || isOwn(run, caller);
    const waiting = isSeen ? await this.waiting(run, caller) : null;
    return listed(run, isSeen, (one) => whereIs(one, linkToken(one, this.runtime)), waiting);
  }

  /** What a run waits for; null where it waits for nothing. */
  private async waiting(run: ListedRun, caller: Principal): Promise<Waiting | null> {
    if (run.endedAt !== null) return null;
    const waiting = await waitingOf(run.requestId, caller.tenantId, this.runtime);
    return waiting?.iteration === run.iterations ? waiting : null;
  }

  /** The caller’s own sessions. */
  @Route('listSessions')
  async sessions(@ByPrincipal() caller: Principal, @Query() query: Queried): Promise<object> {
    const { limit, before } = parametersOf(query, sessionParameters);
    if (before !== undefined && !beforeForm.test(before))
      throw new Refusal(400, 'invalid_request', 'before must be next_before of the page before.');
    const most = limitOf(limit);
    const found = await this.lists.projection.sessions(caller, before === undefined ? null : Number(before), most);
    const sessions = found.map(({ sessionId, runs, startedAt, updatedAt }) => ({
      session_id: sessionId,
      runs,
      started_at: startedAt,
      updated_at: updatedAt,
    }));
    return { sessions, next_before: found.length < most ? null : (found.at(-1)?.updatedAt ?? null) };
  }

  /** The steps of the caller’s own runs in a session, without their results. */
  @Route('listSteps')
  async steps(
    @ByPrincipal() caller: Principal,
    @Param('session_id') sessionId: string,
    @Query() query: Queried,
  ): Promise<object> {
    const { limit } = parametersOf(query, stepParameters);
    const steps = await this.lists.projection.steps(caller, sessionId, limitOf(limit));
    const shown = shownArguments(this.runtime.configurations.current().configuration.tools);
    return {
      session_id: sessionId,
      steps: steps.map(([requestId, step]) => ({
        request_id: requestId,
        iteration: step.iteration,
        ...stepJson(step, shown),
      })),
    };
  }
}

function isOwn({ actor, subject }: ListedRun, caller: Principal): boolean {
  return actor === caller.actorId && subject === caller.subjectId;
}

function listed(
  run: ListedRun,
  isSeen: boolean,
  linkTo: (run: RunLocation) => string,
  waiting: Waiting | null,
): RunRow {
  const { requestId, sessionId, actor, subject, startedAt, endedAt, microUsd } = run;
  return {
    request_id: requestId,
    session_id: sessionId,
    user: actor,
    on_behalf_of: subject,
    parent: run.parent || null,
    agent: run.agent || null,
    question: isSeen ? run.question : null,
    status: endedAt === null ? 'running' : 'ended',
    outcome: run.outcome,
    state: run.state,
    iterations: run.iterations,
    model: run.model || null,
    tokens: tokensOf(run),
    usd: microUsd === null ? null : microUsd / 1_000_000,
    started_at: startedAt,
    ended_at: endedAt,
    duration_ms: endedAt === null ? null : endedAt - startedAt,
    ...(waiting === null ? {} : { waiting: waitingJson(waiting) }),
    href: isSeen ? linkTo({ requestId, sessionId, since: startedAt }) : null,
  };
}
