import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type {
  AuthInfo,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  Server,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '@sluice/core';
import { answerEventId } from '@sluice/mcp';
import type { HeardAnswer } from '@sluice/mcp';

/** From this revision on a stream begins with an event that has nothing but its id. */
export const primedFrom = '2025-11-25';
/** When a client is to connect again, in milliseconds. */
export const retryMs = 2_000;
/** The answers of a client are looked for so often, in milliseconds, where another replica may have them. */
const lookMs = 500;
/** Of the message by which a server learns who its client is. */
const restoring = 'sluice/restoring';

/** Whose request it is, and its message, where it could be read. */
export interface Given {
  readonly authInfo: AuthInfo;
  readonly parsedBody?: JsonValue;
}

/** What an exchange has around it. */
interface Around {
  readonly session: string;
  readonly revision: string;
  readonly maxRequestBodySize: number;
  /** Under which the answer can be resumed; null where it cannot. */
  readonly stream: string | null;
  /** How far the client has heard the stream. */
  readonly heard: HeardAnswer;
  /** Sends what belongs to no request. */
  readonly say: (message: JsonObject) => Promise<void>;
  /** What the client answered to a question of this server, at whichever replica; null while it did not. */
  readonly replyTo: (id: string) => Promise<JsonObject | null>;
  readonly onEnd: (exchange: Exchange) => void;
}

/**
 * One request over HTTP of a session, between a server of the SDK, which serves it alone, and the SDK’s transport.
 * Whatever a session is beyond this request is in the ledger’s database.
 */
export class Exchange implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  readonly sessionId: string;
  private readonly http: WebStandardStreamableHTTPServerTransport;
  private readonly underWay = new Set<string | number>();
  /** Questions to the client: the ids that it knows, and those of the server. */
  private readonly asked = new Map<string, string | number>();
  private questions = 0;
  private progress: number;
  private sent: number;
  private looking: NodeJS.Timeout | null = null;
  private restored: (answer: JSONRPCMessage) => void = () => undefined;
  private server: Server | null = null;

  constructor(private readonly around: Around) {
    const { session, stream, heard, maxRequestBodySize } = around;
    this.sessionId = session;
    this.sent = heard.position;
    this.progress = heard.progress;
    const storeEvent = (): Promise<string> => {
      const questions = Math.max(this.questions, heard.questions);
      return Promise.resolve(answerEventId(stream ?? '', { position: this.sent, progress: this.progress, questions }));
    };
    const replayEventsAfter = (): Promise<string> => Promise.reject(new Error('A stream is resumed by its session.'));
    this.http = new WebStandardStreamableHTTPServerTransport({
      maxRequestBodySize,
      retryInterval: retryMs,
      ...(stream === null ? {} : { eventStore: { storeEvent, replayEventsAfter } }),
    });
  }

  /** Connects the server, which learns what its client once said of itself; what it answered to that. */
  async connect(server: Server, begun: JsonObject): Promise<JSONRPCMessage> {
    this.server = server;
    await server.connect(this);
    const answered = new Promise<JSONRPCMessage>((resolve) => (this.restored = resolve));
    this.onmessage?.({ jsonrpc: '2.0', id: restoring, method: 'initialize', params: begun } as JSONRPCRequest);
    return answered;
  }

  async handle(request: Request, given: Given): Promise<Response> {
    const response = await this.http.handleRequest(request, given);
    if (response.ok) response.headers.set('mcp-session-id', this.sessionId);
    this.endIfDone();
    return response;
  }

  /** A client’s answer to a question of this server; whether it is one. */
  reply(message: JsonObject): void {
    const id = this.asked.get(String(message['id']));
    if (id === undefined) return;
    this.asked.delete(String(message['id']));
    this.onmessage?.({ ...message, id } as unknown as JSONRPCResponse);
  }

  /** Whether the request of this id is under way here. */
  has(id: JsonValue): boolean {
    return this.underWay.has(id as string | number);
  }

  /** The client no longer wants the answer. */
  cancel(message: JsonObject): void {
    this.onmessage?.(message as unknown as JSONRPCNotification);
  }

  async start(): Promise<void> {
    this.http.onmessage = (message, extra) => this.arrived(message, extra);
    this.http.onerror = (error) => this.onerror?.(error);
    await this.http.start();
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.http.setSupportedProtocolVersions(versions);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) return this.answer(message);
    const [only] = this.underWay;
    // A question to the client goes with the request that leads to it, also where the server does not say which.
    const relatedRequestId = options?.relatedRequestId ?? (isJSONRPCRequest(message) ? only : undefined);
    const named = this.named(message);
    if (relatedRequestId === undefined) return this.around.say(named as unknown as JsonObject);
    // A question that the client has heard is not asked again: what it answered comes here, too.
    if (isJSONRPCRequest(message) && this.questions <= this.around.heard.questions && this.around.stream !== null)
      return;
    this.sent++;
    if ('method' in message && message.method === 'notifications/progress')
      this.progress = Number(message.params?.['progress']);
    await this.http.send(named, { ...options, relatedRequestId });
  }

  async close(): Promise<void> {
    if (this.looking !== null) clearInterval(this.looking);
    this.looking = null;
    await this.http.close();
    this.around.onEnd(this);
    this.onclose?.();
  }

  /** Ends the exchange, and what is under way in it. */
  async end(): Promise<void> {
    await this.server?.close();
  }

  private arrived<T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo): void {
    if (isJSONRPCRequest(message)) this.underWay.add(message.id);
    // Answers and cancellations are of other exchanges, which the session finds.
    else if (!isJSONRPCNotification(message) || message.method === 'notifications/cancelled') return;
    this.onmessage?.(message, extra);
  }

  private async answer(message: JSONRPCResponse): Promise<void> {
    const { id } = message;
    if (id === restoring) return this.restored(message);
    this.sent++;
    // A client that can resume the stream gets its answer where the call goes on.
    if (isStopping(message) && this.canBeResumed() && id !== undefined) this.http.closeSSEStream(id);
    else await this.http.send(message);
    if (id !== undefined) this.underWay.delete(id);
    this.endIfDone();
  }

  private canBeResumed(): boolean {
    const { stream, revision } = this.around;
    return stream !== null && (revision >= primedFrom || this.sent > 1);
  }

  /**
   * The ids that the client knows are the same ones at every replica that serves its request, so that an answer counts
   * wherever it comes and a question is asked once.
   */
  private named(message: JSONRPCRequest | JSONRPCNotification): JSONRPCMessage {
    const prefix = this.around.stream ?? 'q';
    if (isJSONRPCRequest(message)) {
      const id = `${prefix}-${this.around.stream === null ? crypto.randomUUID() : ++this.questions}`;
      this.asked.set(id, message.id);
      this.look();
      return { ...message, id };
    }
    const of = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined;
    const found = [...this.asked].find(([, inner]) => inner === of);
    return found === undefined ? message : { ...message, params: { ...message.params, requestId: found[0] } };
  }

  private look(): void {
    this.looking ??= setInterval(() => void this.lookForReplies().catch(() => undefined), lookMs).unref();
  }

  private async lookForReplies(): Promise<void> {
    if (this.asked.size === 0 && this.looking !== null) {
      clearInterval(this.looking);
      this.looking = null;
    }
    for (const id of [...this.asked.keys()]) {
      const reply = await this.around.replyTo(id);
      if (reply !== null) this.reply(reply);
    }
  }

  private endIfDone(): void {
    if (this.underWay.size === 0) setImmediate(() => void this.end().catch(() => undefined));
  }
}

/** Whether it says that this process stops, so that the call is followed no further here. */
function isStopping(message: JSONRPCResponse): boolean {
  if (!('result' in message)) return false;
  const error = message.result._meta?.['sluice/error'] as { readonly reason?: unknown } | undefined;
  return error?.reason === 'stopping';
}
