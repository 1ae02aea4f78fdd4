import { Controller, Inject, Req } from '@nestjs/common';
import type { Request } from 'express';
import { mayCancelRunsOf } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { hasEnded, claimingRequest } from '@sluice/run';
import { Callers } from './caller.js';
import { describedBody } from './described-body.js';
import { Route } from './openapi/route.js';
import { Refusal } from './refusal.js';
import { ByPrincipal } from './rights.js';
import { locationOfRequest } from './run-location.js';
import { RunsService } from './runs.service.js';

/** The body of `POST /v1/cancellations`, by its schema. */
interface CancellationBody {
  readonly request_id: string;
  readonly reason?: string;
}

/**
 * Cancels runs of one's own, and those that `may_cancel` of their agent's entry lets one cancel. That shows nothing of
 * the run: who began it reads it.
 */
@Controller()
export class CancellationsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'bus' | 'clock' | 'configurations' | 'ledger'>,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunsService) private readonly runs: RunsService,
  ) {}

  @Route('requestCancellation')
  async cancel(@ByPrincipal() caller: Principal, @Req() http: Request): Promise<object> {
    const { request_id: requestId, reason = '' } = describedBody<CancellationBody>(http, 'CancellationRequest');
    const named = { requestId, tenant: caller.tenantId };
    const { configuration } = this.runtime.configurations.current();
    const message = await claimingRequest(named, this.runtime);
    const mayCancel =
      message !== null &&
      ((await this.callers.isSender(caller, message)) || mayCancelRunsOf(message.record, caller, configuration));
    if (!mayCancel)
      throw new Refusal(404, 'not_found', 'There is no run of this request_id that you may cancel. Look at its id.');
    if (await hasEnded({ ...named, attempt: null }, this.runtime)) return { request_id: requestId, status: 'ended' };
    const asked = { run: locationOfRequest(message), caller, reason: reason.toWellFormed(), headers: http };
    await this.runs.askToCancel(asked);
    return { request_id: requestId, status: 'cancelling' };
  }
}
