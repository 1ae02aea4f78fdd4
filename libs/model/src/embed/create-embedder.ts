import { Fault, isJsonObject, type EmbeddingSettings, type Embedder } from '@sluice/core';
import { beginningOf, send, type ProviderResponse } from '../provider/http.js';
import { addressOf } from '../provider/required-settings.js';
import { createLocalEmbedder, unit } from './local.js';

/** Bytes of an answer: 64 vectors of 4,096 numbers are about 5 MB as text. */
const largestAnswer = 32 << 20;

type Secret = (variable: string) => string | undefined;

/** The embedding model that the settings name. Rejects with a plain Error that says what to set or to install. */
export async function createEmbedder(settings: EmbeddingSettings, secret: Secret): Promise<Embedder> {
  switch (settings.provider) {
    case 'local':
      return createLocalEmbedder(settings.folder ?? '.');
    case 'openai-compatible':
      return overHttp(settings, openAi(settings, secret));
    case 'google':
      return overHttp(settings, google(settings, secret));
    case 'bedrock':
      return overHttp(settings, bedrock(settings, secret));
  }
}

/** What a provider’s API wants, and what it answers. */
interface EmbeddingApi {
  readonly url: string;
  /** Texts that one request may hold. */
  readonly most: number;
  body(texts: readonly string[]): object;
  headers(body: string): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** The vectors of an answer, in order. */
  vectors(answer: unknown): readonly unknown[];
}

function overHttp({ provider, name }: EmbeddingSettings, api: EmbeddingApi): Embedder {
  const called = `${provider}/${name ?? ''}`;
  return {
    name: called,
    embed: async (texts, { signal }) => {
      const found: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += api.most) {
        const some = texts.slice(at, at + api.most);
        const body = JSON.stringify(api.body(some));
        const answer = await ask(called, { url: api.url, body, headers: await api.headers(body) }, signal);
        const vectors = api.vectors(answer).map(vectorOf);
        if (vectors.length !== some.length || vectors.includes(null))
          throw new Fault('model_refused', `The embedding model ${called} answered without a vector a text.`, false);
        found.push(...(vectors as Float32Array[]));
      }
      return found;
    },
  };
}

async function ask(called: string, request: Parameters<typeof send>[0], signal: AbortSignal): Promise<unknown> {
  let response: ProviderResponse;
  try {
    response = await send(request, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new Fault('model_unreachable', `The embedding model ${called} could not be reached.`, true, { cause: error });
  }
  if (response.status >= 300) {
    await beginningOf(response);
    const passes = response.status === 429 || response.status >= 500;
    throw new Fault(
      passes ? 'model_unreachable' : 'model_refused',
      `The embedding model ${called} answered ${String(response.status)}: check the settings under embeddings.`,
      passes,
    );
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > largestAnswer) throw new Fault('model_refused', `The answer of ${called} is too long.`, false);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch (error) {
    throw new Fault('model_refused', `The embedding model ${called} answered without JSON.`, false, { cause: error });
  }
}

function openAi({ name, baseUrl, apiKeyEnv }: EmbeddingSettings, secret: Secret): EmbeddingApi {
  const key = apiKeyEnv === null ? null : required(secret, apiKeyEnv);
  return {
    url: `${addressOf(baseUrl ?? 'https://api.openai.com/v1')}/embeddings`,
    most: 64,
    body: (input) => ({ model: name, input, encoding_format: 'float' }),
    headers: () => (key === null ? {} : { authorization: `Bearer ${key}` }),
    vectors: (answer) => items(answer, 'data').map((item) => (isJsonObject(item) ? item['embedding'] : null)),
  };
}

function google({ name, baseUrl, apiKeyEnv }: EmbeddingSettings, secret: Secret): EmbeddingApi {
  const key = required(secret, apiKeyEnv ?? 'GOOGLE_GENERATIVE_AI_API_KEY');
  const model = `models/${name ?? ''}`;
  const address = addressOf(baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta');
  return {
    url: `${address}/${model}:batchEmbedContents`,
    most: 64,
    body: (texts) => ({
      requests: texts.map((text) => ({ model, content: { parts: [{ text }] }, taskType: 'SEMANTIC_SIMILARITY' })),
    }),
    headers: () => ({ 'x-goog-api-key': key }),
    vectors: (answer) => items(answer, 'embeddings').map((item) => (isJsonObject(item) ? item['values'] : null)),
  };
}

/** Titan embeds one text a request, Cohere’s models many. */
function bedrock({ name, baseUrl, apiKeyEnv, region: given }: EmbeddingSettings, secret: Secret): EmbeddingApi {
  const region = given ?? secret('AWS_REGION');
  if (region === undefined) throw new Error('Embeddings of Bedrock need a region: set embeddings.region.');
  const address = addressOf(baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`);
  const url = `${address}/model/${encodeURIComponent(name ?? '')}/invoke`;
  const isCohere = (name ?? '').includes('cohere.');
  const key = apiKeyEnv === null ? null : required(secret, apiKeyEnv);
  return {
    url,
    most: isCohere ? 64 : 1,
    body: (texts) =>
      isCohere ? { texts, input_type: 'clustering', truncate: 'END' } : { inputText: texts[0], normalize: true },
    headers: async (body) => {
      if (key !== null) return { authorization: `Bearer ${key}` };
      const { AwsV4Signer } = await import('aws4fetch');
      const sessionToken = secret('AWS_SESSION_TOKEN');
      const signer = new AwsV4Signer({
        ...{ url, method: 'POST', headers: { 'content-type': 'application/json' }, body, service: 'bedrock', region },
        accessKeyId: required(secret, 'AWS_ACCESS_KEY_ID'),
        secretAccessKey: required(secret, 'AWS_SECRET_ACCESS_KEY'),
        ...(sessionToken === undefined ? {} : { sessionToken }),
      });
      return Object.fromEntries((await signer.sign()).headers);
    },
    vectors: (answer) => {
      if (!isCohere) return [isJsonObject(answer) ? answer['embedding'] : null];
      const found = isJsonObject(answer) ? answer['embeddings'] : null;
      return items(isJsonObject(found) ? found : answer, isJsonObject(found) ? 'float' : 'embeddings');
    },
  };
}

function required(secret: Secret, variable: string): string {
  const value = secret(variable)?.trim();
  if (value) return value;
  throw new Error(`Embeddings need a key: set the environment variable ${variable}.`);
}

function items(answer: unknown, key: string): readonly unknown[] {
  const list = isJsonObject(answer) ? answer[key] : null;
  return Array.isArray(list) ? (list as unknown[]) : [];
}

function vectorOf(value: unknown): Float32Array | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const vector = Float32Array.from(value as number[]);
  return vector.every(Number.isFinite) ? unit(vector) : null;
}
