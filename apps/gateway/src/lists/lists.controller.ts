import { Controller, Inject, Param, Query } from '@nestjs/common';
import type { Principal } from '@sluice/core';
import type { ListedRun } from '@sluice/projection';
import { waitingOf } from '@sluice/run';
import type { Waiting } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { linkToken } from '../local-access.js';
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

/** Lists of runs and sessions, from this instance’s projection (docs/http.md). */
@Controller()
export class ListsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {}

  /** The runs of the caller’s tenant; what others asked is not shown. */
  @Route('listRuns')
  async runs(@ByPrincipal() caller: Principal, @Query() query: Queried): Promise<object> {
    const { filter, limit, after } = runQuery(query, this.runtime.clock.now());
    const found = await this.lists.projection.runs(caller, filter, after, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const linkTo = (one: RunLocation): string => whereIs(one, linkToken(one, this.runtime));
    const runs = await Promise.all(
      page.map(async (run) => listed(run, caller, linkTo, await this.waiting(run, caller))),
    );
    return { runs, next_cursor: last === undefined ? null : cursorFor(last) };
  }

  /** What the caller’s own run waits for; null for others, and where it waits for nothing. */
  private async waiting(run: ListedRun, caller: Principal): Promise<Waiting | null> {
    if (run.endedAt !== null || !isOwn(run, caller)) return null;
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
  caller: Principal,
  linkTo: (run: RunLocation) => string,
  waiting: Waiting | null,
): object {
  const { requestId, sessionId, actor, subject, startedAt, endedAt } = run;
  const own = isOwn(run, caller);
  return {
    request_id: requestId,
    session_id: sessionId,
    user: actor,
    on_behalf_of: subject,
    question: own ? run.question : null,
    status: endedAt === null ? 'running' : 'ended',
    outcome: run.outcome,
    state: run.state,
    iterations: run.iterations,
    tokens: tokensOf(run),
    started_at: startedAt,
    ended_at: endedAt,
    ...(waiting === null ? {} : { waiting: waitingJson(waiting) }),
    href: own ? linkTo({ requestId, sessionId, since: startedAt }) : null,
  };
}
