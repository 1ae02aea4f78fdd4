import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { ask } from './http-answer.js';
import type { Asked } from './http-answer.js';

/** The code of an answer that was too large to be read: outside what JSON-RPC and MCP use. */
export const tooLargeCode = -31_413;
/** Why a call's stream was ended by us, which is no sign of a server that died. */
export const callEnded = 'The call has ended.';

/** How long the answer to a notification may take, and a stream may go on after its answer, in milliseconds. */
const unaskedMs = 10_000;
const afterAnswerMs = 1_000;
/** Standing streams at one time, and the shortest time between two openings: a server that ends them at once would have us ask without a pause. */
const standingStreams = 4;
const standingEveryMs = 1_000;

interface OpenCall {
  readonly end: AbortController;
  /** When its answer came, on the monotonic clock; 0 while there is none. */
  answeredAt: number;
}

/** The SDK's Streamable HTTP, with bounds: on the size of an answer, and on the time of a stream, which ends with its call. */
export class HttpTransport extends StreamableHTTPClientTransport {
  private readonly calls = new Map<string | number, OpenCall>();
  private sweeping: NodeJS.Timeout | undefined;
  private standing = 0;
  private standingAt = 0;

  /** `token` goes along with every request; null for a server that wants none. */
  constructor(url: URL, token: string | null) {
    const requestInit = token === null ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };
    super(url, { fetch: (to, init) => this.fetch(to, init as Asked), ...requestInit });
  }

  override async send(...given: Parameters<StreamableHTTPClientTransport['send']>): Promise<void> {
    const id = abandonedBy(given[0]);
    if (id !== null) this.end(id);
    await super.send(...given);
  }

  override async close(): Promise<void> {
    clearTimeout(this.sweeping);
    for (const id of this.calls.keys()) this.end(id);
    await super.close();
  }

  /** To be told of each answer: its stream has no more to say. */
  answered(id: string | number): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    call.answeredAt = performance.now();
    this.sweeping ??= setTimeout(() => this.sweep(), afterAnswerMs).unref();
  }

  private sweep(): void {
    this.sweeping = undefined;
    const before = performance.now() - afterAnswerMs;
    let more = false;
    for (const [id, { answeredAt }] of this.calls) {
      if (answeredAt > 0 && answeredAt <= before) this.end(id);
      else more ||= answeredAt > 0;
    }
    if (more) this.sweeping = setTimeout(() => this.sweep(), afterAnswerMs).unref();
  }

  private async fetch(to: string | URL, asked: Asked): Promise<Response> {
    if (asked.method === 'GET') return this.fetchStanding(to, asked);
    const id = requestIn(asked.body);
    if (id === null)
      return ask(
        to,
        { ...asked, signal: either(asked.signal, AbortSignal.timeout(unaskedMs)) },
        { onEnd: nothing, onTooLarge: nothing },
      );
    const call: OpenCall = { end: new AbortController(), answeredAt: 0 };
    this.calls.set(id, call);
    // The transport's own signal is left out: to close is to end every call.
    return ask(
      to,
      { ...asked, signal: call.end.signal },
      {
        onEnd: () => void this.calls.delete(id),
        // Of a body of JSON the SDK itself says so; from a stream it would go on waiting for the answer.
        onTooLarge: (inEvents) => inEvents && this.onmessage?.(tooLarge(id)),
      },
    );
  }

  private async fetchStanding(to: string | URL, asked: Asked): Promise<Response> {
    if (this.standing >= standingStreams) throw new Error('The server has as many streams open as it may have.');
    const now = performance.now();
    const wait = this.standingAt - now;
    this.standingAt = Math.max(this.standingAt, now) + standingEveryMs;
    if (wait > 0) await sleep(wait, undefined, { ref: false, ...(asked.signal ? { signal: asked.signal } : {}) });
    this.standing++;
    return ask(to, asked, { onEnd: () => this.standing--, onTooLarge: nothing });
  }

  private end(id: string | number): void {
    this.calls.get(id)?.end.abort(new Error(callEnded));
    this.calls.delete(id);
  }
}

const nothing = (): void => undefined;

function tooLarge(id: string | number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: tooLargeCode, message: 'The answer is too large.' } };
}

function either(first: AbortSignal | null | undefined, second: AbortSignal): AbortSignal {
  return first ? AbortSignal.any([first, second]) : second;
}

/** The id of the request in a body, or null if it holds a notification or an answer, or there is none. */
function requestIn(body: unknown): string | number | null {
  if (typeof body !== 'string') return null;
  const message = JSON.parse(body) as JSONRPCMessage;
  return 'method' in message && 'id' in message ? message.id : null;
}

function abandonedBy(message: JSONRPCMessage | JSONRPCMessage[]): string | number | null {
  if (Array.isArray(message) || !('method' in message) || message.method !== 'notifications/cancelled') return null;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
