import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { UnreadReason } from '@sluice/discovery';
import { plainBody } from './compression.js';

/** Bytes of a body that are read before anything is sent on; a longer one passes unread. */
const longestReadBody = 64 << 20;

/** A client’s request. */
export interface ClientRequest {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly headers: readonly string[];
  header(name: string): string | undefined;
}

export function clientRequest(request: IncomingMessage): ClientRequest {
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: withoutPseudo(request.rawHeaders),
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
}

/** A request’s body as it came, and as it is read. */
export interface RequestBody {
  readonly raw: Buffer | Readable | null;
  /** Without its content coding; null where it is not read. */
  readonly plain: Buffer | null;
  /** Why it is not read; null where it is, or where it need not be. */
  readonly unread: UnreadReason | null;
}

/** The body of a request that no part of the proxy needs to read. */
export function passedBody(request: IncomingMessage): RequestBody {
  return { raw: hasBody(request) ? request : null, plain: null, unread: null };
}

export async function readableBody(
  request: IncomingMessage,
  { headers }: ClientRequest,
  limit = longestReadBody,
): Promise<RequestBody> {
  const raw = await readBody(request, limit);
  if (!Buffer.isBuffer(raw)) return { raw, plain: null, unread: 'too_large' };
  const plain = await plainBody(headers, raw, limit);
  return Buffer.isBuffer(plain) ? { raw, plain, unread: null } : { raw, plain: null, unread: plain };
}

/** The whole body, or a stream of it where it is too long to be read first. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | Readable> {
  const said = Number(request.headers['content-length'] ?? NaN);
  if (said >= smallestKnown && said <= Math.min(limit, largestKnown)) return readKnown(request, said);
  const chunks: Buffer[] = [];
  let length = 0;
  const iterator = request.iterator({ destroyOnReturn: false }) as NodeJS.AsyncIterator<Buffer>;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    chunks.push(next.value);
    length += next.value.length;
    if (length > limit) return Readable.from(rest(chunks, iterator), { objectMode: false });
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length);
}

/**
 * A body of which the head says that it has so many bytes is put together as it comes, so that its pieces are free at
 * once. One of more is given room as it comes.
 */
const smallestKnown = 128 << 10;
const largestKnown = 8 << 20;

/** The parser of HTTP gives no more and no fewer bytes than the head says, or an error. */
async function readKnown(request: IncomingMessage, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(length);
  let at = 0;
  request.on('data', (chunk: Buffer) => {
    at += chunk.copy(body, at);
  });
  await finished(request, { writable: false });
  return at === length ? body : body.subarray(0, at);
}

async function* rest(read: readonly Buffer[], iterator: NodeJS.AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* read;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
}

/** Whether a request has a body at all. */
function hasBody(request: IncomingMessage): boolean {
  if (request.httpVersionMajor >= 2) return !(request as unknown as Http2ServerRequest).stream.endAfterHeaders;
  return request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
}

/** Without `:path` and its like, which HTTP/2 has in place of the first line. */
function withoutPseudo(headers: readonly string[]): readonly string[] {
  return headers.some((name, at) => at % 2 === 0 && name.startsWith(':'))
    ? headers.filter((_, at) => headers[at - (at % 2)]?.startsWith(':') !== true)
    : headers;
}
