import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ProxyApi } from '@sluice/core';
import { forwarded } from '@sluice/proxy';
import type { Answer } from './upstreams.js';

type AddedHeaders = Readonly<Record<string, string>>;

/**
 * Passes an answer on as it comes, no faster than the client reads it. Where the upstream breaks off, so does the
 * connection to the client; where the client goes, the one to the upstream is closed. A `watch` sees every byte and
 * changes none.
 */
export async function sendAnswer(
  outgoing: ServerResponse,
  answer: Answer,
  { watch = null, added = {} }: { readonly watch?: Transform | null; readonly added?: AddedHeaders } = {},
): Promise<void> {
  const { body } = answer;
  writeHead(outgoing, answer, forwarded(answer.headers, { added }));
  // A stream may be silent at first, and its client wants to know that it is one.
  if (outgoing.getHeader('content-length') === undefined) outgoing.flushHeaders();
  try {
    await (watch === null ? pipeline(body, outgoing) : pipeline(body, watch, outgoing));
  } catch {
    // pipeline has closed both ends: the head is sent, so no other answer is left.
    outgoing.destroy();
  }
}

/** The head of an answer with these headers, in their order and spelling. */
export function writeHead(
  outgoing: ServerResponse,
  { status, statusText }: Pick<Answer, 'status' | 'statusText'>,
  headers: readonly string[],
): void {
  outgoing.sendDate = false;
  if (!isHttp2(outgoing)) {
    outgoing.writeHead(status, statusText, headers as string[]);
    return;
  }
  // HTTP/2 has no text beside the status.
  for (let at = 0; at + 1 < headers.length; at += 2) outgoing.appendHeader(headers[at] ?? '', headers[at + 1] ?? '');
  outgoing.writeHead(status);
}

function isHttp2(outgoing: ServerResponse): boolean {
  return outgoing.req.httpVersionMajor >= 2;
}

/** The proxy’s own answer. */
export function sendRefusal(
  outgoing: ServerResponse,
  {
    status,
    body,
    api,
    added = {},
  }: { readonly status: number; readonly body: string; readonly api: ProxyApi; readonly added?: AddedHeaders },
): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const named = api === 'bedrock' ? { 'x-amzn-errortype': 'ServiceUnavailableException' } : {};
  // What the client still sends is not read.
  const close = outgoing.req.complete || isHttp2(outgoing) ? {} : { connection: 'close' };
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...named,
    ...added,
    ...close,
  });
  outgoing.end(body);
}
