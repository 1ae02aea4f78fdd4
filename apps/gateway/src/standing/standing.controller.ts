import { randomUUID } from 'node:crypto';
import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isOperator } from '@sluice/core';
import type { StandingApproval } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { StandingApproval as WrittenStanding } from '@sluice/contracts';
import { toolNames } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Caller } from '../caller.js';
import { whenGone } from '../client-disconnect.js';
import { mayDecide } from '../open-decisions.js';
import { Route } from '../openapi/route.js';
import { prefers } from '../prefers.js';
import { recordHeaders } from '../record-headers.js';
import { requireSize } from '../requests.js';
import { ByCaller } from '../rights.js';
import { givenIn, revokedIn } from './standing-body.js';
import { StandingDecisions } from './standing-decisions.js';

/** For how long an executor is waited for where the caller does not say, milliseconds. */
const waitMs = 5_000;

/** Approvals of calls to come: listed, given and revoked (docs/approvals.md). */
@Controller()
export class StandingController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(StandingDecisions) private readonly decisions: StandingDecisions,
  ) {}

  /** Those of the caller’s tenant, if the caller is an approver or an operator; to others there are none. */
  @Route('listStandingApprovals')
  async list(@ByCaller() caller: Caller): Promise<object> {
    const { configuration } = this.runtime.configurations.current();
    const { principal } = caller;
    if (!mayDecide(caller, configuration) && !isOperator(principal, configuration.identity))
      return { standing_approvals: [] };
    const all = await this.decisions.approvals.of(principal.tenantId);
    const used = await this.decisions.approvals.used(principal.tenantId, all);
    const calls = all.map(({ tool }) => ({ tool, configVersion: configuration.version }));
    const tools = toolNames(calls, this.runtime.configurations);
    return {
      standing_approvals: all.map((one, n) => ({
        ...standingJson(one, used[n] ?? 0),
        tool_key: tools[n]?.key ?? one.tool,
      })),
    };
  }

  @Route('giveStandingApproval')
  async give(@ByCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    const standing_id = `s-${randomUUID().replaceAll('-', '').slice(0, 20)}`;
    const added = { action: 'give', standing_id, decided_at: this.runtime.clock.now() } as const;
    await this.write(givenIn(request, added), caller, request, response);
  }

  @Route('revokeStandingApproval')
  async revoke(
    @ByCaller() caller: Caller,
    @Param('standing_id') standing_id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const added = { action: 'revoke', standing_id, decided_at: this.runtime.clock.now() } as const;
    await this.write(revokedIn(request, added), caller, request, response);
  }

  private async write(standing: WrittenStanding, caller: Caller, request: Request, response: Response): Promise<void> {
    const { standingId: standing_id } = standing;
    const outgoing = { topic: topics.approvals, record: make.approval({ standing }) } as const;
    requireSize(topics.approvals, outgoing.record);
    const headers = await recordHeaders(request, outgoing, caller.principal, this.runtime);
    let isTaken = await this.decisions.wasTaken(standing, caller);
    if (!isTaken) {
      await this.runtime.bus.publish([{ ...outgoing, key: standing_id, headers }]);
      const gone = new AbortController();
      whenGone(response, () => gone.abort());
      const preference = prefers(request);
      const isSaid = request.get('prefer') !== undefined && preference.kind === 'wait';
      const milliseconds = isSaid ? preference.milliseconds : waitMs;
      isTaken = await this.decisions.isTaken(standing, caller.principal.tenantId, milliseconds, gone.signal);
    }
    const status = isTaken ? 'taken' : 'published';
    response.status(isTaken ? 200 : 202).json({ standing_id, status });
  }
}

function standingJson(one: StandingApproval, used: number): object {
  const { id, tool, bounds, session, user, until, calls, givenBy, givenFor = null, reason, givenAt, revoked } = one;
  return {
    ...{ standing_id: id, tool, bounds, session_id: session, user, until, calls, used },
    ...{ given_by: givenBy, given_for: givenFor, reason, given_at: givenAt },
    ...{ revoked_by: revoked?.by ?? null, revoked_at: revoked?.at ?? null, revoked_because: revoked?.reason ?? null },
  };
}
