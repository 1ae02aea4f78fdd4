import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** What every connection in HTTP/2 begins with. */
const preface = 'PRI * HTTP/2.0';
/** Bytes of it that no request in HTTP/1.1 begins with. */
const telling = 3;
/** How long a connection may say nothing. */
const silentMs = 60_000;

/**
 * Both versions of HTTP on one port, without TLS. AWS’s library for JavaScript speaks HTTP/2 to Bedrock from the
 * first byte on, all others HTTP/1.1.
 */
export class Listener {
  readonly server: Server;
  private readonly http2: Http2Server;
  private readonly sessions = new Set<ServerHttp2Session>();
  /** Connections that have said nothing yet. */
  private readonly silent = new Set<Socket>();

  constructor(handle: Handle) {
    this.server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, handle);
    // The classes that Node has for HTTP/2 have what the proxy uses of those for HTTP/1.1.
    this.http2 = createHttp2Server(handle as unknown as Parameters<typeof createHttp2Server>[0]);
    this.http2.on('session', (session) => {
      this.sessions.add(session);
      session.on('close', () => this.sessions.delete(session));
      // What goes wrong on a connection ends its streams, and those tell.
      session.on('error', () => undefined);
    });
    const [http1] = this.server.listeners('connection') as ((socket: Socket) => void)[];
    this.server.removeAllListeners('connection');
    this.server.on('connection', (socket: Socket) => {
      this.silent.add(socket);
      socket.once('close', () => this.silent.delete(socket));
      firstBytes(socket, (isHttp2) => {
        this.silent.delete(socket);
        if (isHttp2) this.http2.emit('connection', socket);
        else http1?.call(this.server, socket);
      });
    });
  }

  /** Answers under way are finished, for the drain time; then they are cut. */
  async close(drainMs: number): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    const closeIdle = (): void => {
      this.server.closeIdleConnections();
      for (const session of this.sessions) session.close();
      for (const socket of this.silent) socket.destroy();
    };
    const idle = setInterval(closeIdle, 50);
    const late = setTimeout(() => {
      this.server.closeAllConnections();
      for (const session of this.sessions) session.destroy();
    }, drainMs);
    try {
      closeIdle();
      await closed;
    } finally {
      clearInterval(idle);
      clearTimeout(late);
    }
  }
}

/** Looks at the first bytes of a connection, which stay to be read. */
function firstBytes(socket: Socket, tell: (isHttp2: boolean) => void): void {
  const end = (): void => {
    socket.destroy();
  };
  let held = Buffer.alloc(0);
  const look = (chunk: Buffer): void => {
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    const isHttp2 = preface.startsWith(held.toString('latin1', 0, telling));
    if (isHttp2 && held.length < telling) return;
    socket.off('data', look);
    socket.off('error', end);
    socket.off('timeout', end);
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(held);
    tell(isHttp2);
    if (!isHttp2) socket.resume();
  };
  socket.setTimeout(silentMs);
  socket.on('timeout', end);
  socket.on('error', end);
  socket.on('data', look);
}
