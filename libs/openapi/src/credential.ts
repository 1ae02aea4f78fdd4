import { ToolUnavailableError } from '@sluice/core';
import type { McpServer } from '@sluice/core';
import { isRead } from './guarded-requests.js';
import type { SentRequest } from './guarded-requests.js';

/** Headers of a trace that are sent on. */
const ofTraces = ['traceparent', 'tracestate'];

/** The request with what the call’s connection opens, where the server wants it. */
export function withCredential(request: SentRequest, { id, openapi }: McpServer, token: string): SentRequest {
  const place = openapi?.credential ?? { in: 'bearer' };
  const header = (name: string, value: string): SentRequest => {
    if (!/^[\x20-\x7e]*$/.test(value))
      throw new ToolUnavailableError(`The credential for the server ${id} has characters that no header has.`);
    const others = request.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase());
    return { ...request, headers: [...others, [name, value]] };
  };
  switch (place.in) {
    case 'bearer':
      return header('authorization', `Bearer ${token}`);
    case 'basic':
      // `user:password`, as the connection gives it.
      return header('authorization', `Basic ${Buffer.from(token, 'utf8').toString('base64')}`);
    case 'header':
      return header(place.name, token);
    case 'query': {
      const url = new URL(request.url);
      const name = encodeURIComponent(place.name);
      // The others stay as the document’s style wrote them.
      const others = url.search
        .slice(1)
        .split('&')
        .filter((pair) => pair !== '' && pair.split('=')[0] !== name);
      url.search = [...others, `${name}=${encodeURIComponent(token)}`].join('&');
      return { ...request, url };
    }
  }
}

/** The request with the headers of its trace and, where it may change something, the key that its call keeps. */
export function withKey(
  request: SentRequest,
  { openapi }: McpServer,
  given: { readonly idempotencyKey: string; readonly trace?: Readonly<Record<string, string>> },
): SentRequest {
  const name = openapi?.idempotencyHeader;
  const key = name === undefined || isRead(request.method) ? [] : [[name, given.idempotencyKey] as const];
  const trace = Object.entries(given.trace ?? {}).filter(([one]) => ofTraces.includes(one));
  return { ...request, headers: [...request.headers, ...trace, ...key] };
}
