import { Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { decisionsOpenTo } from '@sluice/core';
import type { AskedApproval, Configuration, Principal } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { ApprovalDecided } from '@sluice/contracts';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Callers } from './caller.js';
import { approvalQuery, cursorFor } from './lists/list-query.js';
import { Lists } from './lists/lists.js';
import { recordHeaders } from './record-headers.js';
import { recordOf, requireSize } from './requests.js';
import { strictBody } from './strict-body.js';

/** A decision, with what `approval_requested` holds beside it: who decides may send all of that back. */
export const decisionRecords = ['ApprovalDecided', 'ApprovalRequested'] as const;

/** Decisions on calls that wait for one (docs/approvals.md). Whether a decision counts is the executor’s to say, on agent.approvals. */
@Controller('v1/approvals')
export class ApprovalsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Lists) private readonly lists: Lists,
  ) {}

  /** What waits in the caller’s tenant, if the caller is an approver; to others nothing does. */
  @Get()
  async list(@Req() request: Request, @Query() query: Readonly<Record<string, unknown>>): Promise<object> {
    const { clock, configurations } = this.runtime;
    const caller = await this.callers.of(request);
    const { limit, after } = approvalQuery(query);
    const { configuration } = configurations.current();
    const openTo = (asked: Pick<AskedApproval, 'requestedBy' | 'onBehalfOf'>) =>
      decisionsOf(caller, asked, configuration);
    const isApprover = openTo({ requestedBy: '', onBehalfOf: null }).length > 0;
    const found = isApprover ? await this.lists.projection.approvals(caller, clock.now(), after, limit + 1) : [];
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return {
      approvals: page.map(({ asked }) => ({
        approval: asked,
        decisions: openTo({ requestedBy: asked.requested_by, onBehalfOf: asked.on_behalf_of }),
      })),
      next_cursor: last === undefined ? null : cursorFor({ startedAt: last.requestedAt, requestId: last.approvalId }),
    };
  }

  @Post()
  @HttpCode(202)
  async decide(@Req() request: Request): Promise<object> {
    const { bus, clock } = this.runtime;
    await this.callers.of(request);
    const body = strictBody(request, decisionRecords);
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

/** What the caller may decide on a call of its tenant. */
function decisionsOf(
  { actorId, tenantId }: Principal,
  asked: Pick<AskedApproval, 'requestedBy' | 'onBehalfOf'>,
  { identity, policy }: Pick<Configuration, 'identity' | 'policy'>,
): readonly string[] {
  // Without an identity a decision may be in any approver’s name.
  const names = identity.provider === 'none' ? policy.approvers : [actorId];
  const open = names.flatMap((name) => decisionsOpenTo({ ...asked, tenantId }, { actorId: name, tenantId }, policy));
  return ['approve', 'refuse'].filter((decision) => open.some((one) => one === decision));
}
