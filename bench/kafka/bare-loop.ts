import { Partitioners } from 'kafkajs';
import { client, createTopics } from './echo.js';
import type { bareEcho } from './echo.js';
import type { Infrastructure } from './infrastructure.js';

/** Of what is sent at once. */
const sendBytes = 512 * 1024;

interface BareLoad {
  /** Rounds that are counted; as many as go on at a time come before, to warm everything up. */
  readonly rounds: number;
  readonly inFlight: number;
  /** Bytes of what each of the three hops writes. */
  readonly outputs: readonly [number, number, number];
}

/**
 * Rounds a second of so many records that go round and round over three bare transactional echoes of a kind, each of
 * which feeds the next.
 */
export async function bareLoop(
  { brokers }: Infrastructure,
  echo: typeof bareEcho,
  { rounds, inFlight, outputs }: BareLoad,
): Promise<number> {
  const prefix = `bare-${process.hrtime.bigint()}-`;
  const [a, b, c] = ['a', 'b', 'c'].map((name) => prefix + name) as [string, string, string];
  await createTopics(brokers, a, b, c);
  const [toB, toC, toA] = outputs.map((bytes) => Buffer.alloc(bytes, 'x')) as [Buffer, Buffer, Buffer];
  const ends: (() => Promise<void>)[] = [];
  for (const [from, to, payload] of [
    [a, b, toB],
    [b, c, toC],
    [c, a, toA],
  ] as const)
    ends.push(await echo(brokers, from, to, payload));
  const kafka = client(brokers, 'bench-bare-loop');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `loop-${a}`, maxWaitTimeInMs: 100 });
  await Promise.all([producer.connect(), consumer.connect()]);
  await consumer.subscribe({ topics: [a], fromBeginning: true });
  let begin = 0;
  let seen = 0;
  let finished: (perSecond: number) => void = () => undefined;
  const measured = new Promise<number>((resolve) => (finished = resolve));
  await consumer.run({
    eachBatch: async ({ batch }) => {
      seen += batch.messages.length;
      if (begin !== 0 && seen >= rounds) finished((1_000 * seen) / (performance.now() - begin));
      // Those that were sent, and their first round.
      if (begin === 0 && seen >= 2 * inFlight) [begin, seen] = [performance.now(), 0];
    },
  });
  // A batch that is larger than a broker takes would be refused.
  const atOnce = Math.max(1, Math.floor(sendBytes / toA.length));
  for (let from = 0; from < inFlight; from += atOnce) {
    const keys = Array.from({ length: Math.min(atOnce, inFlight - from) }, (_, n) => `s-${from + n}`);
    await producer.send({ topic: a, messages: keys.map((key) => ({ key, value: toA })) });
  }
  const perSecond = await measured;
  for (const end of ends) await end();
  await consumer.disconnect();
  await producer.disconnect();
  return perSecond;
}
