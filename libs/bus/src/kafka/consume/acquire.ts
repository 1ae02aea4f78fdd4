import type { Admin } from 'kafkajs';
import { Position } from '../../processing/position.js';
import {
  decodeCarried,
  decodeFinished,
  decodeWriter,
  encodeCarried,
  encodeFinished,
  encodeWriter,
} from '../commit/finished-set.js';
import type { GroupOffsets } from '../commit/group-offsets.js';
import type { TruncationCheck } from './log-truncation.js';
import type { Member } from '../produce/requests.js';

interface AcquireOptions {
  readonly admin: Admin;
  readonly offsets: GroupOffsets;
  /** Names on the broker. */
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  /** The name of the consumer’s own writer. */
  readonly writer: string;
  /** Ends what another writer left open. */
  readonly fence: (writer: string) => Promise<void>;
  /** As which the group has given it the partition. */
  readonly member: () => Member;
  /** What former takeovers of the partition have seen. */
  readonly truncation: TruncationCheck;
}

/** What a new owner starts from. */
export interface Ownership {
  readonly position: Position;
  /** What the owner before left for the next record; '' where sessions are the order. */
  readonly carried: string;
}

/**
 * Acquires a partition (README, points 2 and 3): fences the previous owner’s writer, which ends its open transaction;
 * reads the committed offset, which can no longer change; and commits it again with the own writer id, so that the
 * next owner knows whose transactions to end. The coordinator refuses that commit if the partition was reassigned
 * meanwhile.
 */
export async function acquire(options: AcquireOptions): Promise<Ownership> {
  const { admin, offsets, fence, group, topic, partition, writer, truncation } = options;
  const member = options.member();
  const former = writerBefore(options, await offsets.now(topic, partition));
  if (former !== undefined && former !== writer) await fence(former);
  const { beginning, end } = await boundsOf(admin, topic, partition);
  const { offset: prefix, metadata } = await offsets.settled(topic, partition);
  // A new group begins at the beginning; records that retention removed will never finish.
  const position = new Position(Math.max(prefix, beginning));
  for (const { first, past } of decodeFinished(prefix, metadata)) position.finish(first, past);
  position.saved();
  truncation.assert(group, `${topic}/${partition}`, position.end, end);
  const carried = decodeCarried(metadata);
  const signed = encodeFinished(position.prefix, position.ranges) + encodeCarried(carried) + encodeWriter(writer);
  await offsets.commit(member, { topic, partition, offset: position.prefix, metadata: signed });
  return { position, carried };
}

/** An owner of an earlier version wrote each partition by itself, in the partition’s name, and did not say so. */
function writerBefore(
  { topic, partition }: AcquireOptions,
  committed: { readonly offset: number; readonly metadata: string | null },
) {
  return decodeWriter(committed.metadata) ?? (committed.offset < 0 ? undefined : `${topic}-${partition}`);
}

/** Where the log of a partition begins and ends. */
export async function boundsOf(
  admin: Admin,
  topic: string,
  partition: number,
): Promise<{ readonly beginning: number; readonly end: number }> {
  const bounds = await admin.fetchTopicOffsets(topic);
  const found = bounds.find((one) => one.partition === partition);
  return { beginning: Number(found?.low ?? 0), end: Number(found?.high ?? 0) };
}
