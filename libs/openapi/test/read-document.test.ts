import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { McpOffer } from '@sluice/core';
import { OpenApi } from '@sluice/openapi';

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
  const post = (reference: string): string =>
    `openapi: 3.1.0\npaths: { /a: { post: { operationId: a, requestBody: { content: { application/json: { schema: { $ref: '${reference}' } } } } } } }\n`;

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
    ['openapi: 3.0.0\npaths: {', /neither JSON nor YAML/],
    ['[1, 2]', /holds no object/],
    ['swagger: "2.0"', /Swagger 2\.0/],
    [post('gone.yaml'), /gone\.yaml cannot be read: there is no such file/],
  ])('that is %j is an offer with its reason', async (text, reason) => {
    expect(await offer(text)).toEqual({ server: 'x', error: expect.stringMatching(reason) });
  });
});
