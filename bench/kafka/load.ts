import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '@sluice/contracts';
import { Partitioners } from 'kafkajs';
import { client } from './echo.js';

/** One run as its sender sees it. */
export interface Run {
  readonly question: string;
  /** Where its session is on every topic. */
  readonly partition: number;
  /** `performance.now()` of its request. */
  readonly sentAt: number;
  /** From the request to the response. */
  readonly ms: number;
}

export interface Load {
  /** Different for each load on a prefix. */
  readonly name: string;
  readonly runsPerSecond: number;
  readonly seconds: number;
  readonly question: (n: number) => string;
}

const patienceMs = 60_000;
const tickMs = 50;

/** Requests at a steady rate, whether or not the answers keep pace; resolves when all are answered. */
export async function steadyLoad(
  { brokers, prefix }: { readonly brokers: readonly string[]; readonly prefix: string },
  { name, runsPerSecond, seconds, question }: Load,
): Promise<readonly Run[]> {
  const kafka = client(brokers, `bench-load-${name}`);
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `${prefix}load-${name}`, maxWaitTimeInMs: 50 });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [`${prefix}${topics.responses}`], fromBeginning: true });
  const sent = new Map<string, { readonly question: string; readonly at: number }>();
  const runs: Run[] = [];
  await consumer.run({
    eachMessage: ({ message, partition }) => {
      const key = message.key?.toString() ?? '';
      const request = sent.get(key);
      sent.delete(key);
      if (request !== undefined)
        runs.push({ question: request.question, partition, sentAt: request.at, ms: performance.now() - request.at });
      return Promise.resolve();
    },
  });

  const total = runsPerSecond * seconds;
  const began = performance.now();
  for (let n = 0; n < total;) {
    const due = Math.min(total, Math.ceil(((performance.now() - began) * runsPerSecond) / 1_000));
    const messages = Array.from({ length: due - n }, (_, more) => {
      const key = `${name}-${n + more}`;
      const asked = question(n + more);
      sent.set(key, { question: asked, at: performance.now() });
      return {
        key,
        value: JSON.stringify({ question: asked, group: ['work'], request_id: key, session_id: key }),
      };
    });
    n = due;
    if (messages.length > 0) await producer.send({ topic: `${prefix}${topics.requests}`, messages });
    await delay(tickMs);
  }
  for (const until = performance.now() + patienceMs; sent.size > 0; await delay(tickMs)) {
    if (performance.now() > until) throw new Error(`${sent.size} of ${total} runs were never answered.`);
  }
  await consumer.disconnect();
  await producer.disconnect();
  return runs;
}
