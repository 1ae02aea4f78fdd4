import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest } from 'node:http';
import { report } from '../measure.js';
import type { GatewayProcess } from './process.js';

const many = 1_000;

/** The memory of a gateway before it streams a thousand runs at once, and while it does. */
export async function streams(gateway: GatewayProcess): Promise<void> {
  const idle = await gateway.memory();
  const agent = new Agent({ keepAlive: true, maxSockets: many });
  const open: ClientRequest[] = [];
  for (let n = 0; n < many; n += 50) {
    const begun = Array.from({ length: 50 }, (_, at) => stream(gateway.url, n + at, agent, open));
    await Promise.all(begun);
  }
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const streaming = await gateway.memory();
  for (const one of open) one.destroy();
  agent.destroy();
  report(`Memory of a gateway that streams ${many} runs (Kafka, in a process of its own)`, [
    { name: 'before', value: idle, unit: 'MB' },
    { name: 'while it streams', value: streaming, unit: 'MB', goal: { atMost: 150 } },
    { name: 'a stream', value: ((streaming - idle) * 1_024) / many, unit: 'KB' },
  ]);
}

/** Resolves with the first bytes: from then on the run is streamed. */
function stream(url: string, n: number, agent: Agent, open: ClientRequest[]): Promise<void> {
  const body = JSON.stringify({ question: 'Waits', group: [], session_id: `stream-${n}` });
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/v1/runs`, { method: 'POST', headers, agent }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`The gateway answered ${response.statusCode}.`));
      response.once('data', () => resolve());
      response.on('error', () => undefined);
      response.resume();
    });
    sent.on('error', reject);
    sent.end(body);
    open.push(sent);
  });
}
