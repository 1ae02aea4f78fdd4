import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject, McpOffer } from '@sluice/core';
import { OpenApi } from '@sluice/openapi';

/** With one operation, whose body is what the reference leads to. */
const apiOf = (reference: string): JsonObject => ({
  openapi: '3.1.0',
  paths: {
    '/a': {
      post: { operationId: 'a', requestBody: { content: { 'application/json': { schema: { $ref: reference } } } } },
    },
  },
});

describe('a document at an address', () => {
  const files: Readonly<Record<string, string>> = {
    '/v1/api.json': JSON.stringify(apiOf('parts.json#/A')),
    '/v1/parts.json': '{ "A": { "type": "object", "properties": { "name": { "type": "string" } } } }',
    '/v1/outside.json': JSON.stringify(apiOf('../other/parts.json#/A')),
  };
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/moved') return void response.writeHead(302, { location: 'http://localhost:9/api.json' }).end();
    response.writeHead(files[url] === undefined ? 404 : 200).end(files[url]);
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  async function offer(path: string, isNamed = true): Promise<McpOffer> {
    const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const openapi = { document: `http://${host}${path}`, privateHosts: isNamed ? [host] : [] };
    const url = 'https://api.example.com';
    const api = new OpenApi({ ...{ id: 'x', command: null, args: [], env: [], url, startMs: 5_000, openapi } });
    try {
      return await api.offer();
    } finally {
      await api.close();
    }
  }

  it('may be of several files below it', async () => {
    const found = { inputSchema: { properties: { body: { properties: { name: { type: 'string' } } } } } };
    expect(await offer('/v1/api.json')).toMatchObject({ tools: [found] });
  });

  it.each([
    ['/v1/outside.json', true, /\/other\/parts\.json, which is not in its own folder/],
    ['/gone.json', true, /its server answers 404/],
    ['/moved', true, /redirects to another server/],
    ['/v1/api.json', false, /web\.private_hosts/],
  ])('%s (named: %s) is an offer with its reason', async (path, isNamed, reason) => {
    asked.length = 0;
    expect(await offer(path, isNamed)).toEqual({ server: 'x', error: expect.stringMatching(reason) });
    expect(asked).toEqual(isNamed ? [path] : []);
  });
});

describe('a document in a folder', () => {
  const outside = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-documents-'));
  const folder = join(outside, 'api');
  mkdirSync(join(folder, 'parts'), { recursive: true });
  afterAll(() => rmSync(outside, { recursive: true, force: true }));

  async function offer(text: string, files: Readonly<Record<string, string>> = {}): Promise<McpOffer> {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const document = join(folder, 'api.yaml');
    writeFileSync(document, text);
    const url = 'https://api.example.com';
    const api = new OpenApi({
      ...{ id: 'x', command: null, args: [], env: [], url, startMs: 5_000, openapi: { document } },
    });
    try {
      return await api.offer();
    } finally {
      await api.close();
    }
  }
  const post = (reference: string): string => JSON.stringify(apiOf(reference));

  it('may be of several files, which may refer to each other in a circle', async () => {
    const files = {
      'parts/one.yaml': `type: object\nproperties: { name: { type: string }, two: { $ref: 'two.json#/Two' } }\n`,
      'parts/two.json': `{ "Two": { "type": "object", "properties": { "one": { "$ref": "./one.yaml" } } } }`,
    };
    expect(await offer(post('parts/one.yaml'), files)).toMatchObject({
      tools: [
        {
          inputSchema: {
            properties: {
              body: { properties: { name: { type: 'string' }, two: { properties: { one: { type: 'object' } } } } },
            },
          },
        },
      ],
    });
  });

  it.each(['../secret.yaml', '/etc/hostname', 'https://example.com/a.yaml', 'link.yaml'])(
    'reads nothing at %s, and says so',
    async (reference) => {
      writeFileSync(join(outside, 'secret.yaml'), 'type: object\n');
      rmSync(join(folder, 'link.yaml'), { force: true });
      symlinkSync(join(outside, 'secret.yaml'), join(folder, 'link.yaml'));
      expect(await offer(post(reference))).toEqual({
        server: 'x',
        error: expect.stringMatching(/which is not in its own folder: nothing outside of that is read/),
      });
    },
  );

  it.each([
    ['no YAML', 'openapi: 3.0.0\npaths: {', /neither JSON nor YAML/],
    ['a list', '[1, 2]', /holds no object/],
    ['nested too deep', `{"openapi": "3.0.0", "x": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`, /cannot be used/],
    ['of Swagger', 'swagger: "2.0"', /Swagger 2\.0/],
    ['without a part', post('gone.yaml'), /gone\.yaml cannot be read: there is no such file/],
  ])('that is %s is an offer with its reason', async (_, text, reason) => {
    expect(await offer(text)).toEqual({ server: 'x', error: expect.stringMatching(reason) });
  });
});
