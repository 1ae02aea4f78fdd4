import { once } from 'node:events';
import { createServer } from 'node:http';

/** Somebody's service: it lets in who shows an accepted token, and tells everybody what they showed. */
export async function startService(...accepted: string[]) {
  const seen: { readonly token: string; readonly body: string }[] = [];
  const tokens = new Set(accepted);
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => void (body += chunk));
    request.on('end', () => {
      const shown = request.headers.authorization ?? '';
      const token = shown.replace(/^Bearer /, '');
      seen.push({ token, body });
      response.writeHead(tokens.has(token) ? 200 : 401).end(`shown: ${shown}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
  return {
    url,
    seen,
    tokens,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
