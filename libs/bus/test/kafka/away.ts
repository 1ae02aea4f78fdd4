import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A way to a registry that a test can close and open again; the registry itself is other tests’ too. */
export interface Gateway {
  readonly url: string;
  open(): Promise<void>;
  close(): Promise<void>;
}

export async function gatewayTo(registry: string): Promise<Gateway> {
  const target = new URL(registry);
  let server: Server | undefined;
  let port = 0;
  const gateway = {
    get url() {
      return `http://127.0.0.1:${port}${target.pathname}`;
    },
    open: async () => {
      const opened = createServer((incoming, outgoing) => {
        const { method, url: path, headers } = incoming;
        const passed = request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        passed.on('error', () => outgoing.destroy());
        incoming.pipe(passed);
      });
      server = opened;
      await new Promise<void>((resolve) => opened.listen(port, '127.0.0.1', resolve));
      port = (opened.address() as AddressInfo).port;
    },
    close: async () => {
      const closing = server;
      server = undefined;
      closing?.closeAllConnections();
      await new Promise((resolve) => (closing === undefined ? resolve(null) : closing.close(resolve)));
    },
  };
  await gateway.open();
  return gateway;
}

/** A port of this host on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Takes every connection to the port of this host and says nothing. */
export async function muteServer(port: number): Promise<{ close(): Promise<void> }> {
  const taken = new Set<Socket>();
  const server = createTcpServer((socket) => {
    taken.add(socket.on('error', () => undefined).resume());
    socket.once('close', () => taken.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    close: async () => {
      server.close();
      for (const socket of taken) socket.destroy();
      await once(server, 'close');
    },
  };
}
