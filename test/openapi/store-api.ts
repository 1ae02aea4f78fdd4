import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An API of the test’s own, with an answer of each kind. */
export async function startStoreApi(key: string) {
  const received: Received[] = [];
  const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'GET /v1/items': (response) => json(response, 200, [{ id: 1, name: 'Lamp', secret: 'hidden' }]),
    'POST /v1/items': (response) => json(response, 201, { id: 2 }),
    'DELETE /v1/items/2': (response) => void response.writeHead(204).end(),
    'GET /v1/items/9': (response) => json(response, 404, { message: 'There is no item 9.' }),
    'GET /v1/text': (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('Hello'),
    'GET /v1/away': (response) => void response.writeHead(302, { location: 'http://localhost:9/stolen' }).end(),
    'GET /v1/here': (response) => void response.writeHead(302, { location: '/v1/text' }).end(),
    'GET /v1/large': (response) => json(response, 200, 'x'.repeat(2_000_000)),
    'GET /v1/slow': () => undefined,
    'GET /v1/busy': (response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
    'GET /v1/forbidden': (response) => json(response, 403, { message: 'no' }),
    'GET /v1/broken': (response) => json(response, 500, { message: 'It broke.' }),
    'POST /v1/lost': (response) => void response.destroy(),
    'GET /v1/page': (response) =>
      void response.writeHead(400, { 'content-type': 'text/html' }).end(`<html>Wrong.${'<'.repeat(900_000)}`),
    'GET /v1/down': (response) => void response.writeHead(503).end(),
    'POST /v1/done': (response) => void response.writeHead(303, { location: '/v1/items' }).end(),
    'POST /v1/down': (response) => void response.writeHead(503).end(),
    'POST /v1/away': (response) => void response.writeHead(307, { location: '/v1/items' }).end(),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') });
      if (headers['x-api-key'] !== key) return json(response, 401, { message: 'Who is there?' });
      const [path = ''] = url.split('?');
      const answer = answers[`${method} ${path}`];
      if (answer === undefined) return json(response, 404, {});
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    received,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

const read = (...operations: readonly (readonly [id: string, path: string])[]): string =>
  operations.map(([id, path]) => `  ${path}: { get: { operationId: ${id} } }\n`).join('');

/** Its document; `items` stands in a file of its own. */
export const storeDocument = (summary: string): string => `openapi: 3.0.3
paths:
  /items:
    get:
      operationId: listItems
      summary: ${summary}
      parameters: [{ $ref: './parts.yaml#/parameters/Tags' }]
    post:
      operationId: addItem
      requestBody: { required: true, content: { application/json: { schema: { $ref: 'parts.yaml#/schemas/Item' } } } }
  /items/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: showItem }
    delete: { operationId: removeItem }
  /lost: { post: { operationId: lose } }
  /done: { post: { operationId: finish } }
  /down:
    get: { operationId: readDown }
    post: { operationId: changeDown }
  /away:
    get: { operationId: goAway }
    post: { operationId: sendAway }
${read(['readText', '/text'], ['stay', '/here'], ['readLarge', '/large'], ['wait', '/slow'], ['tryBusy', '/busy'])}${read(['tryForbidden', '/forbidden'], ['tryBroken', '/broken'], ['tryPage', '/page'])}`;

export const storeParts = `parameters:
  Tags: { name: tag, in: query, schema: { type: array, items: { type: string } } }
schemas:
  Item:
    type: object
    required: [name]
    properties: { id: { type: integer, readOnly: true }, name: { type: string }, within: { $ref: '#/schemas/Item' } }
`;
