import { hashBytes, hashTree, leafHash } from './hash-tree.js';
import type { Hash, MerklePath } from './hash-tree.js';

/**
 * Many claims under one signature: what is signed at the same moment is hashed into a tree and only the root is
 * signed, so that under load a signature, and its verification, are shared by all of them. A token of a batch is
 * `<compact JWS over the root>~<sides>~<hashes beside the way up>~<claims>`, the last two in base64url.
 */

/** The `typ` in the header of a signature over a root. */
export const batchType = 'sluice-batch';

/** Claims signed together, at most; the hashes of a token grow by 32 bytes each time this doubles. */
export const largestBatch = 256;
const mostBeside = Math.log2(largestBatch);

const separator = '~';

interface Batch {
  /** What is to be signed, as a compact JWS of `batchType`: the root in base64url. */
  readonly root: string;
  /** The token of each of the claims, once the root is signed. */
  tokens(jws: string): readonly string[];
}

export function batchOf(claims: readonly Buffer[]): Batch {
  const { root, places } = hashTree(claims.map(leafHash));
  return {
    root: base64url(root),
    tokens: (jws) =>
      claims.map((bytes, n) => {
        const { sides = 0, beside = [] } = places[n] ?? {};
        return [jws, sides, base64url(beside.join('')), bytes.toString('base64url')].join(separator);
      }),
  };
}

/** The signature in a token, of a batch or by itself. */
export function jwsIn(token: string): string {
  return token.split(separator, 1)[0] ?? '';
}

export const isBatchToken = (token: string): boolean => token.includes(separator);

/** The claims of a batch token, without checking its signature; null if it is none. */
export function claimsOf(token: string): Buffer | null {
  const parts = token.split(separator);
  return parts.length === 4 ? Buffer.from(parts[3] ?? '', 'base64url') : null;
}

interface BatchToken {
  readonly jws: string;
  readonly claims: Buffer;
  readonly leaf: Hash;
  /** Where the leaf must stand under the root that the signature is over. */
  readonly place: MerklePath;
}

/** What a token says, without checking its signature. Null if it is no token of a batch. */
export function readBatchToken(token: string): BatchToken | null {
  const [jws, sides, hashes, payload, ...more] = token.split(separator);
  if (jws === undefined || sides === undefined || hashes === undefined || payload === undefined) return null;
  if (more.length > 0 || !/^\d{1,3}$/.test(sides)) return null;
  const bytes = Buffer.from(hashes, 'base64url');
  const count = bytes.length / hashBytes;
  if (!Number.isInteger(count) || count > mostBeside || Number(sides) >= 2 ** count) return null;
  const beside = Array.from({ length: count }, (_, n) => bytes.toString('binary', n * hashBytes, (n + 1) * hashBytes));
  const claims = Buffer.from(payload, 'base64url');
  // Another spelling of the same bytes is not the token that was signed.
  if (bytes.toString('base64url') !== hashes || claims.toString('base64url') !== payload) return null;
  return { jws, claims, leaf: leafHash(claims), place: { sides: Number(sides), beside } };
}

/** A root as it is signed. Null if it is none. */
export function readRoot(text: string): Hash | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === hashBytes ? bytes.toString('binary') : null;
}

function base64url(hashes: Hash): string {
  return Buffer.from(hashes, 'binary').toString('base64url');
}
