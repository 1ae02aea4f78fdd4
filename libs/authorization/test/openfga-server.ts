import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Tuple {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
  /** A condition of the model on the request's context; absent for a tuple that always holds. */
  readonly when?: (context: Readonly<Record<string, unknown>>) => boolean;
}

/** The forms that OpenFGA demands of a check's tuple key. */
const userForm = /^[^\s:#]+:[^\s:#@]+$/;
const objectForm = /^[^\s:#]+:[^\s:#]+$/;

/** OpenFGA's `POST /stores/{id}/check` over these tuples, with its rules for names and its errors. */
export async function serveOpenFga(store: string, tuples: readonly Tuple[], key: string | null = null) {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const send = (status: number, answer: object): void =>
        void response.writeHead(status).end(JSON.stringify(answer));
      if (key !== null && request.headers.authorization !== `Bearer ${key}`)
        return send(401, { code: 'unauthenticated' });
      if (request.url !== `/stores/${store}/check`) return send(404, { code: 'store_id_not_found' });
      const { tuple_key: tuple, context = {} } = JSON.parse(body) as {
        tuple_key: Tuple;
        context?: Record<string, unknown>;
      };
      asked.push(JSON.parse(body));
      if (!userForm.test(tuple.user) || !objectForm.test(tuple.object)) return send(400, { code: 'validation_error' });
      const allowed = tuples.some(
        ({ user, relation, object, when = () => true }) =>
          user === tuple.user && relation === tuple.relation && object === tuple.object && when(context),
      );
      send(200, { allowed, resolution: '' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
