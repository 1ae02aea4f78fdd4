import { ConnectionError, errorOf, ProblemError } from './errors.js';

export interface ClientOptions {
  /** Where the gateway is, such as `https://sluice.example.com`. */
  readonly url: string;
  /**
   * The credential, or what gives it for each request. Where no identity is configured it is the local secret;
   * without it one may ask, and follow the runs that one started.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * How often a request is tried again that found the gateway busy or unreachable; 12 unless given, which takes half
   * a minute or more, 0 for never.
   */
  readonly retries?: number;
  /** A `retry-after` that is longer is an error at once; a minute unless given. */
  readonly longestRetryAfterMs?: number;
  /** How long an answer may take to begin, beyond what a request waits for; half a minute unless given. */
  readonly timeoutMs?: number;
  /** A stream that is silent for longer counts as cut; 45 s unless given. The gateway sends something every 15 s. */
  readonly idleMs?: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface Sent extends CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: object;
  readonly body?: unknown;
  /** The body as it is, where that is no JSON; a header says its type. */
  readonly file?: Blob | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether it does no harm twice, so that it may be sent again where no answer came. Without it only refusals are
   * tried again.
   */
  readonly isRepeatable: boolean;
  /** Seconds that the gateway is asked to wait before it answers. */
  readonly waitSeconds?: number;
}

const refusedForNow: readonly number[] = [429, 502, 503, 504];
const firstDelayMs = 250;
const longestDelayMs = 8_000;

/** Sends requests, and tries again where that helps. Uses `fetch` and nothing of Node. */
export class Transport {
  readonly retries: number;
  readonly idleMs: number;
  private readonly url: string;
  private readonly fetch: typeof fetch;

  constructor(private readonly options: ClientOptions) {
    const url = new URL(options.url);
    if (!/^https?:$/.test(url.protocol)) throw new TypeError('url must begin with http:// or https://.');
    this.url = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.retries = options.retries ?? 12;
    this.idleMs = options.idleMs ?? 45_000;
  }

  async json<T>(sent: Sent): Promise<T> {
    return (await this.answer<T>(sent)).body;
  }

  /** The answer’s JSON, and where its run is. */
  answer<T>(sent: Sent): Promise<{ readonly body: T; readonly location: string | null }> {
    return this.again(sent, async (response) => {
      return { body: (await response.json()) as T, location: response.headers.get('location') };
    });
  }

  /** With its media type. */
  blob(sent: Sent): Promise<Blob> {
    return this.again(sent, (response) => response.blob());
  }

  text(sent: Sent): Promise<string> {
    return this.again(sent, (response) => response.text());
  }

  /**
   * One attempt, whose answer has begun. Throws ProblemError for a refusal, ConnectionError where there is no answer.
   */
  open(sent: Sent): Promise<Response> {
    return this.attempt(sent, (response) => Promise.resolve(response));
  }

  /** Waits before attempt `attempt` (from 1) after this error; throws the error where there is no use in it. */
  async pause(attempt: number, error: unknown, { signal, isRepeatable }: Sent): Promise<void> {
    signal?.throwIfAborted();
    const refusal = error instanceof ProblemError ? error : null;
    const isPassing = refusal === null ? isRepeatable : refusedForNow.includes(refusal.status);
    const asked = refusal?.retryAfterMs ?? null;
    if (!isPassing || attempt > this.retries || (asked ?? 0) > (this.options.longestRetryAfterMs ?? 60_000))
      throw error;
    const backoff = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
    await sleep(asked ?? backoff, signal);
  }

  private async again<T>(sent: Sent, read: (response: Response) => Promise<T>): Promise<T> {
    for (let n = 1; ; n++) {
      try {
        return await this.attempt(sent, read);
      } catch (error) {
        await this.pause(n, error, sent);
      }
    }
  }

  private async attempt<T>(sent: Sent, read: (response: Response) => Promise<T>): Promise<T> {
    const { method = 'GET', path, query = {}, body, file, headers = {}, signal, waitSeconds = 0 } = sent;
    signal?.throwIfAborted();
    const { token, timeoutMs = 30_000 } = this.options;
    const credential = typeof token === 'function' ? await token() : token;
    const late = new AbortController();
    const ms = timeoutMs + waitSeconds * 1_000;
    const timer = setTimeout(() => late.abort(new Error(`There was no answer within ${ms} ms.`)), ms);
    try {
      const response = await this.fetch(`${this.url}${path}${queryOf(query)}`, {
        method,
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
          ...(waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {}),
          ...this.options.headers,
          ...headers,
        },
        ...(file !== undefined ? { body: file } : body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (response.ok) return await read(response);
      const { status } = response;
      throw errorOf(await problemIn(response), { status, retryAfterMs: retryAfterOf(response) });
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      signal?.throwIfAborted();
      throw new ConnectionError(`${method} ${path} got no answer: ${messageOf(error)}`, null, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

async function problemIn(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

/** RFC 9110: seconds, or a date. */
export function retryAfterOf({ headers }: Pick<Response, 'headers'>, now: number = Date.now()): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** With commas between the members of a list, as the gateway reads them; what is undefined is left out. */
export function queryOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return text.length === 0 ? '' : `?${text.join('&')}`;
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
