import { fetch } from 'undici';
import type { Response } from 'undici';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { guardedConnect } from './guarded-connect.js';
import type { Resolve } from './guarded-connect.js';
import { bodyBytes } from '../messages.js';
import type { SentRequest, SentResponse } from '../messages.js';
import { isDeclared } from '@sluice/tools';

/** Makes the requests of tools to the hosts that their files name. */
export interface NetworkRequests {
  /** `mayGo` is asked about each address, with what goes there, and throws for what may not. */
  send(
    request: SentRequest,
    hosts: readonly string[],
    signal: AbortSignal,
    mayGo?: (request: SentRequest, url: URL) => void,
  ): Promise<SentResponse>;
  close(): Promise<void>;
}

const mostRedirects = 5;
const redirects = [301, 302, 303, 307, 308];
/** Headers that go to no other host than the one that the tool wrote them for. */
const ofOneHost = ['authorization', 'cookie', 'proxy-authorization', 'host'];

/**
 * A host that a file names is reached where it is public, or where `privateHosts` of the configuration permit it: a
 * file that names a host is not a person who opens the service’s own network. Each redirect is looked at as the first
 * address was.
 */
export function networkRequests(privateHosts: readonly string[], resolve?: Resolve): NetworkRequests {
  const guard = guardedConnect(privateHosts, resolve);
  const agent = guard.agent(8);
  const checked = (address: string, hosts: readonly string[]): URL => {
    const url = new URL(address);
    if (!['http:', 'https:'].includes(url.protocol))
      throw new ToolUserError('Only http and https addresses are fetched.');
    if (!isDeclared(url, hosts))
      throw new ToolUserError(`The tool’s file does not name ${url.host} in its network, so it is not asked.`);
    const why = guard.problemOf(url);
    if (why !== null) throw new ToolUserError(why);
    return url;
  };
  return {
    send: async (request, hosts, signal, mayGo) => {
      let url = checked(request.url, hosts);
      let { method, headers } = request;
      let body = request.body === null ? null : Buffer.from(request.body, 'base64');
      for (let count = 0; ; count++) {
        mayGo?.({ ...request, url: url.href, headers, body: body?.toString('base64') ?? null }, url);
        const sent = {
          dispatcher: agent,
          method,
          headers: headers.map(([name, value]) => [name, value] as [string, string]),
          body,
          signal,
        };
        const response = await fetch(url.href, { ...sent, redirect: 'manual' }).catch((error: unknown) => {
          throw failure(error, url, signal, guard.whyOf(error));
        });
        const location = response.headers.get('location');
        if (request.redirect === 'manual' || !redirects.includes(response.status) || location === null)
          return sentResponse(response, url, count > 0);
        await response.body?.cancel();
        if (request.redirect === 'error') throw new ToolUserError(`${url.host} redirects.`);
        if (count === mostRedirects)
          throw new ToolUserError(`${url.host} redirects more than ${String(mostRedirects)} times.`);
        const next = checked(new URL(location, url).href, hosts);
        if (url.protocol === 'https:' && next.protocol === 'http:')
          throw new ToolUserError(`${url.host} redirects from https to http, which is not followed.`);
        if (next.origin !== url.origin) headers = headers.filter(([name]) => !ofOneHost.includes(name.toLowerCase()));
        if ((response.status === 303 && method !== 'HEAD') || (response.status < 303 && method === 'POST')) {
          [method, body] = ['GET', null];
          headers = headers.filter(([name]) => !name.toLowerCase().startsWith('content-'));
        }
        url = next;
      }
    },
    close: () => agent.destroy(),
  };
}

async function sentResponse(response: Response, url: URL, redirected: boolean): Promise<SentResponse> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += (chunk as Uint8Array).byteLength;
    if (length > bodyBytes) throw new ToolUserError(`What ${url.host} sends has more than ${String(bodyBytes)} bytes.`);
    chunks.push(chunk as Uint8Array);
  }
  const { status, statusText, headers, body } = response;
  // It is unpacked.
  const kept = [...headers].filter(([name]) => !['content-encoding', 'content-length'].includes(name));
  const bytes = body === null ? null : Buffer.concat(chunks).toString('base64');
  return { url: url.href, status, statusText, redirected, headers: kept, body: bytes };
}

function failure(error: unknown, { host }: URL, signal: AbortSignal, why: string | null): Error {
  if (signal.aborted) return signal.reason as Error;
  if (why !== null) return new ToolUserError(why);
  return new ToolUnavailableError(`${host} does not answer.`, { cause: error });
}
