import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { confluentRegistry } from '../../src/kafka/admin/registry.js';
import { Names } from '../../src/kafka/names.js';

/** Servers that are no schema registry: what each one is, and the status, the type and the body of its answer. */
const others: readonly (readonly [string, number, string, string])[] = [
  ['Apicurio without /apis/ccompat/v7', 404, 'application/json', '{"title":"Not found","status":404}'],
  ['a registry of another kind', 405, 'application/json', '{"error":"no"}'],
  ['a web server', 200, 'text/html', '<!doctype html><html><body>Welcome</body></html>'],
  ['a web server without that page', 404, 'text/html', '<html><body>404</body></html>'],
  ['an API that answers all', 200, 'application/json', '{}'],
];

let server: ReturnType<typeof createServer> | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function registryThat(status: number, type: string, body: string) {
  server = createServer((_, response) => response.writeHead(status, { 'content-type': type }).end(body));
  const listening = server;
  await new Promise<void>((ready) => listening.listen(0, '127.0.0.1', ready));
  const { port } = listening.address() as AddressInfo;
  const options = { url: `http://127.0.0.1:${String(port)}`, compatibility: 'FULL_TRANSITIVE' } as const;
  return confluentRegistry(options, new Names(''), 'test');
}

describe('a schema registry that is none', () => {
  it.each(others)('is called that, and is not asked for ever: %s', async (_what, status, type, body) => {
    const registry = await registryThat(status, type, body);
    const asked = registry.register('a-value', '{"type":"record","name":"A","namespace":"a","fields":[]}');
    await expect(asked).rejects.toMatchObject({
      code: 'storage',
      retryable: false,
      message: expect.stringMatching(/answers, but not as Confluent’s schema registry does\. .*\/apis\/ccompat\/v7\.$/),
    });
  });

  it('is asked again where it says that it has trouble', async () => {
    const registry = await registryThat(503, 'application/json', '{"error_code":50001,"message":"Away"}');
    const asked = registry.register('a-value', '{"type":"record","name":"A","namespace":"a","fields":[]}');
    await expect(asked).rejects.toMatchObject({ retryable: true, message: expect.stringContaining('Away') });
  });
});
