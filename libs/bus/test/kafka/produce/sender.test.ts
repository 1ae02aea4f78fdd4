import { describe, expect, it } from '@jest/globals';
import type { Broker, Cluster } from '../../../src/kafka/kafkajs/cluster.js';
import { isFenced, isRetriable } from '../../../src/kafka/kafkajs/failure.js';
import { Sender } from '../../../src/kafka/produce/sender.js';
import { numbers } from '../../contract/harness.js';

const partitions = 3;
const identity = { producerId: 7n, epoch: 2 };

/** What a broker got: the partition and the bytes of its batch. */
interface Got {
  readonly leader: number;
  readonly partition: number;
  readonly batch: Buffer;
}

interface Brokers {
  /** The broker’s error for the partition, 0 for none; or it rejects. `nth` is the broker’s n-th request, from 0. */
  answer(leader: number, nth: number, partition: number): Promise<number | undefined>;
  leaderOf(partition: number): number;
}

const taken = (): Promise<number> => new Promise((go) => setTimeout(() => go(0), 10));
const passing = Object.assign(new Error('Closed connection'), { retriable: true });

/** A sender over brokers of our own, which keep what they get. */
function senderOver({ answer, leaderOf }: Brokers) {
  const got: Got[] = [];
  const counts = new Map<number, number>();
  const brokerOf = (leader: number): Broker => {
    const send = async (request: { request: { encode(): Promise<{ buffer: Buffer }> } }) => {
      const nth = counts.get(leader) ?? 0;
      counts.set(leader, nth + 1);
      const parts = partsOf((await request.request.encode()).buffer);
      got.push(...parts.map((part) => ({ leader, ...part })));
      const codes = await Promise.all(parts.map(({ partition }) => answer(leader, nth, partition)));
      return parts.flatMap(({ partition }, index) => {
        const errorCode = codes[index];
        return errorCode === undefined ? [] : [{ topic: 't', partition, errorCode }];
      });
    };
    return { connectionPool: { send }, disconnect: () => Promise.resolve() } as unknown as Broker;
  };
  const cluster = {
    addMultipleTargetTopics: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(),
    refreshMetadata: () => Promise.resolve(),
    isConnected: () => true,
    findTopicPartitionMetadata: () =>
      numbers(partitions).map((id) => ({ partitionId: Number(id), leader: leaderOf(Number(id)) })),
    findBroker: ({ nodeId }: { nodeId: number }) => Promise.resolve(brokerOf(nodeId)),
  } as unknown as Cluster;
  return { sender: new Sender({ cluster, transactionalId: null }), got };
}

/** The partitions of a Produce request of version 7 for one topic, and their batches. */
function partsOf(request: Buffer): { partition: number; batch: Buffer }[] {
  // No transactional id, acks, timeout, one topic by the name of one letter.
  let at = 2 + 2 + 4 + 4 + 2 + 1;
  const count = request.readInt32BE(at);
  at += 4;
  return Array.from({ length: count }, () => {
    const [partition, bytes] = [request.readInt32BE(at), request.readInt32BE(at + 4)];
    const batch = request.subarray(at + 8, at + 8 + bytes);
    at += 8 + bytes;
    return { partition, batch };
  });
}

const sequenceOf = (batch: Buffer): number => batch.readInt32BE(53);
const countOf = (batch: Buffer): number => batch.readInt32BE(57);
const records = numbers(50).map((key) => ({
  topic: 'agent.steps' as const,
  key,
  value: Buffer.from('x'),
  headers: {},
}));
const send = (sender: Sender) => sender.send([{ topic: 't', records }], { identity, version: 7 });
const places = (got: readonly Got[]) => got.map(({ leader, partition }) => `${leader}: ${partition}`).sort();

describe('what a producer sends to several partitions', () => {
  it('goes to each leader once, all of it', async () => {
    const { sender, got } = senderOver({ answer: taken, leaderOf: (id) => id });
    await send(sender);
    expect(places(got)).toEqual(['0: 0', '1: 1', '2: 2']);
    expect(got.reduce((sum, { batch }) => sum + countOf(batch), 0)).toBe(50);
  });

  it('is sent again to the broker that failed alone, once all have answered, as the same batch', async () => {
    const under = { way: 0 };
    const answer = async (leader: number, nth: number): Promise<number> => {
      if (leader === 1 && nth === 0) throw passing;
      if (leader === 1) expect(under.way).toBe(0);
      under.way++;
      await taken();
      under.way--;
      return 0;
    };
    const { sender, got } = senderOver({ answer, leaderOf: (id) => id });
    await send(sender);
    expect(places(got)).toEqual(['0: 0', '1: 1', '1: 1', '2: 2']);
    const [first, again] = got.filter(({ leader }) => leader === 1);
    expect(again?.batch.equals(first?.batch ?? Buffer.alloc(0))).toBe(true);
  });

  it('is sent again to the partition’s leader at that time', async () => {
    let moved = false;
    const answer = async (leader: number): Promise<number> => {
      if (leader !== 0) return 0;
      moved = true;
      return notLeader;
    };
    const { sender, got } = senderOver({ answer, leaderOf: (id) => (moved ? 1 + (id % 2) : 0) });
    await send(sender);
    expect(places(got)).toEqual(['0: 0', '0: 1', '0: 2', '1: 0', '1: 2', '2: 1']);
  });

  it('is sent again for a partition that the broker said nothing of', async () => {
    const answer = async (_: number, nth: number, partition: number) => (nth === 0 && partition === 1 ? undefined : 0);
    const { sender, got } = senderOver({ answer, leaderOf: () => 0 });
    await send(sender);
    expect(places(got)).toEqual(['0: 0', '0: 1', '0: 1', '0: 2']);
  });

  it('is numbered on from send to send, by partition', async () => {
    const { sender, got } = senderOver({ answer: taken, leaderOf: () => 0 });
    await send(sender);
    await send(sender);
    for (const id of [0, 1, 2]) {
      const [first, second] = got.filter(({ partition }) => partition === id).map(({ batch }) => batch);
      expect(sequenceOf(first as Buffer)).toBe(0);
      expect(sequenceOf(second as Buffer)).toBe(countOf(first as Buffer));
    }
    sender.restart();
    await send(sender);
    expect(sequenceOf(got.at(-1)?.batch as Buffer)).toBe(0);
  });

  it('is refused at once for what does not pass, whatever else failed', async () => {
    const answer = async (leader: number) => (leader === 1 ? fenced : notLeader);
    const { sender, got } = senderOver({ answer, leaderOf: (id) => id });
    const error = await send(sender).catch((thrown: unknown) => thrown);
    expect(isFenced(error)).toBe(true);
    expect(got).toHaveLength(3);
  });

  it('fails for good after about five seconds of failing; that may pass', async () => {
    const { sender, got } = senderOver({ answer: () => Promise.reject(passing), leaderOf: () => 0 });
    const error = await send(sender).catch((thrown: unknown) => thrown);
    expect(isRetriable(error)).toBe(true);
    expect(got.length).toBe(3 * 13);
  });
});

/** Kafka’s numbers of NOT_LEADER_OR_FOLLOWER and PRODUCER_FENCED. */
const notLeader = 6;
const fenced = 90;
