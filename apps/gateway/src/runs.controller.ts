import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RunsService } from './runs.service.js';
import { prefers } from './prefers.js';
import { Route } from './openapi/route.js';

/** Runs over HTTP: started, waited for, streamed, cancelled (docs/http.md). */
@Controller()
export class RunsController {
  constructor(@Inject(RunsService) private readonly runs: RunsService) {}

  @Route('startRun')
  begin(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runs.begin(request, prefers(request), response);
  }

  @Route('readRun')
  see(
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.runs.see({ requestId, query }, request, prefers(request), response);
  }

  @Route('cancelRun')
  cancel(
    @Param('request_id') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.runs.cancel({ requestId, query }, request, prefers(request), response);
  }
}
