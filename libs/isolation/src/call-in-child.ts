import type { ToolCapabilities, ToolInvocationContext } from '@sluice/core';
import type { CapabilityName, ConnectionClient } from '@sluice/tools';
import { receivedError } from './errors.js';
import { bodyBytes } from './messages.js';
import type { Answer, FromChild, SentCall, SentRequest, SentResponse } from './messages.js';
import { isRemote, remoteMethods } from './remote.js';
import type { RemoteCapability } from './remote.js';

/** One call in the tool’s process: what it was given, and what it asks the service for. */
export class CallInChild {
  private readonly ended = new AbortController();
  private readonly asked = new Map<number, PromiseWithResolvers<unknown>>();
  private last = 0;

  constructor(
    private readonly n: number,
    private readonly call: SentCall,
    private readonly send: (message: FromChild) => void,
  ) {}

  abort(reason: string): void {
    this.ended.abort(new Error(reason));
  }

  answer(ask: number, answer: Answer): void {
    const waiting = this.asked.get(ask);
    this.asked.delete(ask);
    if (answer.ok) waiting?.resolve(answer.value);
    else waiting?.reject(receivedError(answer.error));
  }

  /** The capabilities of these names, as the contract declares them. */
  capabilities(names: readonly string[]): ToolCapabilities {
    return Object.fromEntries(names.map((name) => [name, this.capability(name as CapabilityName)]));
  }

  private capability(name: CapabilityName): unknown {
    const { call, n, ended } = this;
    switch (name) {
      case 'clock': {
        const startedAt = performance.now();
        return { now: () => Math.round(call.now + performance.now() - startedAt) };
      }
      case 'cancellation':
        return { signal: ended.signal };
      case 'idempotency':
        return { key: call.key };
      case 'progress':
        return { report: (text: string) => this.send({ say: 'progress', n, text: String(text) }) };
      case 'connections':
        return { for: (connectionId: string) => this.client(connectionId, call.context) };
      case 'knowledge':
      case 'text':
      case 'workspace':
      case 'todos':
      case 'toolsets':
      case 'auth':
        return this.remote(name);
    }
  }

  private remote(name: RemoteCapability): unknown {
    if (!isRemote(name)) return undefined;
    return Object.fromEntries(
      remoteMethods[name].map((method) => [method, (...args: unknown[]) => this.ask(name, method, args)]),
    );
  }

  private ask(capability: RemoteCapability, method: string, args: readonly unknown[]): Promise<unknown> {
    const ask = ++this.last;
    const at = args.findIndex((arg) => arg instanceof AbortSignal);
    const signal = args[at] as AbortSignal | undefined;
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const waiting = Promise.withResolvers<unknown>();
    this.asked.set(ask, waiting);
    const stop = (): void => {
      this.asked.delete(ask);
      this.send({ say: 'stop', n: this.n, ask });
      waiting.reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', stop, { once: true });
    const sent = args.map((arg) => (arg === undefined || arg instanceof AbortSignal ? {} : { value: arg }));
    this.send({ say: 'ask', n: this.n, ask, capability, method, args: sent, signalAt: at === -1 ? null : at });
    return waiting.promise.finally(() => signal?.removeEventListener('abort', stop));
  }

  private client(connectionId: string, context: ToolInvocationContext): ConnectionClient {
    if (connectionId !== context.connectionId)
      throw new Error('A call may use the connection of its context and no other.');
    return { fetch: (url, init) => this.fetch('connections', url, init) };
  }

  /** A request that the service makes. */
  async fetch(
    capability: 'connections' | 'network',
    input: string | URL | Request,
    init?: RequestInit,
  ): Promise<Response> {
    const request = new Request(input, init);
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
    if (body !== null && body.length > bodyBytes)
      throw new Error(`The body of a request may have ${String(bodyBytes)} bytes.`);
    const sent: SentRequest = {
      url: request.url,
      method: request.method,
      headers: [...request.headers],
      redirect: request.redirect,
      body: body?.toString('base64') ?? null,
    };
    return responseOf((await this.ask(capability, 'fetch', [sent, request.signal])) as SentResponse);
  }
}

/** Statuses whose response has no body by the Fetch standard. */
const bodiless = [101, 103, 204, 205, 304];

function responseOf({ url, status, statusText, redirected, headers, body }: SentResponse): Response {
  const bytes = body === null || bodiless.includes(status) ? null : Buffer.from(body, 'base64');
  const response = new Response(bytes, { status, statusText, headers: headers.map(([name, value]) => [name, value]) });
  // A constructed response has neither; the tool may want to know where it was led.
  Object.defineProperties(response, { url: { value: url }, redirected: { value: redirected } });
  return response;
}
