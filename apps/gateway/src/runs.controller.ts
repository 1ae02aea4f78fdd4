import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { longestCancelReason } from '@sluice/run';
import { Route } from './openapi/route.js';
import { ByPrincipal } from './rights.js';
import { prefers } from './prefers.js';
import { idOfKey } from './repeated-request.js';
import { requestOf } from './requests.js';
import { answerOver } from './run-answer.js';
import { locationOfLink } from './run-location.js';
import type { RunLocation, RunQuery } from './run-location.js';
import { ownRuns, RunReaders } from './run-readers.js';
import type { RunReader } from './run-readers.js';
import { RunsService } from './runs.service.js';
import { preferenceIn } from './stream-format.js';
import { strictBody } from './strict-body.js';
import { Refusal } from './refusal.js';
import { questionBody } from './uploads/question-parts.js';

/** Runs over HTTP: started, waited for, streamed, cancelled (docs/http.md). */
@Controller()
export class RunsController {
  constructor(
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(RunReaders) private readonly readers: RunReaders,
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'localSecret'>,
  ) {}

  @Route('startRun')
  async begin(@ByPrincipal() caller: Principal, @Req() http: Request, @Res() response: Response): Promise<void> {
    const { limits } = this.runtime.configurations.current().configuration;
    const { body, parts } = questionBody(http);
    const { request, isNamed } = requestOf(body, idOfKey(http, caller), limits);
    const { preference, format } = preferenceIn(http);
    await this.runs.begin({ caller, request, parts, isNamed, headers: http }, preference, answerOver(response, format));
  }

  @Route('readRun')
  async see(
    @ByPrincipal() caller: Principal,
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const reader = await this.readers.ofRequest(http, caller, query['tenant'], 'GET /v1/runs/{request_id}');
    const run = await this.located({ requestId, query }, reader);
    const { preference, format } = preferenceIn(http);
    await this.runs.see(run, reader, preference, answerOver(response, format));
  }

  @Route('cancelRun')
  async cancel(
    @ByPrincipal() caller: Principal,
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    // Who started a run may end it; the link says that for this run alone.
    const run = await this.located({ requestId, query }, ownRuns(caller));
    const asked = { run, caller, reason: cancelReason(http), headers: http };
    await this.runs.cancel(asked, prefers(http), answerOver(response));
  }

  /** Where the run is: by its link, or by its request_id alone, which the ledger knows once a filter has taken it. */
  private async located(asked: RunQuery, reader: RunReader): Promise<RunLocation> {
    return locationOfLink(asked, this.runtime.clock.now()) ?? this.runs.locate(asked.requestId, reader);
  }
}

/** Why the caller cancels its run, '' where it does not say. Throws Refusal(400) with what to change. */
function cancelReason(http: Request): string {
  if (http.get('transfer-encoding') === undefined && Number(http.get('content-length') ?? 0) === 0) return '';
  const body = strictBody(http, ['Cancellation'], ['reason']);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'invalid_request', 'The body must be an object, or be left out.');
  const { reason = '' } = body as { readonly reason?: unknown };
  if (typeof reason !== 'string' || reason.length > longestCancelReason)
    throw new Refusal(400, 'invalid_request', `reason must be text of at most ${longestCancelReason} characters.`);
  return reason.toWellFormed();
}
