import { createHash } from 'node:crypto';

/** Hashes are texts of a character a byte (`latin1`), which compare and join without buffers. */
const sha256 = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part, 'latin1');
  return hash.digest('binary');
};

/** RFC 6962, 2.1: a leaf and an inner node of the same bytes have different hashes. */
export const leafHash = (text: string): string => sha256('\0', Buffer.from(text, 'utf8').toString('latin1'));
const nodeHash = (left: string, right: string): string => sha256('\x01', left, right);

/** All levels of the tree over these leaves, the root’s last. A node without a neighbour goes up as it is. */
export function levelsOf(leaves: readonly string[]): readonly (readonly string[])[] {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) {
    const below = level;
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, n) => {
      const [left = '', right] = [below[2 * n], below[2 * n + 1]];
      return right === undefined ? left : nodeHash(left, right);
    });
  }
  return levels;
}

/** The hashes that lead from a leaf to the root (RFC 6962, 2.1.1), base64url. */
export function inclusionProof(levels: readonly (readonly string[])[], index: number): readonly string[] {
  return levels.slice(0, -1).flatMap((level, height) => {
    const sibling = level[(index >> height) ^ 1];
    return sibling === undefined ? [] : [encode(sibling)];
  });
}

/**
 * The root that a leaf at this place and these hashes lead to (RFC 9162, 2.1.3.2); null if there are too few or too
 * many of them.
 */
export function rootFrom(leaf: string, index: number, size: number, proof: readonly string[]): string | null {
  let [at, last, hash, used] = [index, size - 1, leaf, 0];
  if (index < 0 || index >= size) return null;
  for (; last > 0; at >>= 1, last >>= 1) {
    if (at === last && at % 2 === 0) continue;
    const sibling = proof[used++];
    if (sibling === undefined) return null;
    hash = at % 2 === 1 ? nodeHash(decode(sibling), hash) : nodeHash(hash, decode(sibling));
  }
  return used === proof.length ? encode(hash) : null;
}

export const encode = (hash: string): string => Buffer.from(hash, 'latin1').toString('base64url');
const decode = (text: string): string => Buffer.from(text, 'base64url').toString('latin1');
