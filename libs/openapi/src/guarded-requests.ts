import { fetch } from 'undici';
import type { Agent, Response } from 'undici';
import { JsonTooLargeError, neverSent, ToolOutcomeLostError, ToolUnavailableError } from '@sluice/core';
import { guardedConnect } from '@sluice/isolation';
import type { GuardedConnect } from '@sluice/isolation';

const mostRedirects = 5;
const redirects = [301, 302, 303, 307, 308];
const connections = 64;

export interface SentRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | null;
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  readonly bytes: Uint8Array;
}

interface RequestLimits {
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/** Why a redirect was not followed, a sentence; nothing was done. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError';
}

/**
 * Requests to public hosts, and to those that the configuration permits. The guard looks at the address to which a
 * connection is opened. What reads follows redirects to the same scheme, host and port; nothing else follows any.
 */
export class GuardedRequests {
  private readonly guard: GuardedConnect;
  private readonly agent: Agent;

  constructor(privateHosts: readonly string[]) {
    this.guard = guardedConnect(privateHosts);
    this.agent = this.guard.agent(connections);
  }

  get(address: string, limits: RequestLimits): Promise<ReceivedAnswer> {
    return this.send({ method: 'GET', url: new URL(address), headers: [], body: null }, limits);
  }

  async send(request: SentRequest, { mostBytes, signal }: RequestLimits): Promise<ReceivedAnswer> {
    let { url } = request;
    for (let count = 0; ; count++) {
      const why = this.guard.problemOf(url);
      if (why !== null) throw new ToolUnavailableError(why);
      const response = await this.sent({ ...request, url }, signal);
      const location = response.headers.get('location');
      if (!redirects.includes(response.status) || location === null) return this.received(response, mostBytes, signal);
      await response.body?.cancel();
      url = next(request.method, response.status, url, location, count);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async sent({ method, url, headers, body }: SentRequest, signal: AbortSignal): Promise<Response> {
    const all: [string, string][] = [
      ['user-agent', 'Sluice'],
      ...headers.map(([name, value]): [string, string] => [name, value]),
    ];
    const parts = { dispatcher: this.agent, method, headers: all, body, redirect: 'manual' } as const;
    try {
      return await fetch(url.href, { ...parts, signal });
    } catch (error) {
      throw this.failure(error, url, signal);
    }
  }

  private async received(response: Response, mostBytes: number, signal: AbortSignal): Promise<ReceivedAnswer> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    try {
      // Counted as they are unpacked, so that a small body that becomes a huge one is found as well.
      for await (const chunk of response.body ?? []) {
        length += (chunk as Uint8Array).byteLength;
        if (length > mostBytes) throw new JsonTooLargeError(`The answer has more than ${String(mostBytes)} bytes.`);
        chunks.push(chunk as Uint8Array);
      }
    } catch (error) {
      if (error instanceof JsonTooLargeError) throw error;
      signal.throwIfAborted();
      throw new ToolOutcomeLostError('The answer was cut off.', { cause: error });
    }
    const { status, statusText, headers } = response;
    return { status, statusText, headers, bytes: Buffer.concat(chunks) };
  }

  private failure(error: unknown, { host }: URL, signal: AbortSignal): Error {
    if (signal.aborted) return signal.reason as Error;
    const why = this.guard.whyOf(error);
    if (why !== null) return new ToolUnavailableError(why);
    return neverSent(error)
      ? new ToolUnavailableError(`${host} cannot be reached.`, { cause: error })
      : new ToolOutcomeLostError(`No answer came from ${host}.`, { cause: error });
  }
}

/** Whether a request of this method asks for nothing to be changed. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function next(method: string, status: number, url: URL, location: string, count: number): URL {
  const changes = !isRead(method);
  // Servers answer a form so once they have acted on it.
  if (changes && (status === 302 || status === 303))
    throw new ToolOutcomeLostError(
      `${url.host} answered ${String(status)}, which sends to another address for what came.`,
    );
  if (changes)
    throw new RedirectError(`${url.host} redirects a request that may change something, which is not followed.`);
  if (count === mostRedirects)
    throw new RedirectError(`${url.host} redirects more than ${String(mostRedirects)} times.`);
  if (!URL.canParse(location, url.href)) throw new RedirectError(`${url.host} redirects to what is no address.`);
  const target = new URL(location, url.href);
  if (target.origin !== url.origin)
    throw new RedirectError(`${url.host} redirects to another server, which is not followed.`);
  return target;
}
