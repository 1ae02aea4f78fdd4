import { SseError, SSEClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCResponse } from '@modelcontextprotocol/client';
import { bearerAt, isJsonObject, mayHoldRawNumbers, parseExactJson } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { ask, messageBytesByDefault } from './http-answer.js';
import type { FetchRequest } from './http-answer.js';

/**
 * How long the answer to one message may take to be acknowledged, in milliseconds: the result itself comes over the
 * stream.
 */
const acknowledgedMs = 30_000;

const nothing = (): void => undefined;

/**
 * The transport of servers before Streamable HTTP: one stream of events for all answers, and a POST for each message.
 * With the bounds of HttpTransport. A stream that breaks ends the session at the server, so it is the end of the
 * connection here too.
 */
export class SseTransport extends SSEClientTransport {
  /** Results with their numbers as they were written, until the SDK reads the event. */
  private readonly exact = new Map<string | number, JsonObject>();
  private ended = false;

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

  /** To be called once it is connected: from then on an error of the stream is the end. */
  closeOnError(error: Error): void {
    if (error instanceof SseError && !this.ended) void this.close();
  }

  override async close(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    this.exact.clear();
    await super.close();
  }

  /** Called with each answer before it is passed on: its numbers become those that were written. */
  answered(answer: JSONRPCResponse): void {
    const { id } = answer;
    const exact = id === undefined ? undefined : this.exact.get(id);
    if (exact === undefined || id === undefined) return;
    this.exact.delete(id);
    if ('result' in answer) answer.result = exact;
  }

  private fetch(to: string | URL, asked: FetchRequest): Promise<Response> {
    const { messageBytes } = this;
    if ((asked.method ?? 'GET') === 'GET')
      return ask(to, asked, {
        messageBytes,
        onEnd: nothing,
        onTooLarge: () => void this.close(),
        onEvent: this.onEvent,
      });
    const timeout = AbortSignal.timeout(acknowledgedMs);
    const signal = asked.signal ? AbortSignal.any([asked.signal, timeout]) : timeout;
    return ask(to, { ...asked, signal }, { messageBytes, onEnd: nothing, onTooLarge: nothing, onEvent: nothing });
  }

  private readonly onEvent = (data: string): void => {
    if (!mayHoldRawNumbers(data)) return;
    try {
      const message = parseExactJson(data);
      if (!isJsonObject(message)) return;
      const { id, result } = message;
      if ((typeof id === 'string' || typeof id === 'number') && isJsonObject(result)) this.exact.set(id, result);
    } catch (error) {
      // What is no JSON the SDK reports, which reads it next.
      if (!(error instanceof SyntaxError)) throw error;
    }
  };
}
