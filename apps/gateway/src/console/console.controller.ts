import { Controller, Inject, Req } from '@nestjs/common';
import { isOperator, programVersion } from '@sluice/core';
import { namesInClone, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Request } from 'express';
import { Callers, isConsole } from '../caller.js';
import type { Caller } from '../caller.js';
import { mayDecide } from '../open-decisions.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByCaller } from '../rights.js';
import { strictFields } from '../strict-body.js';
import { SignIn } from './sign-in.js';

/** What the console asks for before anything else: what this installation is, how one signs in, and who one is. */
@Controller()
export class ConsoleController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(SignIn) private readonly signIns: SignIn,
  ) {}

  @Route('readConsole')
  about(): object {
    const { configurations, environment, localSecret } = this.runtime;
    const { command, start } = environment.calledAs ?? namesInClone;
    const { identity } = configurations.current().configuration;
    const client = identity.provider === 'jwt' ? identity.console : undefined;
    const byIdentity = {
      none: localSecret.isKnown ? ['local', 'token'] : [],
      'api-keys': ['api_key'],
      jwt: [...(client === undefined ? [] : ['oidc']), 'token', 'api_key'],
    };
    return {
      version: programVersion,
      identity: identity.provider,
      sign_in: byIdentity[identity.provider],
      oidc:
        client === undefined
          ? null
          : {
              issuer: client.issuer,
              client_id: client.clientId,
              scopes: client.scopes,
              resource: client.resource,
            },
      bus: environment.bus === 'kafka' ? 'kafka' : 'embedded',
      docs: '/docs',
      ...{ command, start },
    };
  }

  @Route('signIn')
  signIn(@Req() request: Request): Promise<object> {
    this.requireOwnPage(request);
    const body = strictFields(request, ['code', 'public_key']);
    if (typeof body['code'] !== 'string') throw invalid('code must be the text behind `#sign-in=` in the link.');
    return this.signIns.byCode(body['code'], body['public_key'] ?? null);
  }

  @Route('renewSignIn')
  renew(@Req() request: Request): Promise<object> {
    this.requireOwnPage(request);
    const { session, at, signature } = strictFields(request, ['session', 'at', 'signature']);
    if (typeof session !== 'string' || typeof signature !== 'string')
      throw invalid('session and signature must be texts: what the sign-in gave, and its signature with `at`.');
    if (typeof at !== 'number' || !Number.isSafeInteger(at))
      throw invalid('at must be the time, in milliseconds since the epoch.');
    return this.signIns.renew(session, at, signature);
  }

  @Route('readMe')
  me(@ByCaller() caller: Caller): object {
    const { principal, expiresAt } = caller;
    const { configuration } = this.runtime.configurations.current();
    const isAnOperator = isOperator(principal, configuration.identity);
    return {
      tenant: principal.tenantId,
      user: principal.actorId,
      on_behalf_of: principal.subjectId,
      identity: configuration.identity.provider,
      groups: principal.groups,
      connections: principal.connections,
      is_operator: isAnOperator,
      is_approver: mayDecide(caller, configuration),
      // Chains of the audit and their proofs are of all tenants.
      is_auditor: isAnOperator,
      expires_at: expiresAt,
    };
  }

  /** Throws Refusal(403) for another machine and for a page that this gateway did not serve. */
  private requireOwnPage(request: Request): void {
    this.callers.requireNear(request);
    const isOther = request.get('origin') !== undefined && !isConsole(request, this.runtime.environment);
    const site = request.get('sec-fetch-site');
    if (isOther || (site !== undefined && site !== 'same-origin' && site !== 'none'))
      throw new Refusal(403, 'authz_denied', 'Only the console that this gateway serves signs in here.');
  }
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
