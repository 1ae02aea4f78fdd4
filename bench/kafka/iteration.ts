import { topics } from '@sluice/contracts';
import type { Model } from '@sluice/core';
import { Partitioners } from 'kafkajs';
import { median, report } from '../measure.js';
import { bareEcho, client, createTopics } from './echo.js';
import type { Infrastructure } from './infrastructure.js';
import { openServices } from './services.js';
import type { Services } from './services.js';

const iterations = 60;
/** The first ones warm everything up. */
const warmUp = 10;
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
  const services = await openServices(parts, callsForEver(tool), () => Promise.resolve());
  try {
    const times = await intervals(parts, `${services.prefix}${topics.steps}`, async (send) => {
      const request = { question: 'Go', group: ['work'], request_id: 'r', session_id: 's' };
      await send(`${services.prefix}${topics.requests}`, JSON.stringify(request));
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
    return await intervals(parts, b, (send) => send(a, payload));
  } finally {
    for (const end of ends) await end();
  }
}

/** Milliseconds between records on the topic after the first one was sent. */
async function intervals(
  { brokers }: Infrastructure,
  topic: string,
  begin: (send: (topic: string, value: Buffer | string) => Promise<void>) => Promise<void>,
): Promise<number[]> {
  const kafka = client(brokers, 'bench-iteration');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `watch-${topic}`, maxWaitTimeInMs: 100 });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const seen: number[] = [];
  let enough: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (enough = resolve));
  await consumer.run({
    eachMessage: () => {
      if (seen.push(performance.now()) > iterations + warmUp) enough();
      return Promise.resolve();
    },
  });
  await begin(async (to, value) => void (await producer.send({ topic: to, messages: [{ key: 's', value }] })));
  await all;
  await consumer.disconnect();
  await producer.disconnect();
  return seen
    .slice(1)
    .map((at, n) => at - (seen[n] ?? at))
    .slice(warmUp);
}

/** Milliseconds of a claim in the ledger of the executor. */
async function claimTimes({ runtimes }: Services): Promise<number[]> {
  const ledger = runtimes[2]?.runtime.ledger;
  if (ledger === undefined) throw new Error('The executor has no ledger.');
  const times: number[] = [];
  for (let n = 0; n < iterations; n++) {
    const start = performance.now();
    await ledger.claim({ key: `bench/${n}`, owner: 'bench', now: Date.now(), ttlMs: 60_000 });
    times.push(performance.now() - start);
  }
  return times;
}

/** Calls the tool in every turn; what is measured ends before it would answer. */
function callsForEver(tool: string): Model {
  return {
    name: 'bench',
    turn: ({ history }) =>
      Promise.resolve({
        thought: '',
        calls: [{ toolCallId: `c-${history.length}`, tool, arguments: '{}' }],
        answer: null,
        inputTokens: 0,
        outputTokens: 0,
      }),
  };
}
