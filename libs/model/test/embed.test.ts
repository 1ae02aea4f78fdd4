import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { EmbeddingSettings } from '@sluice/core';
import { createEmbedder, Embedders } from '@sluice/model';
import { WordPieces } from '../src/embed/word-pieces.js';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

interface Asked {
  readonly url: string;
  readonly authorization: string;
  readonly body: Record<string, unknown>;
}

/** An endpoint that answers as it is given, and what it was asked. */
async function endpoint(answer: (body: Record<string, unknown>) => object, status = 200) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      const { authorization = '', 'x-goog-api-key': key } = request.headers;
      asked.push({ url: request.url ?? '', authorization: typeof key === 'string' ? key : authorization, body });
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer(body)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => server.close());
  return { asked, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

const settings = (of: Partial<EmbeddingSettings>): EmbeddingSettings => ({
  ...{ provider: 'local', name: 'e', baseUrl: null, apiKeyEnv: null, region: null, folder: null, timeoutMs: 500 },
  ...of,
});
const signal = new AbortController().signal;
const secret = (): string => 'the-key';

describe('embeddings', () => {
  it('come from an endpoint of OpenAI’s form, in batches, as vectors of length 1', async () => {
    const { asked, url } = await endpoint(({ input }) => ({
      data: (input as string[]).map(() => ({ embedding: [3, 4] })),
    }));
    const embedder = await createEmbedder(
      settings({ provider: 'openai-compatible', baseUrl: url, apiKeyEnv: 'KEY' }),
      secret,
    );
    const vectors = await embedder.embed(Array.from({ length: 70 }, String), { signal });
    expect(vectors).toHaveLength(70);
    expect([...(vectors[0] ?? [])]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
    expect(asked.map(({ url: path, body }) => [path, (body['input'] as string[]).length])).toEqual([
      ['/embeddings', 64],
      ['/embeddings', 6],
    ]);
    expect(asked[0]?.authorization).toBe('Bearer the-key');
  });

  it('come from Gemini and from Bedrock in their own forms', async () => {
    const gemini = await endpoint(({ requests }) => ({
      embeddings: (requests as unknown[]).map(() => ({ values: [0, 2] })),
    }));
    const google = await createEmbedder(settings({ provider: 'google', baseUrl: gemini.url }), secret);
    expect(await google.embed(['a', 'b'], { signal })).toEqual([Float32Array.of(0, 1), Float32Array.of(0, 1)]);
    expect(gemini.asked[0]).toMatchObject({ url: '/models/e:batchEmbedContents', authorization: 'the-key' });

    const titan = await endpoint(() => ({ embedding: [5, 0] }));
    const given = { provider: 'bedrock', name: 'amazon.titan-embed-text-v2:0', region: 'eu-central-1' } as const;
    const bedrock = await createEmbedder(settings({ ...given, baseUrl: titan.url }), secret);
    expect(await bedrock.embed(['a', 'b'], { signal })).toEqual([Float32Array.of(1, 0), Float32Array.of(1, 0)]);
    expect(titan.asked.map(({ body }) => body['inputText'])).toEqual(['a', 'b']);
    expect(titan.asked[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 .*\/bedrock\//);
  });

  it('say what is wrong, without the key', async () => {
    const { url } = await endpoint(() => ({ error: 'the-key is wrong' }), 401);
    const embedder = await createEmbedder(
      settings({ provider: 'openai-compatible', baseUrl: url, apiKeyEnv: 'KEY' }),
      secret,
    );
    await expect(embedder.embed(['a'], { signal })).rejects.toThrow(
      'The embedding model openai-compatible/e answered 401: check the settings under embeddings.',
    );
    const short = await endpoint(() => ({ data: [] }));
    const without = await createEmbedder(settings({ provider: 'openai-compatible', baseUrl: short.url }), secret);
    await expect(without.embed(['a'], { signal })).rejects.toThrow('without a vector a text');
  });

  it('of this machine need a model and a runtime, which no installation brings along', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-embed-'));
    open.push(() => rmSync(folder, { recursive: true }));
    const embedders = new Embedders(secret);
    await expect(embedders.get(settings({ folder }))).rejects.toThrow('npm install --prefix');
  });
});

describe('word pieces', () => {
  const vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'read', '##ing', 'file', '##s', ',', 'cafe'];
  const pieces = WordPieces.read(vocabulary.join('\n'));

  it('are the longest that the vocabulary has, without case and accents', () => {
    expect(pieces.encode('Reading files, Café xyz', 128)).toEqual([2, 4, 5, 6, 7, 8, 9, 1, 3]);
    expect(pieces.encode('', 128)).toEqual([2, 3]);
  });

  it('stop at the limit', () => {
    expect(pieces.encode('file '.repeat(500), 16)).toHaveLength(16);
  });

  it('are read from a tokenizer of Hugging Face as well', () => {
    const vocab = Object.fromEntries(vocabulary.map((piece, id) => [piece, id]));
    expect(WordPieces.read(JSON.stringify({ model: { vocab } })).encode('files', 9)).toEqual([2, 6, 7, 3]);
    expect(() => WordPieces.read('a\nb')).toThrow('[CLS]');
  });
});
