import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, JSONRPCResponse } from '@modelcontextprotocol/client';
import { bearerAt, isJsonObject, mayHoldRawNumbers, parseExactJson } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { ask, messageBytesByDefault } from './http-answer.js';
import { withoutNullMeta } from './message.js';
import type { FetchRequest } from './http-answer.js';

/** The code of an answer that was too large to be read: outside what JSON-RPC and MCP use. */
export const tooLargeCode = -31_413;
/** Why a call's stream was ended by us, which is no sign of a server that died. */
export const callEnded = 'The call has ended.';

/** How long the answer to a notification may take, and a stream may go on after its answer, in milliseconds. */
const unaskedMs = 10_000;
const afterAnswerMs = 1_000;
/**
 * Streams beside those of calls at one time, and the shortest time between two openings: a server that ends them at
 * once would have us ask without a pause.
 */
const standingStreams = 4;
const standingEveryMs = 1_000;
/** Questions of which it is kept on whose stream they came. */
const mostQuestions = 200;

interface OpenCall {
  readonly end: AbortController;
  /** Whether the body of its answer is being read. */
  reading: boolean;
  /** It waits for no answer: its stream stays open for what the server says of changes. */
  readonly isListening: boolean;
  /** When its answer came, on the monotonic clock; 0 while there is none. */
  answeredAt: number;
  /**
   * Of an answer in a stream of events, the result with its numbers as they were written: the SDK parses it with
   * rounded ones.
   */
  exact?: JsonObject;
}

/** A stream that was asked for by GET. */
interface Standing {
  readonly end: AbortController;
  /**
   * It goes on with the broken stream of a call, and is of no use once no call waits. The other one carries
   * unrequested messages.
   */
  readonly forCalls: boolean;
}

/**
 * The SDK's Streamable HTTP, with bounds: on the size of an answer, and on the time of a stream, which ends with its
 * call.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  private readonly calls = new Map<string | number, OpenCall>();
  /** Of questions that came on the stream of a request, that request. */
  private readonly questions = new Map<string | number, string | number>();
  private readonly standing = new Set<Standing>();
  private standingAt = 0;
  private sweeping: NodeJS.Timeout | undefined;

  /**
   * `token` goes along with every request to the server’s own scheme, host and port; null for a server that wants
   * none.
   */
  constructor(
    url: URL,
    token: string | null,
    private readonly messageBytes = messageBytesByDefault,
  ) {
    const carry = bearerAt(url, token);
    super(url, { fetch: (to, init) => this.fetch(to, carry(to, init as FetchRequest)) });
  }

  override async send(...given: Parameters<StreamableHTTPClientTransport['send']>): Promise<void> {
    const [message, options] = given;
    const abandoned = abandonedBy(message);
    if (abandoned !== null) this.end(abandoned);
    const id = requestIn(message);
    if (id !== null) {
      this.calls.set(id, { end: new AbortController(), reading: false, answeredAt: 0, isListening: listens(message) });
      // In the newer revisions a call is abandoned by the end of its stream, without a word.
      options?.requestSignal?.addEventListener('abort', () => this.end(id), { once: true });
    }
    try {
      await super.send(...given);
    } catch (error) {
      if (id !== null) this.calls.delete(id);
      throw error;
    }
  }

  override async close(): Promise<void> {
    clearTimeout(this.sweeping);
    for (const id of this.calls.keys()) this.end(id);
    await super.close();
  }

  /**
   * Called with each answer before it is passed on: its numbers become those that were written, and its stream has no
   * more to say.
   */
  answered(answer: JSONRPCResponse): void {
    const { id } = answer;
    const call = id === undefined ? undefined : this.calls.get(id);
    if (call === undefined || id === undefined) return;
    if (call.exact !== undefined && 'result' in answer) answer.result = call.exact;
    delete call.exact;
    call.answeredAt = performance.now();
    if (!call.reading) this.calls.delete(id);
    if (call.reading || this.standing.size > 1) this.sweepSoon();
  }

  /** The request on whose stream the server asked this. */
  requestOf(question: string | number): string | number | undefined {
    const request = this.questions.get(question);
    this.questions.delete(question);
    return request;
  }

  private sweepSoon(): void {
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
    this.endUnwanted();
    if (more) this.sweepSoon();
  }

  /** Streams that went on for calls, of which none waits any more. */
  private endUnwanted(): void {
    if (this.isAwaited()) return;
    for (const { forCalls, end } of this.standing) if (forCalls) end.abort(new Error(callEnded));
  }

  private isAwaited(): boolean {
    return [...this.calls.values()].some(({ answeredAt, isListening }) => answeredAt === 0 && !isListening);
  }

  /** Looks at an event before the SDK does. */
  private readonly onEvent = (data: string, request?: string | number): void => {
    if (request !== undefined && asks.test(data)) this.noteQuestion(data, request);
    const hasNullMeta = nullMeta.test(data);
    if (!hasNullMeta && !mayHoldRawNumbers(data)) return;
    try {
      const message = parseExactJson(data);
      if (!isJsonObject(message)) return;
      const { id, result } = message;
      const call = typeof id === 'string' || typeof id === 'number' ? this.calls.get(id) : undefined;
      if (call === undefined || !isJsonObject(result)) return;
      // The SDK takes it for no message, so it gets another one of which it can say that it is.
      if (result['_meta'] === null) this.onmessage?.(withoutNullMeta(message) as JSONRPCMessage);
      else call.exact ??= result;
    } catch (error) {
      // What is no JSON the SDK reports, which reads it next.
      if (!(error instanceof SyntaxError)) throw error;
    }
  };

  private noteQuestion(data: string, request: string | number): void {
    try {
      const { id } = JSON.parse(data) as { readonly id?: string | number };
      if (id === undefined) return;
      this.questions.set(id, request);
      // Those that are asked and not read are not kept for ever.
      const [oldest] = this.questions.keys();
      if (this.questions.size > mostQuestions && oldest !== undefined) this.questions.delete(oldest);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }

  private async fetch(to: string | URL, asked: FetchRequest): Promise<Response> {
    if (asked.method === 'GET') return this.fetchStanding(to, asked);
    const { messageBytes } = this;
    const id = requestIn(JSON.parse(asked.body ?? 'null'));
    if (id === null) {
      const signal = either(asked.signal, AbortSignal.timeout(unaskedMs));
      return ask(to, { ...asked, signal }, { messageBytes, onEnd: nothing, onTooLarge: nothing, onEvent: nothing });
    }
    // It may have been aborted on the way here, or while a redirect was followed: then no call waits for it, and
    // nothing would end it.
    const call = this.calls.get(id);
    if (call === undefined || asked.signal?.aborted === true) throw new Error(callEnded);
    call.reading = true;
    // The transport's own signal is left out: to close is to end every call.
    return ask(
      to,
      { ...asked, signal: call.end.signal },
      {
        messageBytes,
        onEnd: () => {
          call.reading = false;
          // Without an answer it goes on: elsewhere, or over another stream, until it is aborted.
          if (call.answeredAt > 0) this.calls.delete(id);
        },
        onEvent: (data) => this.onEvent(data, id),
        // Of a body of JSON the SDK itself says so; from a stream it would go on waiting for the answer.
        onTooLarge: (inEvents) => inEvents && this.onmessage?.(tooLarge(id)),
      },
    );
  }

  private async fetchStanding(to: string | URL, asked: FetchRequest): Promise<Response> {
    // The SDK asks for both in the same way; there is one for unrequested messages.
    const forCalls = [...this.standing].some((other) => !other.forCalls);
    if (forCalls && !this.isAwaited()) throw new Error(callEnded);
    if (this.standing.size >= standingStreams) throw new Error('The server has as many streams open as it may have.');
    const standing: Standing = { end: new AbortController(), forCalls };
    this.standing.add(standing);
    const signal = either(asked.signal, standing.end.signal);
    const onEnd = (): void => void this.standing.delete(standing);
    try {
      const now = performance.now();
      const wait = this.standingAt - now;
      this.standingAt = Math.max(this.standingAt, now) + standingEveryMs;
      if (wait > 0) await sleep(wait, undefined, { ref: false, signal });
    } catch (error) {
      onEnd();
      throw error;
    }
    return ask(
      to,
      { ...asked, signal },
      {
        ...{ messageBytes: this.messageBytes, onEnd, onTooLarge: nothing },
        onEvent: forCalls ? this.onEvent : nothing,
      },
    );
  }

  private end(id: string | number): void {
    this.calls.get(id)?.end.abort(new Error(callEnded));
    this.calls.delete(id);
    this.endUnwanted();
  }
}

/** Seen without reading all of an event. */
const asks = /"method"\s*:\s*"(?:elicitation|sampling|roots)\\?\//;
const nullMeta = /"_meta"\s*:\s*null/;

const nothing = (): void => undefined;

function tooLarge(id: string | number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: tooLargeCode, message: 'The answer is too large.' } };
}

function either(first: AbortSignal | null | undefined, second: AbortSignal): AbortSignal {
  return first ? AbortSignal.any([first, second]) : second;
}

/** The id of a request; null for a notification, an answer, or nothing. */
function requestIn(message: JSONRPCMessage | JSONRPCMessage[] | null): string | number | null {
  if (message === null || Array.isArray(message)) return null;
  return 'method' in message && 'id' in message ? message.id : null;
}

function listens(message: JSONRPCMessage | JSONRPCMessage[]): boolean {
  return !Array.isArray(message) && 'method' in message && message.method === 'subscriptions/listen';
}

function abandonedBy(message: JSONRPCMessage | JSONRPCMessage[]): string | number | null {
  if (Array.isArray(message) || !('method' in message) || message.method !== 'notifications/cancelled') return null;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
