import { fetch } from 'undici';
import type { Agent, Response } from 'undici';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { charsetIn } from '../document/html-charset.js';
import { guardedConnect } from '@sluice/isolation';
import type { GuardedConnect, Resolve } from '@sluice/isolation';

interface FetchedBody {
  /** Where the redirects led. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  /** As the header names it; null where it does not. */
  readonly charset: string | null;
  readonly bytes: Uint8Array;
}

interface FetchLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** What Sluice calls itself, to servers and in robots.txt. */
export const userAgent = 'Sluice';

const mostRedirects = 5;
const openPorts = ['', '80', '443'];

/**
 * Fetches addresses that a model chose. Nothing but the public internet can be reached, save the hosts that the
 * configuration names: the check is made on the address to which the connection is opened, so that a name that
 * resolves differently the next time gains nothing, and again at each redirect. No cookie, no credential is sent.
 */
export class GuardedFetch {
  private readonly agent: Agent;
  private readonly guard: GuardedConnect;

  /** `privateHosts`: host, or host:port, that may be reached wherever they are. */
  constructor(privateHosts: readonly string[], resolve?: Resolve) {
    this.guard = guardedConnect(privateHosts, resolve);
    this.agent = this.guard.agent(4);
  }

  /**
   * Throws ToolUserError for an address that may not be fetched, and ToolUnavailableError if the server does not
   * answer.
   */
  async get(address: string, { bytes, ms }: FetchLimits, signal: AbortSignal): Promise<FetchedBody> {
    const time = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
    let url = this.checked(address);
    for (let redirects = 0; ; redirects++) {
      const response = await this.ask(url, time, signal);
      const location = response.headers.get('location');
      if (![301, 302, 303, 307, 308].includes(response.status) || location === null) {
        return { url: url.href, ...(await this.body(response, bytes, url, signal)) };
      }
      await response.body?.cancel();
      if (redirects === mostRedirects)
        throw new ToolUserError(`${url.host} redirects more than ${mostRedirects} times.`);
      const next = this.checked(URL.canParse(location, url.href) ? new URL(location, url).href : location);
      if (url.protocol === 'https:' && next.protocol === 'http:')
        throw new ToolUserError(`${url.host} redirects from https to http, which is not followed.`);
      url = next;
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  /** Throws ToolUserError for an address that may not be fetched, as far as it says so itself. */
  checked(address: string): URL {
    if (!URL.canParse(address))
      throw new ToolUserError('This is no address. Give one such as https://example.org/page.');
    const url = new URL(address);
    if (!['http:', 'https:'].includes(url.protocol))
      throw new ToolUserError('Only http and https addresses can be fetched.');
    if (url.username !== '' || url.password !== '')
      throw new ToolUserError('An address with a user or a password is not fetched.');
    if (this.guard.isNamed(url)) return url;
    if (!openPorts.includes(url.port))
      throw new ToolUserError(`Port ${url.port} is not fetched from; only 80 and 443 are.`);
    const why = this.guard.problemOf(url);
    if (why !== null) throw new ToolUserError(why);
    return url;
  }

  private async ask(url: URL, time: AbortSignal, signal: AbortSignal): Promise<Response> {
    try {
      const headers = { 'user-agent': userAgent, accept: 'text/html, text/plain, application/pdf;q=0.9, */*;q=0.1' };
      return await fetch(url.href, { dispatcher: this.agent, redirect: 'manual', headers, signal: time });
    } catch (error) {
      throw this.failure(error, url, signal);
    }
  }

  private async body(
    response: Response,
    most: number,
    url: URL,
    signal: AbortSignal,
  ): Promise<Omit<FetchedBody, 'url'>> {
    const parts: Uint8Array[] = [];
    let length = 0;
    try {
      // Counted as they are unpacked, so that a small body that becomes a huge one is found as well.
      for await (const part of response.body ?? []) {
        length += (part as Uint8Array).byteLength;
        if (length > most)
          throw new ToolUserError(`What ${url.host} sends has more than ${most} bytes, which is the most.`);
        parts.push(part as Uint8Array);
      }
    } catch (error) {
      if (error instanceof ToolUserError) throw error;
      throw this.failure(error, url, signal);
    }
    const header = response.headers.get('content-type') ?? '';
    const contentType = header.split(';')[0]?.trim().toLowerCase() ?? '';
    return { status: response.status, contentType, charset: charsetIn(header), bytes: Buffer.concat(parts) };
  }

  private failure(error: unknown, { host }: URL, signal: AbortSignal): Error {
    if (signal.aborted) return signal.reason as Error;
    const why = this.guard.whyOf(error);
    if (why !== null) return new ToolUserError(why);
    const isUnknown = (error as { cause?: { code?: unknown } }).cause?.code === 'ENOTFOUND';
    const sentence = isUnknown
      ? `There is no host of the name ${host}, or it cannot be looked up.`
      : `${host} does not answer.`;
    return new ToolUnavailableError(sentence, { cause: error });
  }
}
