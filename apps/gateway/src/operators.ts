import { make } from '@sluice/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { isOperator } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Denials } from './denials.js';
import { Refusal } from './refusal.js';

/** Who may see and redrive what is of every tenant: those whom the configuration names. */
@Injectable()
export class Operators {
  private readonly denials: Denials;

  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {
    this.denials = new Denials(runtime);
  }

  /** Throws Refusal(403) where the caller is no operator, once that is written down for the audit. */
  async require(caller: Principal, route: string): Promise<void> {
    const { configuration } = this.runtime.configurations.current();
    if (isOperator(caller, configuration.identity)) return;
    const { tenantId, actorId, subjectId, groups } = caller;
    const code = 'authz_denied';
    this.runtime.log.warn({ route, actor: actorId, tenant: tenantId }, notOperator);
    await this.denials.write(
      make.accessDenial({
        route,
        code,
        reason: notOperator,
        kind: 'operator',
        tenantId,
        actorId,
        subjectId,
        permittedGroups: groups,
        configVersion: configuration.version,
        at: this.runtime.clock.now(),
      }),
    );
    throw new Refusal(403, code, notOperator);
  }
}

const notOperator =
  'This is for operators, whom identity.operators of the configuration names. Ask one of them, or have yourself named there.';
