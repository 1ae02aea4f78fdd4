import { hash } from 'node:crypto';

/**
 * The bytes of a hash, a character each (`binary`): to have one as a text takes a quarter of the time that a buffer
 * of its own takes.
 */
export type Hash = string;

/**
 * Where a leaf stands under a root: the hashes beside its way up, and for each one whether it stands on the left (a
 * bit, the lowest first).
 */
export interface MerklePath {
  readonly sides: number;
  readonly beside: readonly Hash[];
}

/** Of SHA-256. */
export const hashBytes = 32;
/** A leaf and an inner node of the same bytes must not have the same hash, or a node could pass for a leaf. */
const leafMark = 0;
const nodeMark = 1;
/** What is hashed is put together here, and makes no buffer of its own, unless it is longer than claims are. */
const scratch = Buffer.alloc(4_096);

export function leafHash(bytes: Uint8Array): Hash {
  const size = 1 + bytes.byteLength;
  if (size > scratch.byteLength) return hashOf(Buffer.concat([Buffer.of(leafMark), bytes]));
  scratch[0] = leafMark;
  scratch.set(bytes, 1);
  return hashOf(scratch.subarray(0, size));
}

const node = Buffer.alloc(1 + 2 * hashBytes, nodeMark);

function nodeHash(left: Hash, right: Hash): Hash {
  node.write(left, 1, 'binary');
  node.write(right, 1 + hashBytes, 'binary');
  return hashOf(node);
}

function hashOf(bytes: Buffer): Hash {
  return hash('sha256', bytes, 'binary');
}

/** The root over the leaves, one at least, and the place of each. A node without a neighbour goes up as it is. */
export function hashTree(leaves: readonly Hash[]): { readonly root: Hash; readonly places: readonly MerklePath[] } {
  const ways = leaves.map((_, n) => ({ at: n, sides: 0, beside: [] as Hash[] }));
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

/**
 * An inner node known to stand under a root: what stands beside it, on its left or not, and the node over both; the
 * root has none.
 */
interface KnownNode {
  readonly up: { readonly beside: Hash; readonly isLeft: boolean; readonly node: KnownNode } | null;
}

/**
 * A tree of which the root is known to be genuine, and by and by the nodes on the way from each leaf that was found
 * under it: another leaf’s way is walked only to where it meets a known one.
 */
export class KnownTree {
  private readonly known: Map<Hash, KnownNode>;

  constructor(root: Hash) {
    this.known = new Map([[root, { up: null }]]);
  }

  /** Whether the leaf stands at this place under the root. */
  holds(leaf: Hash, place: MerklePath): boolean {
    const { sides, beside } = place;
    const walked = [leaf];
    for (let own = leaf; ; walked.push(own)) {
      const level = walked.length - 1;
      const known = this.known.get(own);
      if (known !== undefined && isWayUp(known, place, level)) {
        this.learn(walked, place, known);
        return true;
      }
      const other = beside[level];
      if (other === undefined) return false;
      own = isOnLeft(sides, level) ? nodeHash(other, own) : nodeHash(own, other);
    }
  }

  /** The nodes that were walked to the known one, which is the last; a leaf is not kept, it rarely comes twice. */
  private learn(walked: readonly Hash[], { sides, beside }: MerklePath, known: KnownNode): void {
    let node = known;
    for (let level = walked.length - 2; level > 0; level--) {
      node = { up: { beside: beside[level] ?? '', isLeft: isOnLeft(sides, level), node } };
      this.known.set(walked[level] ?? '', node);
    }
  }
}

/** Whether a place goes on, from this level, just as the node is known to. */
function isWayUp(known: KnownNode, { sides, beside }: MerklePath, from: number): boolean {
  let { up } = known;
  for (let level = from; level < beside.length; level++) {
    if (up === null || up.beside !== beside[level] || up.isLeft !== isOnLeft(sides, level)) return false;
    up = up.node.up;
  }
  return up === null;
}

/** Whether what stands beside the way at this level is on its left. */
function isOnLeft(sides: number, level: number): boolean {
  return ((sides >> level) & 1) === 1;
}

function pairs(level: readonly Hash[]): Hash[] {
  const next: Hash[] = [];
  for (let n = 0; n < level.length; n += 2) {
    const [left, right] = [level[n], level[n + 1]];
    if (left !== undefined) next.push(right === undefined ? left : nodeHash(left, right));
  }
  return next;
}
