import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { credentialOf } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import type { Authenticator, Principal } from '@sluice/core';
import { AUTHENTICATOR, RUNTIME } from '@sluice/service';
import type { Runtime } from '@sluice/service';
import { Refusal } from './refusal.js';

/** A caller whose credential does not hold is not counted by name. */
const nobody = { tenant: '', actor: '', reason: 'credential' };

/**
 * Who asks over HTTP. The filter asks again, by the credential that goes along with the record: what the gateway finds out serves the
 * caller alone, who is refused at once, and sees its own runs and no others.
 */
@Injectable()
export class Callers {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  /** Throws Refusal(401) where the credential does not hold, and Refusal(403) for a page in a browser where there are none. */
  async of(request: Pick<Request, 'get'>): Promise<Principal> {
    const { clock, configurations, metrics } = this.runtime;
    const { identity } = configurations.current().configuration;
    // A page that a name of its own brings to this address would ask as everybody, and browsers say for every page where it is from.
    if (identity.provider === 'none' && request.get('origin') !== undefined)
      throw new Refusal(403, 'authz_denied', noPages);
    const sender = await this.authenticator.authenticate(identity, request.get('authorization'), clock.now());
    if (sender.ok) return sender.principal;
    metrics.refusedRequests.inc(nobody);
    throw new Refusal(401, 'authz_denied', sender.message, { 'www-authenticate': 'Bearer' });
  }

  /** Whether the caller is who sent the request, by the credential that came with it. */
  async isSender(caller: Principal, { headers, timestamp }: Incoming<'agent.requests'>): Promise<boolean> {
    const { identity } = this.runtime.configurations.current().configuration;
    const sender = await this.authenticator.authenticate(identity, credentialOf(headers), timestamp);
    return sender.ok && isSame(sender.principal, caller);
  }
}

const noPages =
  'Without an identity in the configuration no page in a browser may ask here. Ask from a server of yours, which sends no header `origin`, or configure an identity.';

/** Whether they are one: who may see a run is who made it. */
export function isSame(one: Principal, other: Principal): boolean {
  return one.tenantId === other.tenantId && one.actorId === other.actorId && one.subjectId === other.subjectId;
}
