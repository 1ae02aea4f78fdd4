import { Inject, Injectable } from '@nestjs/common';
import type { Authenticator, Principal } from '@sluice/core';
import { AUTHENTICATOR, RUNTIME } from '@sluice/service';
import type { Runtime } from '@sluice/service';
import { Refusal } from './refusal.js';

/** Nobody whose credential does not hold is counted by name. */
const nobody = { tenant: '', actor: '', reason: 'credential' };

/**
 * Who asks over HTTP. The filter asks again, by the credential that goes along with the record: what the gateway finds out serves the
 * caller alone, who is refused at once, and sees its own runs and nobody else's.
 */
@Injectable()
export class Callers {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  /** Throws Refusal(401) where the credential does not hold. */
  async of(authorization: string | undefined): Promise<Principal> {
    const { clock, configurations, metrics } = this.runtime;
    const { identity } = configurations.current().configuration;
    const sender = await this.authenticator.authenticate(identity, authorization, clock.now());
    if (sender.ok) return sender.principal;
    metrics.refusedRequests.inc(nobody);
    throw new Refusal(401, 'authz_denied', sender.message, { 'www-authenticate': 'Bearer' });
  }
}

/** Whether they are one: who may see a run is who made it. */
export function isSame(one: Principal, other: Principal): boolean {
  return one.tenantId === other.tenantId && one.actorId === other.actorId && one.subjectId === other.subjectId;
}
