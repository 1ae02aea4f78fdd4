import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the endpoint does with a request. */
export type Respond = (response: ServerResponse, received: Received) => Promise<void> | void;

export interface Endpoint {
  readonly url: string;
  readonly received: Received[];
  respond: Respond;
  close(): Promise<void>;
}

/** A provider's endpoint on this machine. */
export async function startEndpoint(): Promise<Endpoint> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
      const received = { path: request.url ?? '', headers: request.headers, body };
      endpoint.received.push(received);
      void endpoint.respond(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    respond: (response) => void response.writeHead(500).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return endpoint;
}

/** Sends events in pieces that end anywhere, so that nothing relies on a piece being an event. */
export async function send(response: ServerResponse, events: readonly Buffer[]): Promise<void> {
  const bytes = Buffer.concat(events);
  for (let at = 0; at < bytes.length; at += 61) {
    response.write(bytes.subarray(at, at + 61));
    await nextTurn();
  }
}
