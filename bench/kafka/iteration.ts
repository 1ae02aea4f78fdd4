import { topics } from '@sluice/contracts';
import type { Model } from '@sluice/core';
import { Partitioners } from 'kafkajs';
import { median, report } from '../measure.js';
import { bareEcho, client, createTopics } from './echo.js';
import type { Infrastructure } from './infrastructure.js';
import { openServices } from './services.js';
import type { Services } from './services.js';

/** Iterations of a run, one run after another: a run’s history grows, and with it what is hashed, signed and asked. */
const perRun = 10;
const iterations = 10 * perRun;
/** The first ones warm everything up. */
const warmUp = 20 * perRun;
const rounds = 3;

/** One run on an idle system: how long a turn of the loop takes, against a record that goes round three bare hops. */
export async function iteration(parts: Infrastructure): Promise<void> {
  const times = { bare: [] as number[], plain: [] as number[], effect: [] as number[], claim: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.bare.push(median(await bareRounds(parts)));
    times.plain.push(median(await turns(parts, 'core__now')));
    times.effect.push(median(await turns(parts, 'mcp__bench__act', times.claim)));
  }
  const [bare, plain, effect, claim] = [times.bare, times.plain, times.effect, times.claim].map(median) as [
    number,
    number,
    number,
    number,
  ];
  report(`One iteration on Kafka, idle, a model and a tool that answer at once, ${rounds} rounds in turn`, [
    { name: 'three chained hops of bare kafkajs, median', value: bare, unit: 'ms' },
    { name: 'an iteration: filter, agent, executor, median', value: plain, unit: 'ms' },
    { name: 'iteration / three bare hops', value: plain / bare, unit: '', goal: { atMost: 1.25 } },
    { name: 'two round trips to the ledger, median', value: 2 * claim, unit: 'ms' },
    { name: 'an iteration with an effect, median', value: effect, unit: 'ms' },
    {
      name: 'with an effect / (three bare hops + two round trips)',
      value: effect / (bare + 2 * claim),
      unit: '',
      goal: { atMost: 1.25 },
    },
  ]);
}

/** Milliseconds between one step and the next of a single run, as a reader of the topic sees them. */
async function turns(parts: Infrastructure, tool: string, claims?: number[]): Promise<number[]> {
  const services = await openServices(parts, callsUntilFull(tool), () => Promise.resolve());
  try {
    const times = await intervals(parts, `${services.prefix}${topics.steps}`, async (send, n) => {
      if (n % perRun !== 0) return false;
      const request = { question: 'Go', group: ['work'], request_id: `r-${n}`, session_id: 's' };
      await send(`${services.prefix}${topics.requests}`, JSON.stringify(request));
      return true;
    });
    if (claims !== undefined) claims.push(median(await claimTimes(services)));
    return times;
  } finally {
    await services.close();
  }
}

/** One record that goes round and round over three topics, each hop an echo in a transaction of its own. */
async function bareRounds(parts: Infrastructure): Promise<number[]> {
  const { brokers } = parts;
  const prefix = `bare-${Date.now()}-`;
  const names = ['a', 'b', 'c'].map((name) => prefix + name) as [string, string, string];
  await createTopics(brokers, ...names);
  const payload = Buffer.alloc(1_024, 'x');
  const [a, b, c] = names;
  const ends: (() => Promise<void>)[] = [];
  for (const [from, to] of [
    [a, b],
    [b, c],
    [c, a],
  ] as const)
    ends.push(await bareEcho(brokers, from, to, payload));
  try {
    return await intervals(parts, b, async (send, n) => {
      if (n === 0) await send(a, payload);
      return n === 0;
    });
  } finally {
    for (const end of ends) await end();
  }
}

type Send = (topic: string, value: Buffer | string) => Promise<void>;

/**
 * Milliseconds between one record on the topic and the next. `push` is told how many there are so far and says
 * whether it has sent something, so that the next one does not belong to the last.
 */
async function intervals(
  { brokers }: Infrastructure,
  topic: string,
  push: (send: Send, soFar: number) => Promise<boolean>,
): Promise<number[]> {
  const kafka = client(brokers, 'bench-iteration');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `watch-${topic}`, maxWaitTimeInMs: 100 });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const times: number[] = [];
  let enough: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (enough = resolve));
  const send: Send = async (to, value) => void (await producer.send({ topic: to, messages: [{ key: 's', value }] }));
  let seen = 0;
  let last: number | undefined;
  await consumer.run({
    eachMessage: async () => {
      const now = performance.now();
      if (last !== undefined && seen > warmUp) times.push(now - last);
      last = (await push(send, ++seen)) ? undefined : now;
      if (times.length >= iterations) enough();
    },
  });
  await push(send, 0);
  await all;
  await consumer.disconnect();
  await producer.disconnect();
  return times;
}

/** Milliseconds of a claim in the ledger of the executor. */
async function claimTimes({ runtimes }: Services): Promise<number[]> {
  const ledger = runtimes[2]?.runtime.ledger;
  if (ledger === undefined) throw new Error('The executor has no ledger.');
  const times: number[] = [];
  for (let n = 0; n < 60; n++) {
    const start = performance.now();
    await ledger.claim({ key: `bench/${n}`, owner: 'bench', now: Date.now(), ttlMs: 60_000 });
    times.push(performance.now() - start);
  }
  return times;
}

/** Calls the tool in every turn of a run but the last. */
function callsUntilFull(tool: string): Model {
  return {
    name: 'bench',
    turn: ({ history }) =>
      Promise.resolve({
        thought: '',
        calls: history.length < perRun ? [{ toolCallId: `c-${history.length}`, tool, arguments: '{}' }] : [],
        answer: history.length < perRun ? null : 'Done',
        inputTokens: 0,
        outputTokens: 0,
      }),
  };
}
