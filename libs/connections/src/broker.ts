import type { Clock, ConnectionAnswer, ConnectionBroker, ConnectionSettings, ConnectionUse } from '@sluice/core';
import { fromEnvironment } from './adapters/environment.js';
import { fromFile } from './adapters/file.js';
import { fromHttp } from './adapters/http.js';
import { CredentialCache, keyOf } from './cache.js';

/** What became of asking where a credential comes from; what was kept is not asked for. */
export type Outcome = 'given' | 'denied' | 'unreachable';

export interface BrokerParts {
  /**
   * A variable's value, or what the file holds that `<variable>_FILE` names; throws a sentence where that cannot be
   * read.
   */
  secret(variable: string): string | undefined;
  readonly clock: Clock;
  /** How long an HTTP broker may take, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  /** Called each time a broker was asked. `message` holds nothing of a credential; null where one was given. */
  onAsked?(connection: string, outcome: Outcome, message: string | null): void;
}

const defaultTimeoutMs = 5_000;

/**
 * Credentials from the three adapters, kept no longer than they live. Who asks at the same time for
 * the same is answered by one question, which one caller's impatience does not end.
 */
export function createConnectionBroker(given: BrokerParts): ConnectionBroker {
  const { clock, timeoutMs = defaultTimeoutMs } = given;
  const cache = new CredentialCache();
  const asking = new Map<string, Promise<ConnectionAnswer>>();

  async function ask(settings: ConnectionSettings, use: ConnectionUse, refused: boolean): Promise<ConnectionAnswer> {
    const answer = checked(await source(settings, use, refused), settings);
    given.onAsked?.(settings.id, answer.ok ? 'given' : answer.why, answer.ok ? null : answer.message);
    return answer;
  }

  async function source(settings: ConnectionSettings, use: ConnectionUse, refused: boolean): Promise<ConnectionAnswer> {
    switch (settings.adapter) {
      case 'environment':
        return fromEnvironment(settings, (variable) => given.secret(variable));
      case 'file':
        return fromFile(settings);
      case 'http':
        return fromHttp(settings, use, refused, { secret: (name) => given.secret(name), clock, timeoutMs });
    }
  }

  return {
    credential: async (settings, use, signal, refused) => {
      signal.throwIfAborted();
      const key = keyOf(settings, use);
      const kept = cache.find(key, clock.now());
      if (kept !== undefined && kept.token !== refused?.token) return { ok: true, credential: kept };
      if (refused !== undefined) cache.forget(key);
      const question = JSON.stringify([key, refused !== undefined]);
      let answer = asking.get(question);
      if (answer === undefined) {
        answer = ask(settings, use, refused !== undefined).finally(() => asking.delete(question));
        asking.set(question, answer);
      }
      const found = await orAborted(answer, signal);
      if (found.ok) cache.keep(key, found.credential);
      return found;
    },
  };
}

/** What cannot be a credential is none, wherever it comes from. */
function checked(answer: ConnectionAnswer, { id }: ConnectionSettings): ConnectionAnswer {
  const why = answer.ok ? whyUnusable(answer.credential.token) : null;
  if (why === null) return answer;
  return { ok: false, why: 'unreachable', message: `What was given for the connection ${id} ${why}.` };
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Shorter ones are words that stand in every text, so they could not be kept out of one. */
const shortestToken = 8;

const longestToken = 8_192;

/**
 * What keeps a text from being a credential, as the end of a sentence that repeats nothing of it; null if it can be
 * one.
 */
function whyUnusable(token: string): string | null {
  if (token.length < shortestToken) return `is shorter than ${shortestToken} characters`;
  if (token.length > longestToken) return `is longer than ${longestToken} characters`;
  // What else there is could not be sent in a header.
  if (!/^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(token)) return 'holds characters that no header can';
  return null;
}
