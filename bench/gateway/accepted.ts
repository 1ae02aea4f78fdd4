import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { CompressionTypes, Partitioners } from 'kafkajs';
import { client, createTopics } from '../kafka/echo.js';
import type { Infrastructure } from '../kafka/infrastructure.js';
import { request } from '../kafka/throughput.js';
import { median, quantile, report } from '../measure.js';
import type { GatewayProcess } from './process.js';

const rounds = 300;
const warmUp = 50;
const side = 64;
const seconds = 10;

/** What it takes until a request is durably on the log: through the gateway, and by a producer alone, in turn. */
export async function accepted(parts: Infrastructure, gateway: GatewayProcess): Promise<void> {
  const topic = `bare-${Date.now()}`;
  await createTopics(parts.brokers, topic);
  const producer = client(parts.brokers, 'bench-bare').producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const agent = new Agent({ keepAlive: true, maxSockets: side });
  let count = 0;
  const produce = async (): Promise<number> => {
    const n = count++;
    const since = performance.now();
    const messages = [{ key: `s-${n}`, value: request(n) }];
    await producer.send({ topic, messages, acks: -1, compression: CompressionTypes.None });
    return performance.now() - since;
  };
  const post = async (): Promise<number> => {
    const since = performance.now();
    const status = await send(gateway.url, bodyOf(count++), agent);
    if (status !== 202) throw new Error(`The gateway answered ${status}.`);
    return performance.now() - since;
  };
  for (let n = 0; n < warmUp; n++) await produce().then(post);
  const [bare, ours]: [number[], number[]] = [[], []];
  for (let n = 0; n < rounds; n++) {
    bare.push(await produce());
    ours.push(await post());
  }

  const bareRate = await perSecond(produce);
  const before = await gateway.processor();
  const rate = await perSecond(post);
  const processor = (await gateway.processor()) - before;
  agent.destroy();
  await producer.disconnect();
  report('Requests over HTTP until they are on the log (Kafka, questions of 900 bytes)', [
    { name: 'bare produce, one at a time, median', value: median(bare), unit: 'ms' },
    { name: 'accepted by the gateway, one at a time, median', value: median(ours), unit: 'ms' },
    { name: 'the same, p99', value: quantile(ours, 0.99), unit: 'ms' },
    {
      name: 'accepted later than a bare produce, median',
      value: median(ours) - median(bare),
      unit: 'ms',
      goal: { atMost: 2 },
    },
    { name: `bare produces a second, ${side} side by side`, value: bareRate, unit: '/s' },
    { name: `accepted a second, ${side} side by side`, value: rate, unit: '/s', goal: { atLeast: 2_000 } },
    {
      name: 'processor time of the gateway for each',
      value: processor / (rate * seconds),
      unit: 'ms',
      goal: { atMost: 0.5 },
    },
  ]);
}

/** How often it is done in a second, side by side for some seconds. */
async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  let done = 0;
  const again = async (): Promise<void> => {
    for (; performance.now() < until; done++) await work();
  };
  await Promise.all(Array.from({ length: side }, again));
  return done / ((performance.now() - begun) / 1_000);
}

function bodyOf(n: number): string {
  return JSON.stringify({ question: 'x'.repeat(900), group: [], session_id: `s-${n}` });
}

function send(url: string, body: string, agent: Agent): Promise<number> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/v1/runs`, { method: 'POST', headers, agent }, (response: IncomingMessage) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
