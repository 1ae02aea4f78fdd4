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
  let questions = 0;
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
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) owed++;
    const sent = send(message, options);
    if (!isAnswer(message)) return sent;
    return sent.finally(() => questions--);
  };
  transport.onmessage = (message) => {
    if (isAnswer(message) && owed > 0) {
      owed--;
      given.onAnswer(message);
      return;
    }
    if ('method' in message && 'id' in message && ++questions > mostQuestions) tooMuch();
    count();
  };
  return count;
}

function isAnswer(message: JSONRPCMessage): message is JSONRPCResponse {
  return 'result' in message || 'error' in message;
}
