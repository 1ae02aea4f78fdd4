import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';

/** Unrequested messages in one second beyond which a server is cut off: it costs all others their time. */
const mostPerSecond = 1_000;
/** Questions of a server that wait for our answers to be sent. A busy machine takes no thousand of them a second, however many there are. */
const mostQuestions = 200;

export interface Watch {
  /** Called once, when it was too much. */
  onFlood(): void;
  /** Called with each answer, before it is passed on. */
  onAnswer(answer: JSONRPCResponse): void;
}

/**
 * Counts what a server says unasked: notifications, requests of its own, answers to nothing. To be set before the client is connected.
 * Returns what is to be called for what is said outside the protocol.
 */
export function watchForFlood(transport: Transport, given: Watch): () => void {
  let owed = 0;
  let unasked = 0;
  let since = 0;
  /** How often each id of a question is open: nothing keeps a server from using one twice. */
  const questions = new Map<string | number, number>();
  let open = 0;
  let over = false;
  const tooMuch = (): void => {
    if (over) return;
    over = true;
    given.onFlood();
  };
  const count = (): void => {
    const now = performance.now();
    if (now - since > 1_000) {
      since = now;
      unasked = 0;
    }
    if (++unasked > mostPerSecond) tooMuch();
  };
  const closed = (id: string | number | undefined, times: number): void => {
    const asked = id === undefined ? 0 : (questions.get(id) ?? 0);
    if (id === undefined || asked === 0) return;
    const ended = Math.min(asked, times);
    open -= ended;
    if (asked === ended) questions.delete(id);
    else questions.set(id, asked - ended);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) owed++;
    const sent = send(message, options);
    return isAnswer(message) ? sent.finally(() => closed(message.id, 1)) : sent;
  };
  transport.onmessage = (message) => {
    if (isAnswer(message) && owed > 0) {
      owed--;
      given.onAnswer(message);
      return;
    }
    const withdrawn = withdrawnBy(message);
    if (withdrawn !== undefined) closed(withdrawn, Infinity);
    if ('method' in message && 'id' in message) {
      questions.set(message.id, (questions.get(message.id) ?? 0) + 1);
      if (++open > mostQuestions) tooMuch();
    }
    count();
  };
  return count;
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
