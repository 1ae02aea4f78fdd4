import { errors, jwtVerify } from 'jose';
import { Fault, localPrincipal, readPrincipal } from '@sluice/core';
import type { Authentication, Authenticator, IdentitySettings, JsonObject } from '@sluice/core';
import { keySource } from './key-source.js';
import type { KeySource } from './key-source.js';

/** Asymmetric ones only: a shared secret would let every verifier issue credentials too. */
const algorithms = ['EdDSA', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

/** Verifies JWTs as the configuration in force says; without a provider everybody is the local principal. */
export function createAuthenticator(): Authenticator {
  let source: { readonly settings: string; readonly keys: KeySource } | undefined;

  /** One at a time: other settings bring their own keys. */
  function keysOf(settings: IdentitySettings & { provider: 'jwt' }): KeySource {
    const wanted = JSON.stringify([settings.jwksUrl, settings.keyFile]);
    if (source?.settings !== wanted) source = { settings: wanted, keys: keySource(settings) };
    return source.keys;
  }

  return {
    authenticate: async (settings, authorization, at) => {
      switch (settings.provider) {
        case 'none':
          return { ok: true, principal: localPrincipal };
        case 'jwt':
          return authenticate(settings, keysOf(settings), authorization, at);
      }
    },
  };
}

async function authenticate(
  { issuer, audience, claims }: IdentitySettings & { provider: 'jwt' },
  keys: KeySource,
  authorization: string | undefined,
  at: number,
): Promise<Authentication> {
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    const message = 'The request carries no credential. Send one as `Bearer …` in the record’s header `authorization`.';
    return { ok: false, message };
  }
  let payload: JsonObject;
  try {
    const requiredClaims = ['exp'];
    const options = { issuer, audience, algorithms, requiredClaims, currentDate: new Date(at) };
    payload = (await jwtVerify(token, keys, options)).payload as JsonObject;
  } catch (error) {
    // Keys that cannot be had are a fault; whatever else is wrong is wrong with the credential.
    if (error instanceof Fault) throw error;
    return refused(whatIsWrong(error));
  }
  const read = readPrincipal(payload, claims);
  return 'problem' in read ? refused(read.problem) : { ok: true, principal: read.principal };
}

function refused(problem: string): Authentication {
  return { ok: false, message: `The credential is refused: ${problem}.` };
}

/** In words of our own, so that nothing of the credential is repeated. */
function whatIsWrong(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it had expired when the log took the request';
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim "${error.claim}" is not as it must be`;
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return 'it is not a signed JWT';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'it is not signed with an algorithm that is accepted';
  return 'no key of the issuer has signed it';
}
