import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { openS3Content } from '@sluice/content';
import type { OpenContent } from '@sluice/core';
import { read } from './contract.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<void> | void;

const silentMs = 1_000;
const owner = { tenantId: 't', runId: 'r' };
const content = Buffer.alloc(1_500_000, 'content');

/** A service that keeps objects, but for requests that `on` answers in another way. */
async function withService(
  work: (parts: {
    on: Map<string, Handler>;
    open: (limitMs?: number) => ReturnType<typeof openS3Content>;
  }) => Promise<void>,
): Promise<void> {
  const objects = new Map<string, { readonly body: Buffer; readonly head: string }>();
  const on = new Map<string, Handler>();
  const keep: Handler = ({ method, url = '', headers }, response, body) => {
    const there = objects.get(url);
    if (method === 'PUT') objects.set(url, { body, head: String(headers['x-amz-meta-sluice'] ?? '') });
    else if (there === undefined) response.statusCode = 404;
    else response.setHeader('x-amz-meta-sluice', there.head);
    response.end(method === 'GET' ? there?.body : undefined);
  };
  const server = createServer((request, response) => {
    const handler = on.get(`${request.method ?? ''} ${request.url?.split('/')[2] ?? ''}`) ?? keep;
    void buffer(request).then(
      (body) => handler(request, response, body),
      () => undefined,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const credentials = () => ({ accessKeyId: 'a', secretAccessKey: 's' });
  const place = { endpoint: `http://127.0.0.1:${port}`, bucket: 'b', region: 'r', credentials };
  const options = { clock: { now: () => 0 }, keys: [], maxBytes: 2_000_000 };
  try {
    await work({ on, open: (limitMs = 60_000) => openS3Content({ ...place, ...options, silentMs: limitMs }) });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('a bucket that is slow', () => {
  it('is waited for as long as bytes come, and waits for its reader', () =>
    withService(async ({ on, open }) => {
      const store = await open(silentMs);
      const { hash } = await store.put(owner, 'text/plain', content, null);
      on.set('GET runs', async (_, response) => {
        for (let at = 0; at < content.length; at += 300_000) {
          response.write(content.subarray(at, at + 300_000));
          await delay(silentMs / 2);
        }
        response.end();
      });
      const found = await store.open(owner, hash);
      const pieces: Uint8Array[] = [];
      for await (const piece of found?.bytes() ?? []) {
        if (pieces.length === 0) await delay(2 * silentMs);
        pieces.push(piece);
      }
      expect(Buffer.concat(pieces).equals(content)).toBe(true);
    }));

  it('is left when nothing comes any more, before its answer and within it', () =>
    withService(async ({ on, open }) => {
      const store = await open(silentMs);
      const { hash } = await store.put(owner, 'text/plain', content, null);
      const found = await store.open(owner, hash);
      on.set('GET runs', (_, response) => void response.write(content.subarray(0, 1_000)));
      const unreachable = { code: 'content_unreachable', retryable: true };
      await expect(read(found as OpenContent)).rejects.toMatchObject({
        ...unreachable,
        message: expect.stringContaining('broke off: nothing came for 1 s. Try again.'),
      });
      on.set('GET runs', () => undefined);
      await expect(read(found as OpenContent)).rejects.toMatchObject({
        ...unreachable,
        message: expect.stringContaining('cannot be reached: nothing came for 1 s.'),
      });
    }));
});

describe('a bucket that refuses', () => {
  it('a look at an object is said to refuse the credentials', () =>
    withService(async ({ on, open }) => {
      const store = await open();
      on.set('HEAD runs', (_, response) => void response.writeHead(403).end());
      await expect(store.open(owner, 'a'.repeat(64))).rejects.toThrow(/refuses these credentials \(AccessDenied\)/);
    }));

  it('a long content leaves no temporary file', () =>
    withService(async ({ on, open }) => {
      const store = await open();
      on.set('PUT runs', (_, response) => void response.writeHead(500).end('<Code>InternalError</Code>'));
      await expect(store.put(owner, 'text/plain', content, null)).rejects.toThrow(
        /answered with 500 \(InternalError\)/,
      );
      const own = `sluice-content-${process.pid}-`;
      expect((await readdir(tmpdir())).filter((name) => name.startsWith(own))).toEqual([]);
    }));
});
