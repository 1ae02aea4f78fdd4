import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { modelProviderEntry, modelProviders, type ModelSettings } from '@sluice/core';
import { createModel, createProviderCount, Models } from '@sluice/model';
import { tokenCountOf } from '@sluice/wires';
import { limitName } from '../src/provider/openai-compatible.js';
import { requestOf } from './requests.js';
import { openai } from './wires/openai.js';
import { send, startEndpoint } from './wires/endpoint.js';

const settings: ModelSettings = {
  provider: 'rules',
  name: 'some-model',
  baseUrl: 'http://127.0.0.1:1',
  apiKeyEnv: null,
  region: 'eu-central-1',
  maxOutputTokens: 256,
};
const nothingSet = { secret: () => undefined };
const everythingSet = { secret: () => 'a-key' };

it.each(modelProviders)('says of provider %s that it counts tokens if its wire does', async (provider) => {
  const { wire, countsTokens } = modelProviderEntry(provider);
  expect(countsTokens).toBe(wire !== null && tokenCountOf(wire) !== null);
  const count = await createProviderCount({ ...settings, provider }, everythingSet.secret);
  expect(count !== null).toBe(countsTokens);
});

it('counts with a tuned model of Gemini, which is named with its collection', () => {
  const { path, body } = tokenCountOf('gemini') ?? {};
  expect([path?.('gemini-3'), path?.('tunedModels/mine')]).toEqual([
    '/models/gemini-3:countTokens',
    '/tunedModels/mine:countTokens',
  ]);
  expect(body?.('tunedModels/mine', [])).toContain('"model":"tunedModels/mine"');
});

describe('createModel', () => {
  it.each(modelProviders)('makes a model of provider %s, named after it', async (provider) => {
    const model = await createModel({ ...settings, provider }, everythingSet);
    expect(model.name).toBe(provider === 'rules' ? 'rules/built-in' : `${provider}/some-model`);
  });

  it.each([
    ['anthropic', null, 'ANTHROPIC_API_KEY'],
    ['anthropic', 'MY_KEY', 'MY_KEY'],
    ['google', null, 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['google', 'MY_KEY', 'MY_KEY'],
    ['openai-compatible', 'MY_KEY', 'MY_KEY'],
    ['openai-responses', null, 'OPENAI_API_KEY'],
    ['bedrock', null, 'AWS_ACCESS_KEY_ID'],
    ['bedrock', 'MY_KEY', 'MY_KEY'],
  ] as const)('says for %s with api_key_env %s to set %s', async (provider, apiKeyEnv, variable) => {
    await expect(createModel({ ...settings, provider, apiKeyEnv }, nothingSet)).rejects.toThrow(
      `set the environment variable ${variable}`,
    );
  });

  it('says what else is missing', async () => {
    await expect(createModel({ ...settings, provider: 'anthropic', name: null }, everythingSet)).rejects.toThrow(
      'set model.name',
    );
    await expect(
      createModel({ ...settings, provider: 'openai-compatible', baseUrl: null }, everythingSet),
    ).rejects.toThrow('set model.base_url');
    await expect(createModel({ ...settings, provider: 'bedrock', region: null }, nothingSet)).rejects.toThrow(
      'set model.region',
    );
  });

  it('sends no key to an OpenAI-compatible server that asks for none', async () => {
    const endpoint = await startEndpoint();
    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': openai.contentType });
      await send(response, openai.encode({ text: ['ok'] }));
      response.end();
    };
    const model = await createModel({ ...settings, provider: 'openai-compatible', baseUrl: endpoint.url }, nothingSet);
    await model.turn(requestOf({}), { signal: new AbortController().signal });
    await endpoint.close();
    expect(endpoint.received[0]?.headers.authorization).toBeUndefined();
  });

  it('names the token limit as OpenAI’s newer models want it, and leaves it alone for everybody else', () => {
    expect(limitName('https://api.openai.com/v1')).toBe('max_completion_tokens');
    expect(limitName('http://localhost:11434/v1')).toBe('max_tokens');
  });

  it('loads nothing of a provider for the built-in model', () => {
    expect(loadedBy(new URL('../src/index.ts', import.meta.url))).toContain('@sluice/core');
    const outside = (name: string) => name === '@sluice/wires' || name === 'undici' || name === 'aws4fetch';
    expect([...loadedBy(new URL('../src/index.ts', import.meta.url))].filter(outside)).toEqual([]);
    const lazily = loadedBy(new URL('../src/provider/anthropic.ts', import.meta.url));
    expect(lazily).toContain('@sluice/wires');
  });
});

describe('Models', () => {
  it('makes one model for equal settings, and another for others', async () => {
    const models = new Models(() => 'a-key');
    const google = { ...settings, provider: 'google' } as const;
    expect(await models.get({ ...google })).toBe(await models.get({ ...google }));
    expect(await models.get({ ...google, name: 'another' })).not.toBe(await models.get(google));
  });

  it('refuses for good where a key is missing, and tries again once it is there', async () => {
    const environment = new Map<string, string>();
    const models = new Models((variable) => environment.get(variable));
    const google = { ...settings, provider: 'google' } as const;
    await expect(models.get(google)).rejects.toMatchObject({ code: 'model_refused', retryable: false });
    environment.set('GOOGLE_GENERATIVE_AI_API_KEY', 'a-key');
    expect((await models.get(google)).name).toBe('google/some-model');
  });
});

/** The packages that a source file loads when it is imported, through its own files too; types load nothing. */
function loadedBy(file: URL, seen = new Set<string>()): Set<string> {
  const source = readFileSync(file, 'utf8');
  for (const match of source.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm)) {
    const name = match[1] ?? '';
    const target = name.startsWith('.') ? new URL(name.replace(/\.js$/, '.ts'), file) : undefined;
    if (seen.has(target?.href ?? name)) continue;
    seen.add(target?.href ?? name);
    if (target !== undefined) loadedBy(target, seen);
  }
  return seen;
}
