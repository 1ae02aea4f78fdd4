import { errors, jwtVerify } from 'jose';
import { Fault, groupsOf, readPrincipal } from '@sluice/core';
import type { Authentication, JsonObject, JwtSettings, PermissionSource, Principal } from '@sluice/core';
import { keySource } from './key-source.js';
import { refused } from './refused.js';

/** Asymmetric ones only: a shared secret would let every verifier issue credentials too. */
const algorithms = ['EdDSA', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

/** How far the issuer's clock may be off where the configuration does not say, in seconds. */
const toleranceSeconds = 30;

/** `settings` may be of another configuration version, with the same keys and the same source of permissions. */
export type JwtVerifier = (settings: JwtSettings, token: string, at: number) => Promise<Authentication>;

export function jwtVerifier(from: JwtSettings, source: PermissionSource | null): JwtVerifier {
  const keys = keySource(from);
  return async (settings, token, at) => {
    const { issuer, audience, claims, clockToleranceMs } = settings;
    let payload: JsonObject;
    try {
      const clockTolerance = clockToleranceMs === undefined ? toleranceSeconds : clockToleranceMs / 1_000;
      const requiredClaims = ['exp'];
      const currentDate = new Date(at);
      const options = { issuer, audience, algorithms, requiredClaims, currentDate, clockTolerance };
      payload = (await jwtVerify(token, keys, options)).payload as JsonObject;
    } catch (error) {
      // Keys that cannot be had are a fault; whatever else is wrong is wrong with the credential.
      if (error instanceof Fault) throw error;
      return refused(whatIsWrong(error));
    }
    const read = readPrincipal(payload, claims);
    if ('problem' in read) return refused(read.problem);
    const { principal, roles } = await permitted(read.principal, settings, source);
    return { ok: true, principal, roles, claims: payload, expiresAt: Number(payload['exp']) * 1_000 };
  };
}

/**
 * The caller with the groups that its source and the map of roles give, and the names that the map is for; what stands
 * in the principal is what the records have.
 */
async function permitted(
  principal: Principal,
  { permissions }: JwtSettings,
  source: PermissionSource | null,
): Promise<{ readonly principal: Principal; readonly roles: readonly string[] }> {
  const named = source === null ? principal : ((await source.find(principal)) ?? { groups: [], connections: [] });
  const { groups, connections } = named;
  return { principal: { ...principal, groups: groupsOf(groups, permissions?.roles), connections }, roles: groups };
}

/** In words of our own, so that nothing of the credential is repeated. */
function whatIsWrong(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it had expired when the log took the request';
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim "${error.claim}" is not as it must be`;
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return 'it is not a signed JWT';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'it is not signed with an algorithm that is accepted';
  return 'no key of the issuer has signed it';
}
