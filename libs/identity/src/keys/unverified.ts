import type { JsonObject, Verifier } from '@sluice/core';
import { claimsOf, isBatchToken } from './batch.js';

/**
 * Reads what a token says and does not ask who signed it: for comparing where there are no keys, and never for
 * letting anybody do anything.
 */
export const unverified: Verifier = {
  verify: (_role, token) => Promise.resolve(token === null ? null : claimsIn(token)),
  unknownKey: () => null,
  since: () => Infinity,
};

/**
 * Verifies what a key of the verifier’s signed, and reads what one that it does not know signed: for records of
 * another installation, which are honest as far as anybody without its keys can say. `unknownKey` tells which those
 * are.
 */
export function readingUnknown(verifier: Verifier): Verifier {
  return {
    ...verifier,
    verify: (role, token) =>
      (token !== null && verifier.unknownKey(role, token) !== null ? unverified : verifier).verify(role, token),
  };
}

function claimsIn(token: string): JsonObject | null {
  const claims = isBatchToken(token) ? claimsOf(token) : payloadOf(token);
  if (claims === null) return null;
  try {
    return JSON.parse(claims.toString('utf8')) as JsonObject;
  } catch {
    return null;
  }
}

function payloadOf(jws: string): Buffer | null {
  const payload = jws.split('.')[1];
  return payload === undefined ? null : Buffer.from(payload, 'base64url');
}
