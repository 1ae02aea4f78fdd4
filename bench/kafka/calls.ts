import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';
import { startRelay, startUpstream } from '../mcp/children.js';
import { connected, oneByOne, timeOf } from '../mcp/client.js';
import { configuration } from '../mcp/configuration.js';
import { median, report } from '../measure.js';
import { openCluster } from './cluster.js';
import { bareEcho, client, createTopics } from './echo.js';
import type { Infrastructure } from './infrastructure.js';

const rounds = 15;
const perRound = 10;
const warmUp = 100;

interface Closing {
  close(): Promise<void>;
}

/** An MCP client’s calls through Sluice on Kafka, beside a record that goes over two bare hops, in turn. */
export async function calls(parts: Infrastructure): Promise<void> {
  const open: Closing[] = [];
  const kept = async <Part extends Closing>(part: Promise<Part>): Promise<Part> => {
    const opened = await part;
    open.push(opened);
    return opened;
  };
  try {
    const upstream = await kept(startUpstream());
    const relay = await kept(connected((await kept(startRelay(`${upstream.url}/mcp`))).url));
    const cluster = await kept(openCluster(parts, configuration(upstream.url)));
    await cluster.start('filter');
    await cluster.start('executor');
    const sluice = await kept(connected((await cluster.start('mcp')).url));
    const hops = await kept(openHops(parts));
    const ways = [
      async (count: number) => repeated(hops.trip, count),
      async (count: number) => oneByOne(relay, 'ping', count),
      async (count: number) => oneByOne(sluice, 'upstream___ping', count),
      async (count: number) => oneByOne(sluice, 'upstream___act', count),
    ];
    const times = ways.map((): number[] => []);
    for (const way of ways) await way(warmUp);
    for (let round = 0; round < rounds; round++)
      for (const [at, way] of ways.entries()) {
        times[at]?.push(median(await way(perRound)));
        await delay(100);
      }
    const [bare = [], relayed = [], reads = [], effects = []] = times;
    const perHops = (those: readonly number[], besides: readonly number[] = []): number =>
      median(those.map((ms, at) => ms / ((bare[at] ?? NaN) + (besides[at] ?? 0))));
    const load = loadavg()[0]?.toFixed(1) ?? 'unknown';
    report(`MCP: a call one after another, on Kafka, ${rounds} rounds in turn, load ${load}`, [
      { name: 'two chained hops of bare kafkajs, median', value: median(bare), unit: 'ms' },
      { name: 'a call through the relay, without Kafka', value: median(relayed), unit: 'ms' },
      { name: 'a call through Sluice, read-only', value: median(reads), unit: 'ms' },
      { name: 'a call / two bare hops', value: perHops(reads), unit: '', goal: { atMost: 1.3 } },
      { name: 'a call / (two bare hops + a call through the relay)', value: perHops(reads, relayed), unit: '' },
      { name: 'a call through Sluice, with an effect', value: median(effects), unit: 'ms' },
      { name: 'with an effect / two bare hops', value: perHops(effects), unit: '' },
    ]);
  } finally {
    for (const part of open.reverse()) await part.close();
  }
}

/** Two hops: a record is sent, an echo reads it and sends another in a transaction, and that one is read. */
async function openHops({ brokers }: Infrastructure) {
  const prefix = `bare-${Date.now()}-`;
  const [input, output] = [`${prefix}a`, `${prefix}b`];
  await createTopics(brokers, input, output);
  const payload = Buffer.alloc(1_024, 'x');
  const end = await bareEcho(brokers, input, output, payload);
  const kafka = client(brokers, 'bench-calls');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: `trips-${output}`, maxWaitTimeInMs: 100 });
  await Promise.all([producer.connect(), consumer.connect()]);
  await consumer.subscribe({ topics: [output], fromBeginning: true });
  let arrived: () => void = () => undefined;
  await consumer.run({ eachMessage: () => Promise.resolve(arrived()) });
  let sent = 0;
  return {
    trip: async () => {
      const seen = new Promise<void>((resolve) => (arrived = resolve));
      await producer.send({ topic: input, messages: [{ key: `s-${sent++}`, value: payload }] });
      await seen;
    },
    close: async () => {
      await end();
      await consumer.disconnect();
      await producer.disconnect();
    },
  };
}

async function repeated(work: () => Promise<void>, count: number): Promise<readonly number[]> {
  const each: number[] = [];
  for (let n = 0; n < count; n++) each.push(await timeOf(work));
  return each;
}
