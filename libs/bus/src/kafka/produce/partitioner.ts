import type { ICustomPartitioner } from 'kafkajs';

const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

/**
 * The partition that every Kafka client chooses for a key by default (murmur2), so that a session stays where
 * upstream producers put it. kafkajs comes to the same by arithmetic on objects of 64 bits, which was a twentieth of
 * what the services allocated.
 */
export function partitionOf(key: string | Buffer, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
}

/** The same, for a producer of kafkajs. */
export const choosePartition: ReturnType<ICustomPartitioner> = ({ message: { key }, partitionMetadata }) => {
  if (key === null || key === undefined) throw new Error('A record without a key belongs to no session.');
  return partitionOf(key, partitionMetadata.length);
};

/** MurmurHash2 of 32 bits with the seed that Kafka’s clients share. */
function murmur2(bytes: Buffer): number {
  const { length } = bytes;
  const whole = length & ~3;
  let hash = seed ^ length;
  for (let at = 0; at < whole; at += 4) {
    let four = Math.imul(bytes.readInt32LE(at), multiplier);
    four ^= four >>> 24;
    hash = Math.imul(hash, multiplier) ^ Math.imul(four, multiplier);
  }
  if (length > whole) hash = Math.imul(hash ^ bytes.readUIntLE(whole, length - whole), multiplier);
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}
