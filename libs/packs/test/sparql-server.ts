import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Store } from 'oxigraph';

export interface SparqlServer {
  readonly query: string;
  readonly update: string;
  readonly store: Store;
  /** Requests so far, `query` or `update`. */
  readonly seen: string[];
  /**
   * While set, every request is answered with this status and an empty body; 0 breaks the connection, -1 never
   * answers.
   */
  status: number | null;
  close(): Promise<void>;
}

/** A small SPARQL 1.1 protocol server over a real store: direct POST of queries and updates. */
export async function startSparqlServer(): Promise<SparqlServer> {
  const store = new Store();
  const seen: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: SparqlServer = {
    query: `${base}/query`,
    update: `${base}/update`,
    store,
    seen,
    status: null,
    close: () => stop(server),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const kind = request.url === '/update' ? 'update' : 'query';
    seen.push(kind);
    if (self.status === -1) return;
    if (self.status === 0) {
      response.destroy();
      return;
    }
    if (self.status !== null) {
      response.writeHead(self.status).end();
      return;
    }
    if (request.headers['content-type']?.startsWith(`application/sparql-${kind}`) !== true) {
      response.writeHead(415).end();
      return;
    }
    try {
      if (kind === 'update') {
        store.update(text);
        response.writeHead(204).end();
        return;
      }
      const format = request.headers.accept ?? '';
      const body = store.query(text, { results_format: format }) as string;
      response.writeHead(200, { 'content-type': format }).end(body);
    } catch (error) {
      response.writeHead(400).end(error instanceof Error ? error.message : '');
    }
  }
  return self;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
