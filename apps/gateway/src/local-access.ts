import type { Request } from 'express';
import type { Runtime } from '@sluice/host';
import { Refusal } from './refusal.js';
import type { RunLocation } from './run-location.js';

type Parts = Pick<Runtime, 'configurations' | 'localSecret' | 'clock'>;

/**
 * Whether everybody is the one local caller, so that not the credential but the local secret says who may see and
 * decide.
 */
export function isOpen({ configurations }: Pick<Parts, 'configurations'>): boolean {
  return configurations.current().configuration.identity.provider === 'none';
}

/** Throws a Refusal where no identity is configured and the request has not the local secret. */
export function requireSecret(http: Pick<Request, 'get'>, runtime: Parts): void {
  const authorization = http.get('authorization');
  if (!isOpen(runtime) || runtime.localSecret.isIn(authorization, runtime.clock.now())) return;
  if (!runtime.localSecret.isKnown) throw new Refusal(403, 'authz_denied', noSecret);
  const problem = authorization === undefined ? missing : wrong;
  throw new Refusal(401, 'authz_denied', `${problem} ${howToSend}`, { 'www-authenticate': 'Bearer' });
}

/** As requireSecret; the token of the run’s own link is enough. */
export function requireLink(http: Pick<Request, 'get'>, run: RunLocation, token: unknown, runtime: Parts): void {
  if (!isOpen(runtime)) return;
  if (typeof token !== 'string' || runtime.localSecret.isIn(http.get('authorization'), runtime.clock.now()))
    return requireSecret(http, runtime);
  if (runtime.localSecret.isTokenFor(named(run), token)) return;
  throw new Refusal(
    401,
    'authz_denied',
    `The token of this link does not hold for this run. Use the link as the header location of the answer to its POST has it, or send the local secret. ${howToSend}`,
    { 'www-authenticate': 'Bearer' },
  );
}

/** The token that opens this run to its sender, to read it and to cancel it; null where an identity is configured. */
export function linkToken(run: RunLocation, runtime: Parts): string | null {
  return isOpen(runtime) ? runtime.localSecret.tokenFor(named(run)) : null;
}

/** With the time: a request under an id that was free again is another run. */
function named({ requestId, sessionId, since }: RunLocation): readonly (string | number)[] {
  return [requestId, sessionId, since];
}

const missing = 'Without an identity in the configuration this needs the local secret.';
const wrong = 'The bearer token is not the local secret, which this needs without an identity in the configuration.';
const howToSend =
  'Send it as `authorization: Bearer …`: it is in the file local-secret of the data folder, or what SLUICE_LOCAL_SECRET_FILE names.';
const noSecret =
  'Without an identity in the configuration this needs a local secret, and this gateway has none. Name a file that holds one with SLUICE_LOCAL_SECRET_FILE, or configure an identity.';

/** Whether the request has more than the link of one run: a credential, or without an identity the local secret. */
export function isMoreThanLink(http: Pick<Request, 'get'>, runtime: Parts & Pick<Runtime, 'clock'>): boolean {
  return !isOpen(runtime) || runtime.localSecret.isIn(http.get('authorization'), runtime.clock.now());
}
