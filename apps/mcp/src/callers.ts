import type { RequestTopic } from '@sluice/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Incoming } from '@sluice/bus';
import { deciderBy } from '@sluice/core';
import type { Authenticator, Decider, JsonObject, Principal } from '@sluice/core';
import { AUTHENTICATOR, RUNTIME, VerifiedCallers } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { readCredential } from '@sluice/mcp';
import { StateCredentials } from './state-credentials.js';
import type { StateCredential } from './state-credentials.js';

/**
 * Who calls, and the credential that proves it to the filter, as `Bearer …`; undefined where no identity is
 * configured.
 */
export interface Caller {
  readonly principal: Principal;
  /** Those of its credential; undefined where there is none. */
  readonly claims: JsonObject | undefined;
  readonly authorization: string | undefined;
  /** The caller as one who may decide on calls that wait. */
  readonly decider: Decider;
  /**
   * What a state credential of the caller stands for: the credential, or without an identity the local secret where
   * it came; null for neither.
   */
  readonly token: string | null;
  /**
   * Whether the caller may decide on calls that wait. Without an identity that takes the local secret: any program of
   * the machine may call.
   */
  readonly mayDecide: boolean;
  /** The state credential that came with the request; null where there is none. */
  readonly state: StateCredential | null;
}

/** Who calls, by the same verification as everywhere. */
@Injectable()
export class Callers {
  private readonly verified: VerifiedCallers;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) authenticator: Authenticator,
    @Inject(StateCredentials) private readonly credentials: StateCredentials,
  ) {
    this.verified = new VerifiedCallers(runtime, authenticator);
  }

  /** The caller, or what is wrong with the credential. */
  async of(authorization: string | undefined): Promise<Caller | { readonly refused: string }> {
    const written = readCredential(/^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
    const own = written === null ? authorization : written.token === null ? undefined : `Bearer ${written.token}`;
    const sender = await this.verified.verify(own);
    if (!sender.ok) return { refused: sender.message };
    const { principal, claims } = sender;
    const caller = { principal, claims, decider: deciderBy(sender), ...this.proven(own) };
    if (written === null) return { ...caller, state: null };
    const state = await this.credentials.verify(written.session, written.secret, principal);
    return 'refused' in state ? state : { ...caller, state };
  }

  /** What the header proves. The local secret does not belong on the log. */
  private proven(own: string | undefined): Pick<Caller, 'authorization' | 'token' | 'mayDecide'> {
    const { clock, configurations, localSecret } = this.runtime;
    const isOpen = configurations.current().configuration.identity.provider === 'none';
    const mayDecide = !isOpen || localSecret.isIn(own, clock.now());
    const token = mayDecide ? (own?.replace(/^Bearer +/i, '') ?? null) : null;
    return { authorization: isOpen ? undefined : own, token, mayDecide };
  }

  isSender(caller: Principal, request: Incoming<RequestTopic>): Promise<boolean> {
    return this.verified.isSender(caller, request);
  }
}

/** The caller as the SDK passes it on to handlers. */
export function authInfoOf(caller: Caller): AuthInfo {
  return { token: '', clientId: caller.principal.actorId, scopes: [], extra: { caller } };
}

/** The caller of a request. Throws where the transport was given none, which is a mistake of this program. */
export function callerIn(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.['caller'] as Caller | undefined;
  if (caller === undefined) throw new Error('A request came without its caller.');
  return caller;
}
