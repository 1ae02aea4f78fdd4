import { once } from 'node:events';
import { connect } from 'node:net';

/** DescribeLogDirs, in the last version without flexible fields: kafkajs does not have it. */
const [apiKey, version] = [35, 1];

/**
 * Bytes that the topics have on the brokers, by the topic's name, one copy: the largest that a broker has of each
 * partition. Without TLS and credentials, as the brokers of a measurement are. Rejects where a broker is away.
 */
export async function bytesOnBrokers(brokers: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const largest = new Map<string, { readonly topic: string; readonly bytes: number }>();
  for (const broker of brokers)
    for (const { topic, partition, bytes } of await partitionsOf(broker)) {
      const name = `${topic}/${partition}`;
      if (bytes > (largest.get(name)?.bytes ?? -1)) largest.set(name, { topic, bytes });
    }
  const sums = new Map<string, number>();
  for (const { topic, bytes } of largest.values()) sums.set(topic, (sums.get(topic) ?? 0) + bytes);
  return sums;
}

interface PartitionBytes {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: number;
}

async function partitionsOf(broker: string): Promise<readonly PartitionBytes[]> {
  const at = broker.lastIndexOf(':');
  const socket = connect(Number(broker.slice(at + 1)), broker.slice(0, at));
  await once(socket, 'connect');
  // Length, key, version, correlation, client id, and -1 for all topics.
  const name = Buffer.from('bench');
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + name.length + 4);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(apiKey, 4);
  request.writeInt16BE(version, 6);
  request.writeInt32BE(1, 8);
  request.writeInt16BE(name.length, 12);
  name.copy(request, 14);
  request.writeInt32BE(-1, 14 + name.length);
  socket.write(request);
  let answer = Buffer.alloc(0);
  for await (const piece of socket) {
    answer = Buffer.concat([answer, piece as Buffer]);
    if (answer.length >= 4 && answer.length >= 4 + answer.readInt32BE(0)) break;
  }
  socket.destroy();
  return partitionsIn(answer);
}

/** The answer: length, correlation, throttle time, then folders with topics with partitions. */
function partitionsIn(answer: Buffer): readonly PartitionBytes[] {
  let at = 12;
  const int16 = (): number => answer.readInt16BE((at += 2) - 2);
  const int32 = (): number => answer.readInt32BE((at += 4) - 4);
  const int64 = (): number => Number(answer.readBigInt64BE((at += 8) - 8));
  const text = (): string => {
    const length = int16();
    return answer.toString('utf8', at, (at += length));
  };
  const found: PartitionBytes[] = [];
  for (let folders = int32(); folders > 0; folders--) {
    const error = int16();
    if (error !== 0) throw new Error(`The broker answered DescribeLogDirs with the error ${error}.`);
    text();
    for (let topics = int32(); topics > 0; topics--) {
      const topic = text();
      for (let partitions = int32(); partitions > 0; partitions--) {
        const partition = int32();
        const bytes = int64();
        at += 8 + 1;
        found.push({ topic, partition, bytes });
      }
    }
  }
  return found;
}
