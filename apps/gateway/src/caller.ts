import type { RequestTopic } from '@sluice/contracts';
import type { Socket } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Incoming } from '@sluice/bus';
import { deciderBy } from '@sluice/core';
import type { Authenticator, Decider, JsonObject, Principal } from '@sluice/core';
import { AUTHENTICATOR, hostProblem, isLoopback, otherMachine, peerOf, RUNTIME, VerifiedCallers } from '@sluice/host';
import type { Environment, Runtime } from '@sluice/host';
import { isOpen, requireLink, requireSecret } from './local-access.js';
import { countCaller } from './rate-limit.js';
import { Refusal } from './refusal.js';
import type { RunLocation } from './run-location.js';

type Came = Pick<Request, 'get' | 'res'> & { readonly socket: Pick<Socket, 'remoteAddress'> };

export interface Caller {
  readonly principal: Principal;
  /** Those of a verified credential; undefined where there is none. */
  readonly claims: JsonObject | undefined;
  /** The caller as one who may decide on calls that wait. */
  readonly decider: Decider;
  /** When its credential ends, milliseconds since the epoch; null where it does not. */
  readonly expiresAt: number | null;
}

/** Who asks over HTTP. */
@Injectable()
export class Callers {
  private readonly verified: VerifiedCallers;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) authenticator: Authenticator,
  ) {
    this.verified = new VerifiedCallers(runtime, authenticator);
  }

  /**
   * Counts the request as one of its caller. Throws Refusal(401) where the credential does not hold, or without an
   * identity the local secret, and Refusal(429) beyond the caller’s limit. Where there is no identity, Refusal(403)
   * for another machine and for a page in a browser.
   */
  async of(request: Came): Promise<Caller> {
    this.requireNear(request);
    requireSecret(request, this.runtime);
    return this.verify(request);
  }

  /** As `of`, for what begins a run or says what one may ask for: that needs no local secret. */
  async asking(request: Came): Promise<Caller> {
    this.requireNear(request);
    return this.verify(request);
  }

  /** As `of`, for what is about one run: the token of its link is enough. */
  async ofRun(request: Came, run: RunLocation, token: unknown): Promise<Caller> {
    this.requireNear(request);
    requireLink(request, run, token, this.runtime);
    return this.verify(request);
  }

  /** Where there is no identity, throws Refusal(403) for another machine and for a page in a browser. */
  requireNear(request: Came): void {
    const { environment } = this.runtime;
    if (!isOpen(this.runtime)) return;
    if (!isLoopback(peerOf(request.socket, environment))) throw new Refusal(403, 'authz_denied', otherMachine);
    // A server on another address serves every name, and so do ports that a container publishes; who asks as this
    // machine names this machine.
    const foreign = hostProblem(request.get('host'), environment);
    if (foreign !== null) throw new Refusal(403, 'authz_denied', foreign);
    // A page that a name of its own brings to this address would ask as everybody, and browsers say for every page
    // where it is from.
    const origin = request.get('origin');
    const isAllowed =
      origin === undefined || environment.httpOrigins.includes(origin) || isConsole(request, environment);
    if (!isAllowed) throw new Refusal(403, 'authz_denied', noPages);
  }

  private async verify(request: Came): Promise<Caller> {
    const sender = await this.verified.verify(request.get('authorization'));
    if (!sender.ok) throw new Refusal(401, 'authz_denied', sender.message, { 'www-authenticate': 'Bearer' });
    const { principal, claims, expiresAt = null } = sender;
    const decider = deciderBy(sender);
    await countCaller(principal, request.res, this.runtime);
    const { clock, localSecret } = this.runtime;
    const ownEnd = isOpen(this.runtime) ? localSecret.expiryIn(request.get('authorization'), clock.now()) : expiresAt;
    return { principal, claims, decider, expiresAt: ownEnd };
  }

  /** Whether the credential that the request came with is still the caller’s; counts nothing. */
  async holds(request: Pick<Request, 'get'>, { tenantId, actorId }: Principal): Promise<boolean> {
    const sender = await this.verified.verify(request.get('authorization'));
    const { clock, localSecret } = this.runtime;
    if (isOpen(this.runtime) && !localSecret.isIn(request.get('authorization'), clock.now())) return false;
    return sender.ok && sender.principal.tenantId === tenantId && sender.principal.actorId === actorId;
  }

  /** Whether the caller is who sent the request, by the credential that came with it. */
  isSender(caller: Principal, request: Incoming<RequestTopic>): Promise<boolean> {
    return this.verified.isSender(caller, request);
  }
}

/**
 * Whether a page asks that this gateway served. Its `Host` is known to name this machine, so no page of another name
 * or another port has the same origin.
 */
export function isConsole(request: Pick<Request, 'get'>, { http }: Pick<Environment, 'http'>): boolean {
  const [origin, host] = [request.get('origin'), request.get('host')];
  return http.isConsoleServed && host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

const noPages =
  'Without an identity in the configuration no page in a browser may ask here but the console and those of SLUICE_HTTP_ORIGINS. Ask from a server of yours, which sends no header `origin`, or configure an identity.';
