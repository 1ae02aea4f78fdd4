import { Partitioners } from 'kafkajs';
import type { Load } from '../closed-loop.js';
import { bareEcho, client, createTopics } from './echo.js';
import type { Infrastructure } from './infrastructure.js';

/** Rounds a second of records that go over three chained bare echoes, as many at a time and as often each as the loop’s runs. */
export async function bareLoop(
  { brokers }: Infrastructure,
  { runs, inFlight, bytes, turns }: Load & { readonly turns: number },
): Promise<number> {
  const prefix = `bare-${process.hrtime.bigint()}-`;
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => prefix + name) as [string, string, string, string];
  await createTopics(brokers, a, b, c, d);
  const payload = Buffer.alloc(bytes, 'x');
  const ends: (() => Promise<void>)[] = [];
  for (const [from, to] of [[a, b], [b, c], [c, d]] as const) ends.push(await bareEcho(brokers, from, to, payload)); // prettier-ignore
  const kafka = client(brokers, 'bench-bare-loop');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `loop-${d}`, maxWaitTimeInMs: 100 });
  await Promise.all([producer.connect(), consumer.connect()]);
  await consumer.subscribe({ topics: [d], fromBeginning: true });
  const rounds = runs * turns;
  let sent = 0;
  let seen = 0;
  let finished: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (finished = resolve));
  const send = async (count: number): Promise<void> => {
    const messages = Array.from({ length: Math.min(count, rounds - sent) }, () => ({
      key: `s-${sent++}`,
      value: payload,
    }));
    if (messages.length > 0) await producer.send({ topic: a, messages });
  };
  await consumer.run({
    eachBatch: async ({ batch }) => {
      seen += batch.messages.length;
      if (seen >= rounds) finished();
      await send(batch.messages.length);
    },
  });
  const begin = performance.now();
  await send(inFlight);
  await all;
  const seconds = (performance.now() - begin) / 1_000;
  await consumer.disconnect();
  await producer.disconnect();
  for (const end of ends) await end();
  return rounds / seconds;
}
