import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Agent, RequestOptions } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { requestOf } from './kinds.js';
import type { Door, Kind } from './kinds.js';
import type { Reading } from './reading.js';

/** What services get that are measured without limits of their own. */
export const unbounded = {
  SLUICE_MCP_CALLS_PER_MINUTE: '0',
  SLUICE_HTTP_STREAMS: '2000',
  SLUICE_DRAIN_SECONDS: '1',
  SLUICE_PORT: '0',
};

/** Services that are measured. */
export interface Installation {
  read(): Promise<Reading>;
  /** Sends a request, and resolves when its run has ended. Rejects if it ended with an error. */
  readonly doors: Readonly<Partial<Record<Door, (kind: Kind, id: string) => Promise<void>>>>;
  close(): Promise<void>;
}

/** The model and the MCP server that the services use, in a process of its own, which is not measured. */
export async function startOutside(): Promise<{ readonly port: number; stop(): void }> {
  const program = join(import.meta.dirname, '../bench/capacity/outside.mjs');
  const child: ChildProcess = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  if (child.stdout === null) throw new Error('The process has no output.');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), stop: () => void child.kill() };
}

/** Runs over HTTP: each waits for its end. */
export function overHttp(url: string, agent: Agent): (kind: Kind, id: string) => Promise<void> {
  return async (kind, id) => {
    const body = JSON.stringify(requestOf(kind, id));
    const headers = {
      ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), prefer: 'wait=55' },
    };
    const text = await post(`${url}/v1/runs`, body, { headers, agent });
    const { kind: end } = JSON.parse(text) as { kind?: string };
    if (end !== 'answer') throw new Error(`A run ended otherwise than with an answer: ${text.slice(0, 300)}`);
  };
}

/** Once more where the server closed a connection at the moment it was used again: the run is taken once by its id. */
async function post(url: string, body: string, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { ...options, method: 'POST' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const whole = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(whole);
        else reject(new Error(`The gateway answered ${response.statusCode}: ${whole.slice(0, 300)}`));
      });
      response.on('error', reject);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(post(url, body, options));
      else reject(error);
    });
    sent.end(body);
  });
}

/** Calls without a model, by an MCP client, whatever the kind. */
export async function overMcp(url: string): Promise<{
  readonly send: (kind: Kind, id: string) => Promise<void>;
  readonly client: Client;
}> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const name = tools.map((tool) => tool.name).find((one) => one.endsWith('look'));
  if (name === undefined) throw new Error(`The MCP server offers no “look”: ${JSON.stringify(tools)}`);
  return {
    client,
    send: async () => {
      const { isError, content } = await client.callTool({ name, arguments: {} });
      if (isError === true) throw new Error(`The call of ${name} failed: ${JSON.stringify(content)}`);
    },
  };
}
