import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '@sluice/core';
import { requestIdOf } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { whenGone } from '../client-disconnect.js';
import { parametersOf } from '../lists/list-query.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByPrincipal } from '../rights.js';
import { locationOfLink } from '../run-location.js';
import { RunReaders } from '../run-readers.js';
import { RunsService } from '../runs.service.js';
import { iterationOf, verdictParameters } from './run-parameters.js';
import { RunVerdicts } from './run-verdicts.js';

/** Which tools a run had at each iteration, and why not the others. */
@Controller()
export class VerdictsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'localSecret'>,
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(RunReaders) private readonly readers: RunReaders,
  ) {}

  @Route('readVerdicts')
  async verdicts(
    @ByPrincipal() caller: Principal,
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { iteration, tenant } = parametersOf(query, verdictParameters);
    const only = iterationOf(iteration);
    const reader = await this.readers.ofRequest(http, caller, tenant, 'GET /v1/runs/{request_id}/verdicts');
    const leaving = new AbortController();
    whenGone(response, () => leaving.abort());
    const at = locationOfLink({ requestId, query }, this.runtime.clock.now()) ?? requestId;
    const verdicts = new RunVerdicts(reader, this.runtime.configurations, only);
    for await (const message of this.runs.records(at, reader, leaving.signal))
      if (requestIdOf(message) === requestId) verdicts.add(message);
    if (leaving.signal.aborted) return;
    if (only !== null && verdicts.isEmpty)
      throw new Refusal(404, 'not_found', `The run has no iteration ${only}. Leave it out to see those that it has.`);
    response.json({ request_id: requestId, iterations: verdicts.all() });
  }
}
