import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import { guardHost } from '@sluice/host';
import type { Environment, HttpSettings } from '@sluice/host';
import type { NextFunction, Request, Response } from 'express';
import { refusalBody } from './doors/wire-error.js';
import { problemOf, problemType } from './problem.js';

/** How often connections are looked at that are slow to send, milliseconds. */
const lookEveryMs = 1_000;

/** Express on a server that refuses early what is too large or too slow, before a route is asked. */
export class LimitedServer extends ExpressAdapter {
  constructor(private readonly settings: HttpSettings) {
    super();
  }

  override initHttpServer(): void {
    const { headerBytes, requestMs } = this.settings;
    this.httpServer = createServer(
      {
        maxHeaderSize: headerBytes,
        requestTimeout: requestMs,
        headersTimeout: requestMs,
        connectionsCheckingInterval: lookEveryMs,
      },
      this.getInstance(),
    );
    this.httpServer.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
      refuse(error, socket, this.settings),
    );
  }
}

/** What cannot be read as HTTP has no response to write to. */
function refuse({ code }: NodeJS.ErrnoException, socket: Duplex, { headerBytes, requestMs }: HttpSettings): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal = { ...reasonOf(code, headerBytes, requestMs) };
  const body = JSON.stringify(problemOf(refusal));
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function reasonOf(code: string | undefined, headerBytes: number, requestMs: number) {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        code: 'too_large',
        message: `The headers are larger than ${headerBytes} bytes. Send fewer.`,
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        status: 408,
        code: 'invalid_request',
        message: `The request did not arrive within ${requestMs / 1_000} seconds. Send it faster.`,
      };
    default:
      return {
        status: 400,
        code: 'invalid_request',
        message: 'This is no HTTP. Correct the request line and the headers.',
      };
  }
}

/** A page that a browser shows under a name of its own gets nothing from a gateway on loopback. */
export function refuseForeignHosts(server: Server, environment: Environment) {
  const foreign = guardHost(server, environment);
  return (request: Request, response: Response, next: NextFunction): void => {
    const message = foreign(request);
    if (message === null) return next();
    response
      .status(403)
      .type(problemType)
      .json(problemOf({ status: 403, code: 'authz_denied', message }));
  };
}

/**
 * The parser of bodies reads a body that is too large to its end before it says so; what says it itself is refused at
 * once.
 */
export function refuseLargeBodies({ bodyBytes }: HttpSettings, contentBytes: number) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const isFile = isUpload(request);
    if (Number(request.get('content-length') ?? 0) <= (isFile ? contentBytes : bodyBytes)) return next();
    const refusal = { status: 413, code: 'too_large', message: isFile ? tooLargeFile : tooLarge };
    const { type, body } = refusalBody(request.path, refusal);
    response.status(refusal.status).type(type).json(body);
    // The rest is read and dropped, so that a sender gets the answer before its connection is closed.
    request.resume();
  };
}

/** Whether the body is a file, which no parser of bodies reads. */
export function isUpload({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  return method === 'POST' && /^\/v1\/uploads\/?(?:\?|$)/i.test(url);
}

const tooLargeFile = 'The file is too large: content has no more than SLUICE_CONTENT_BYTES.';
export const tooLarge = 'The body is too large: this gateway takes no more than SLUICE_HTTP_BODY_BYTES.';
