import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebServer {
  readonly host: string;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  close(): Promise<void>;
}

/** A web server on this machine. What it has no answer for is a 404. */
export async function serve(answers: Readonly<Record<string, (response: ServerResponse) => void>>): Promise<WebServer> {
  const requests: WebServer['requests'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const url = request.url ?? '';
      requests.push({ method: request.method ?? '', url, headers: request.headers, body });
      const answer = answers[url] ?? answers[url.split('?')[0] ?? ''];
      if (answer === undefined) return response.writeHead(404).end();
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

export const html = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<h1>Rules</h1><p>${text}</p>`);
export const json = (value: unknown) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
export const to = (location: string) => (response: ServerResponse) => void response.writeHead(302, { location }).end();
