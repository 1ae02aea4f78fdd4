import type { KeyObject } from 'node:crypto';
import { signers } from '@sluice/core';
import type { JsonObject, SignerRole, Verifier } from '@sluice/core';
import { batchType, isBatchToken, jwsIn, readBatchToken, readRoot } from './batch.js';
import { KnownTree } from './hash-tree.js';
import { keyIdOf, openJws } from './jws.js';
import { sinceOf } from './key-set.js';
import type { Key, KeySet } from './key-set.js';
import { Memory } from './memory.js';
import { publicKey } from './read-key-set.js';

/** Batches found genuine, so that their tokens cost one verification; some 50 KB each at most. */
const batchesKept = 256;

/**
 * Verifies what any key of the set ever signed, retired ones included: for those who look back, never for a service.
 */
export function createVerifier(set: KeySet): Verifier {
  return verifierWith(set.keys, set);
}

/** Verifies what one of these keys signed for its role; the set has those that there ever were. */
export function verifierWith(keys: readonly Key[], set: KeySet): Verifier {
  const accepted = new Map<SignerRole, Map<string, KeyObject>>(signers.map((role) => [role, new Map()]));
  for (const key of keys) accepted.get(key.role)?.set(key.kid, publicKey(key));
  const batches = new Map<SignerRole, Memory<KnownTree>>(signers.map((role) => [role, new Memory(batchesKept)]));

  /** The payload of a genuine JWS of that type; null if it is none, or over something else. */
  const open = (role: SignerRole, jws: string, type: string | undefined): string | null => {
    const opened = openJws(jws, (kid) => accepted.get(role)?.get(kid));
    return opened === null || opened.typ !== type ? null : opened.payload.toString('utf8');
  };
  const openBatch = (role: SignerRole, jws: string): KnownTree | null => {
    const known = batches.get(role)?.get(jws);
    if (known !== undefined) return known;
    const root = readRoot(open(role, jws, batchType) ?? '');
    if (root === null) return null;
    const tree = new KnownTree(root);
    batches.get(role)?.set(jws, tree);
    return tree;
  };

  const since = sinceOf(set);

  return {
    since: (what) => since[what],
    unknownKey: (role, token) => {
      const kid = keyIdOf(jwsIn(token));
      return kid === null || accepted.get(role)?.has(kid) === true ? null : kid;
    },
    verify: async (role, token) => {
      if (token === null) return null;
      try {
        if (!isBatchToken(token)) {
          const claims = open(role, token, undefined);
          return claims === null ? null : (JSON.parse(claims) as JsonObject);
        }
        const batch = readBatchToken(token);
        if (batch === null || openBatch(role, batch.jws)?.holds(batch.leaf, batch.place) !== true) return null;
        return JSON.parse(batch.claims.toString('utf8')) as JsonObject;
      } catch {
        // It is signed and holds no JSON, so it holds no claims.
        return null;
      }
    },
  };
}
