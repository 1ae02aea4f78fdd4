import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ProxyApi } from '@sluice/core';
import { forwarded } from '@sluice/proxy';
import type { Answer } from './upstreams.js';

type AddedHeaders = Readonly<Record<string, string>>;

/**
 * Passes an answer on as it comes, no faster than the client reads it. Where the upstream breaks off, so does the
 * connection to the client; where the client goes, the one to the upstream is closed. `see` gets every byte and
 * changes none.
 */
export async function sendAnswer(
  outgoing: ServerResponse,
  answer: Answer,
  { see = null, added = {} }: { readonly see?: ((chunk: Buffer) => void) | null; readonly added?: AddedHeaders } = {},
): Promise<void> {
  writeHead(outgoing, answer, forwarded(answer.headers, { added }));
  await pass(answer.body, outgoing, see);
}

/**
 * Resolves once all has passed, or either side has gone. What comes within a turn of the event loop, the head
 * included, goes to the client at once.
 */
function pass(body: Readable, outgoing: ServerResponse, see: ((chunk: Buffer) => void) | null): Promise<void> {
  return new Promise((resolve) => {
    let held = false;
    const hold = (): void => {
      const { socket } = outgoing;
      if (held || socket === null || isHttp2(outgoing)) return;
      held = true;
      socket.cork();
      setImmediate(() => {
        held = false;
        // The end of an answer has sent all of it.
        if (!outgoing.writableEnded) socket.uncork();
      });
    };
    body.on('data', (chunk: Buffer) => {
      see?.(chunk);
      hold();
      if (!outgoing.write(chunk)) body.pause();
    });
    outgoing.on('drain', () => body.resume());
    body.on('end', () => outgoing.end());
    // The head is sent, so no other answer is left.
    body.on('error', () => outgoing.destroy());
    body.on('close', () => {
      if (!body.readableEnded) outgoing.destroy();
    });
    outgoing.on('error', () => outgoing.destroy());
    outgoing.on('finish', resolve);
    outgoing.on('close', () => {
      body.destroy();
      resolve();
    });
    // A stream may be silent at first, and its client wants to know that it is one.
    if (outgoing.getHeader('content-length') === undefined)
      setImmediate(() => {
        if (!outgoing.writableEnded && !outgoing.destroyed) outgoing.flushHeaders();
      });
    if (outgoing.destroyed) body.destroy();
  });
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
