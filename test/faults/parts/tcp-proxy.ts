import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Looks at what goes over one connection. A piece for which it says false goes no further. */
export interface Watcher {
  toServer(piece: Buffer): boolean;
  toClient(piece: Buffer): boolean;
}

/** Makes the watcher of a connection; the port is the client's. */
export type Watch = (clientPort: number) => Watcher;

/** A line between clients and a server that can be cut, held up and slowed, and that sees what goes over it. */
export class TcpProxy {
  readonly port: number;
  private readonly target: number;
  private readonly watch: Watch;
  private readonly server: Server;
  private readonly lines = new Set<Socket>();
  private readonly clients = new Map<number, number>();
  private slowMs = 0;
  private refusing = false;
  private held: { readonly over: Promise<void>; readonly end: () => void } | null = null;

  private constructor(port: number, target: number, watch: Watch) {
    this.port = port;
    this.target = target;
    this.watch = watch;
    this.server = createServer({ noDelay: true }, (client) => this.connect(client));
  }

  /** Listens on a port of 127.0.0.1 and leads to another one there. */
  static async open(port: number, target: number, watch: Watch): Promise<TcpProxy> {
    const proxy = new TcpProxy(port, target, watch);
    proxy.server.listen(port, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** Every connection breaks; new ones are taken. */
  cut(): void {
    for (const line of this.lines) line.destroy();
  }

  /** Every connection breaks, and none is taken until `resume`. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  /** Connections stay and are taken, and nothing goes over them until `resume`. */
  hold(): void {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    this.held ??= { over, end };
  }

  /** Each piece takes so many milliseconds more, until `resume`. */
  slow(milliseconds: number): void {
    this.slowMs = milliseconds;
  }

  resume(): void {
    this.refusing = false;
    this.slowMs = 0;
    this.held?.end();
    this.held = null;
  }

  /** The port of the client whose connection comes to the server from this port; 0 if there is none. */
  clientOf(port: number): number {
    return this.clients.get(port) ?? 0;
  }

  async close(): Promise<void> {
    this.resume();
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private connect(client: Socket): void {
    client.on('error', () => undefined);
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    server.on('error', () => undefined);
    for (const line of [client, server]) {
      this.lines.add(line);
      line.once('close', () => this.lines.delete(line));
    }
    const clientPort = client.remotePort ?? 0;
    server.once('connect', () => {
      const port = server.localPort ?? 0;
      this.clients.set(port, clientPort);
      server.once('close', () => this.clients.delete(port));
    });
    const watcher = this.watch(clientPort);
    void this.lead(client, server, (piece) => watcher.toServer(piece));
    void this.lead(server, client, (piece) => watcher.toClient(piece));
  }

  private async lead(from: Socket, to: Socket, passes: (piece: Buffer) => boolean): Promise<void> {
    try {
      for await (const piece of from as AsyncIterable<Buffer>) {
        if (this.slowMs > 0) await sleep(this.slowMs);
        await this.held?.over;
        if (to.destroyed) break;
        if (passes(piece) && !to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
    } catch {
      // It was cut, by us or by one of the ends: the other one sees it too.
    }
    to.destroy();
    from.destroy();
  }
}
