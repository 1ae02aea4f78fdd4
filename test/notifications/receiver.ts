import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HTTP } from 'cloudevents';
import type { CloudEvent } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../harness/eventually.js';

/** A secret as Standard Webhooks has them. */
export const secretOf = (letter: string): string => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

/** What a receiver does with a webhook: the status that it answers, at once or later. */
export type Answers = (received: Received) => number | Promise<number>;

/** A receiver of webhooks as others write them: node’s http, and the libraries of both standards. */
export async function startReceiver(answers: Answers = () => 204) {
  const all: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const received = { path, headers, body: Buffer.concat(parts).toString(), at: Date.now() };
      all.push(received);
      void Promise.resolve(answers(received)).then((status) => {
        response.statusCode = status;
        response.setHeader('location', 'https://elsewhere.example/');
        response.end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = (path: string): readonly Received[] => all.filter((one) => one.path === path);
  return {
    host: `127.0.0.1:${String(port)}`,
    url: (path: string) => `http://127.0.0.1:${String(port)}${path}`,
    all,
    at,
    /** Waits until so many came to the path; returns these. */
    until: (path: string, count: number): Promise<readonly Received[]> =>
      eventually(
        () => at(path),
        ({ length }) => length >= count,
      ),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** As receivers do it: verified by the signature’s library, read by the event’s. Throws for what is not signed so. */
export function eventOf({ headers, body }: Received, secret: string): CloudEvent<Record<string, unknown>> {
  new Webhook(secret).verify(body, headers as Record<string, string>);
  return HTTP.toEvent({ headers, body }) as CloudEvent<Record<string, unknown>>;
}
