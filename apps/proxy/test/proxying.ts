import { afterAll } from '@jest/globals';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog, createMetrics } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { compileConfiguration } from '@sluice/configuration';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteLedger } from '@sluice/ledger';
import { TokenCounter } from '@sluice/tokens';
import { Writable } from 'node:stream';
import type { Outgoing } from '@sluice/bus';
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { Listener } from '../src/listener.js';
import { startProxy, type Proxy } from '../src/proxy.module.js';

/** A request as the upstream received it. */
export interface Received {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export type Script = (received: Received, response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

/** A model API that follows a script, and keeps what it received. */
export class ScriptedUpstream {
  readonly received: Received[] = [];
  /** Clients of Bedrock speak HTTP/2 to it, as to the proxy. */
  private readonly listener: Listener;

  private constructor(public script: Script) {
    this.listener = new Listener((request, response) => void this.handle(request, response));
  }

  private get server(): Server {
    return this.listener.server;
  }

  static async start(script: Script): Promise<ScriptedUpstream> {
    const upstream = new ScriptedUpstream(script);
    await new Promise<void>((resolve) => upstream.server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  /** The bodies so far, as JSON. */
  bodies<T = Record<string, unknown>>(): readonly T[] {
    return this.received.map(({ body }) => JSON.parse(body.toString()) as T);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await this.listener.close(0);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const received = {
      method: request.method ?? '',
      target: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks),
    };
    this.received.push(received);
    await this.script(received, response, request);
  }
}

export interface TestProxy extends Proxy {
  readonly runtime: Runtime;
  /** What was published so far. */
  readonly published: readonly Outgoing[];
  readonly lines: () => string;
  metrics(): Promise<string>;
}

/** The configuration of a text in YAML; what it says beside the text is nothing. */
export function configurationOf(text: string): Configuration {
  const digest = (value: string): string => createHash('sha256').update(value).digest('hex');
  const given = { types: [], offers: [], files: {}, digest };
  const { configuration, problems } = compileConfiguration(
    { tool: {}, ...(parse(text) as object) },
    given as unknown as Parameters<typeof compileConfiguration>[1],
  );
  if (configuration === null) throw new Error(JSON.stringify(problems));
  return configuration;
}

// The tables of a tokenizer take half a second to load.
const counter = new TokenCounter({ inThread: true });
afterAll(() => counter.close());

/** The proxy under a configuration, with what it needs of a process and no more. */
export async function startTestProxy(text: string, secrets: Readonly<Record<string, string>> = {}): Promise<TestProxy> {
  const configuration = configurationOf(text);
  const written: string[] = [];
  const sink = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk));
      done();
    },
  });
  const metrics = createMetrics();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-proxy-'));
  const ledger = await openSqliteLedger({ file: join(folder, 'ledger.db') });
  const published: Outgoing[] = [];
  const loaded = { configuration, evaluator: compileEvaluator(configuration) };
  const runtime = {
    environment: {
      host: '127.0.0.1',
      proxyPort: 0,
      allowedHosts: [],
      drainMs: 1_000,
      secret: (variable: string) => secrets[variable],
      secretsKey: () => secrets['SLUICE_SECRETS_KEY'] ?? null,
    },
    clock: { now: () => Date.now() },
    documents: ledger.documents,
    bus: {
      publish: (messages: readonly Outgoing[]) => {
        published.push(...messages);
        return Promise.resolve();
      },
    },
    log: createLog('trace', sink),
    metrics,
    configurations: { current: () => loaded, inForceOrNull: () => loaded, onChange: () => undefined },
  } as unknown as Runtime;
  const proxy = await startProxy(runtime, counter);
  const close = async (): Promise<void> => {
    await proxy.close();
    await ledger.close();
    await rm(folder, { recursive: true });
  };
  return {
    ...proxy,
    close,
    runtime,
    published,
    lines: () => written.join(''),
    metrics: () => metrics.registry.metrics(),
  };
}
