import { Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RunsService } from './runs.service.js';
import { prefers } from './prefers.js';

/** Runs over HTTP: started, waited for, streamed, cancelled (docs/http.md). */
@Controller('v1/runs')
export class RunsController {
  constructor(@Inject(RunsService) private readonly runs: RunsService) {}

  @Post()
  begin(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runs.begin(request, prefers(request), response);
  }

  @Get(':requestId')
  see(
    @Param('requestId') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.runs.see({ requestId, query }, request, prefers(request), response);
  }

  @Post(':requestId/cancel')
  cancel(
    @Param('requestId') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.runs.cancel({ requestId, query }, request, prefers(request), response);
  }
}
