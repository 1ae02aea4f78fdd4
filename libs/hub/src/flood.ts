import type { JSONRPCMessage, JSONRPCResponse, Transport, TransportSendOptions } from '@modelcontextprotocol/client';

/** Unrequested messages in one second beyond which a server is cut off: it costs all others their time. */
const mostPerSecond = 1_000;
/**
 * Questions of a server that wait for our answers to be sent. A busy machine takes no thousand of them a second,
 * however many there are.
 */
const mostQuestions = 200;

interface Watch {
  /** Called once, when it was too much. */
  onFlood(): void;
  /** Called with each message to the server, before it is sent. */
  onSend(message: JSONRPCMessage): void;
  /** Called with each answer, before it is passed on. */
  onAnswer(answer: JSONRPCResponse): void;
}

/**
 * A transport that counts what the server says unasked: notifications, requests of its own, answers to nothing. The
 * client is connected to this one, so that nothing is read before it was counted: the SDK puts readers of its own on
 * a transport while it finds out which revision of the protocol a server speaks.
 */
export class WatchedTransport implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream: boolean;
  private owed = 0;
  private unasked = 0;
  private since = 0;
  /** How often each id of a question is open: nothing keeps a server from using one twice. */
  private readonly questions = new Map<string | number, number>();
  private open = 0;
  private over = false;

  constructor(
    private readonly inner: Transport,
    private readonly given: Watch,
  ) {
    this.hasPerRequestStream = inner.hasPerRequestStream ?? false;
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => {
      this.received(message);
      const read = (): void => this.onmessage?.(message, extra);
      if (isAnswer(message)) afterNotifications(read);
      else read();
    };
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message && 'id' in message) this.owed++;
    this.given.onSend(message);
    const sent = this.inner.send(message, options);
    return isAnswer(message) ? sent.finally(() => this.closed(message.id, 1)) : sent;
  }

  /** To be called also for what is said outside the protocol. */
  count(): void {
    const now = performance.now();
    if (now - this.since > 1_000) {
      this.since = now;
      this.unasked = 0;
    }
    if (++this.unasked > mostPerSecond) this.tooMuch();
  }

  private received(message: JSONRPCMessage): void {
    if (isAnswer(message) && this.owed > 0) {
      this.owed--;
      this.given.onAnswer(message);
      return;
    }
    const withdrawn = withdrawnBy(message);
    if (withdrawn !== undefined) this.closed(withdrawn, Infinity);
    if ('method' in message && 'id' in message) {
      this.questions.set(message.id, (this.questions.get(message.id) ?? 0) + 1);
      if (++this.open > mostQuestions) this.tooMuch();
    }
    this.count();
  }

  private closed(id: string | number | undefined, times: number): void {
    const asked = id === undefined ? 0 : (this.questions.get(id) ?? 0);
    if (id === undefined || asked === 0) return;
    const ended = Math.min(asked, times);
    this.open -= ended;
    if (asked === ended) this.questions.delete(id);
    else this.questions.set(id, asked - ended);
  }

  private tooMuch(): void {
    if (this.over) return;
    this.over = true;
    this.given.onFlood();
  }
}

/** The same for a process. By these two members the SDK knows one: a silent one is an older server, and no outage. */
export class WatchedProcess extends WatchedTransport {
  readonly stderr = null;
  readonly pid = null;
}

/**
 * The SDK passes notifications on in a later turn of the microtask queue, and answers at once: progress that comes
 * right before its answer would find its call over.
 */
function afterNotifications(read: () => void): void {
  queueMicrotask(() => queueMicrotask(() => queueMicrotask(read)));
}

function isAnswer(message: JSONRPCMessage): message is JSONRPCResponse {
  return 'result' in message || 'error' in message;
}

/** The question that a server withdraws: it gets no answer. */
function withdrawnBy(message: JSONRPCMessage): string | number | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
