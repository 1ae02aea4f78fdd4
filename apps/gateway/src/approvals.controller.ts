import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { topics } from '@sluice/contracts';
import type { ApprovalDecided } from '@sluice/contracts';
import { RUNTIME } from '@sluice/service';
import type { Runtime } from '@sluice/service';
import { Callers } from './caller.js';
import { recordHeaders } from './record-headers.js';
import { jsonBody, recordOf, requireSize } from './requests.js';

/** Decisions on calls that wait for one (docs/approvals.md). Whether a decision counts is the executor’s to say, on agent.approvals. */
@Controller('v1/approvals')
export class ApprovalsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  @Post()
  @HttpCode(202)
  async decide(@Req() request: Request): Promise<object> {
    const { bus, clock } = this.runtime;
    await this.callers.of(request);
    const body = jsonBody(request);
    const times = { decided_by: '', decided_at: clock.now() };
    const given = typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...times, ...body } : body;
    const decided = recordOf<ApprovalDecided>('ApprovalDecided', given);
    const record = { requested: null, decided, outcome: null };
    requireSize(topics.approvals, record);
    const headers = recordHeaders(request);
    await bus.publish([{ topic: topics.approvals, key: decided.sessionId, record, headers }]);
    return { approval_id: decided.approvalId, status: 'published' };
  }
}
