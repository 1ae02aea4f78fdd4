import { hash } from 'node:crypto';

/** Where a leaf stands under a root: the hashes beside its way up, and for each one whether it stands on the left (a bit, the lowest first). */
export interface Place {
  readonly sides: number;
  readonly beside: readonly Buffer[];
}

/** Of SHA-256. */
export const hashBytes = 32;
/** A leaf and an inner node of the same bytes must not have the same hash, or a node could pass for a leaf. */
const leafMark = 0;
const nodeMark = 1;
/** What is hashed is put together here, and makes no buffer of its own, unless it is longer than claims are. */
const scratch = Buffer.alloc(4_096);

export function leafHash(bytes: Uint8Array): Buffer {
  const size = 1 + bytes.byteLength;
  if (size > scratch.byteLength) return hash('sha256', Buffer.concat([Buffer.of(leafMark), bytes]), 'buffer');
  scratch[0] = leafMark;
  scratch.set(bytes, 1);
  return hash('sha256', scratch.subarray(0, size), 'buffer');
}

const node = Buffer.alloc(1 + 2 * hashBytes, nodeMark);

function nodeHash(left: Buffer, right: Buffer): Buffer {
  node.set(left, 1);
  node.set(right, 1 + hashBytes);
  return hash('sha256', node, 'buffer');
}

/** The root over the leaves, one at least, and the place of each. A node without a neighbour goes up as it is. */
export function hashTree(leaves: readonly Buffer[]): { readonly root: Buffer; readonly places: readonly Place[] } {
  const ways = leaves.map((_, n) => ({ at: n, sides: 0, beside: [] as Buffer[] }));
  let level = leaves;
  while (level.length > 1) {
    for (const way of ways) {
      const neighbour = level[way.at ^ 1];
      if (neighbour !== undefined) {
        if (way.at % 2 === 1) way.sides |= 1 << way.beside.length;
        way.beside.push(neighbour);
      }
      way.at >>= 1;
    }
    level = pairs(level);
  }
  const [root] = level;
  if (root === undefined) throw new Error('A tree needs a leaf.');
  return { root, places: ways };
}

/** The root that a leaf at this place stands under. */
export function rootOver(leaf: Buffer, { sides, beside }: Place): Buffer {
  return beside.reduce((own, other, n) => ((sides >> n) & 1 ? nodeHash(other, own) : nodeHash(own, other)), leaf);
}

function pairs(level: readonly Buffer[]): Buffer[] {
  const next: Buffer[] = [];
  for (let n = 0; n < level.length; n += 2) {
    const [left, right] = [level[n], level[n + 1]];
    if (left !== undefined) next.push(right === undefined ? left : nodeHash(left, right));
  }
  return next;
}
