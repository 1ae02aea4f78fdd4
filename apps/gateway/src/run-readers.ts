import { Inject, Injectable } from '@nestjs/common';
import { isOperator } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Request } from 'express';
import { isMoreThanLink } from './local-access.js';
import { Operators } from './operators.js';
import { Refusal } from './refusal.js';

/** Who reads a run or a list of runs. */
export interface RunReader {
  /** With the tenant that is read: an operator may name another one. */
  readonly caller: Principal;
  /** Whether it sees what others of the tenant asked, too. */
  readonly seesAll: boolean;
}

/** The caller’s own runs alone: to begin and to cancel them. */
export function ownRuns(caller: Principal): RunReader {
  return { caller, seesAll: false };
}

/** The parameter by which an operator names a tenant. */
export const tenantParameter = {
  tenant: 'The tenant whose runs are read, for operators; the caller’s own unless given.',
} as const;

/** Who may read which runs: callers their own, operators those of every tenant, one tenant at a time. */
@Injectable()
export class RunReaders {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'configurations' | 'localSecret'>,
    @Inject(Operators) private readonly operators: Operators,
  ) {}

  /** Throws Refusal(403) where the caller names another tenant and is no operator. */
  async of(caller: Principal, tenant: unknown, route: string): Promise<RunReader> {
    if (tenant !== undefined && (typeof tenant !== 'string' || tenant === ''))
      throw new Refusal(400, 'invalid_request', 'Write tenant once, with the name of a tenant, or leave it out.');
    const { identity } = this.runtime.configurations.current().configuration;
    if (tenant === undefined || tenant === caller.tenantId) return { caller, seesAll: isOperator(caller, identity) };
    await this.operators.require(caller, route);
    return { caller: { ...caller, tenantId: tenant }, seesAll: true };
  }

  /** The same where the link of a run may have been given instead of a credential: it shows that run alone. */
  async ofRequest(http: Request, caller: Principal, tenant: unknown, route: string): Promise<RunReader> {
    return isMoreThanLink(http, this.runtime) ? this.of(caller, tenant, route) : ownRuns(caller);
  }
}
