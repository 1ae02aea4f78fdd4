import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An operator's broker on the loopback: it keeps what it was asked, and answers as the test says. */
export interface BrokerEndpoint {
  readonly url: string;
  readonly asked: Asked[];
  answer: (asked: Asked, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startBrokerEndpoint(): Promise<BrokerEndpoint> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
    request.on('end', () => {
      const asked = { headers: request.headers, body: JSON.parse(text) as Asked['body'] };
      endpoint.asked.push(asked);
      endpoint.answer(asked, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint: BrokerEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/credentials`,
    asked: [],
    answer: (_asked, response) => response.writeHead(404).end(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

export function token(text: string, expiresIn?: number): BrokerEndpoint['answer'] {
  return (_asked, response) => response.end(JSON.stringify({ access_token: text, expires_in: expiresIn }));
}
