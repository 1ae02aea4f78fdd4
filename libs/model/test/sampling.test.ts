import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sampledSettings, samplingProblem } from '@sluice/core';
import type { JsonObject, ModelSettings, Sampling } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { type Endpoint, send, startEndpoint } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import type { Wire } from './wires/wire.js';

const none: Sampling = {
  ...{ temperature: null, topP: null, maxOutputTokens: null, stop: [], seed: null, reasoningEffort: null },
};
const all: Sampling = {
  ...{ temperature: 0.5, topP: 0.9, maxOutputTokens: 99, stop: ['END'], seed: 7, reasoningEffort: 'low' },
};
const plain: ModelSettings = {
  ...{ provider: 'openai-compatible', name: 'm', baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 256 },
};

describe.each<[string, Wire, JsonObject]>([
  ['openai', openai, { max_tokens: 99, temperature: 0.5, top_p: 0.9, stop: ['END'], seed: 7, reasoning_effort: 'low' }],
  [
    'openaiResponses',
    openaiResponses,
    { max_output_tokens: 99, temperature: 0.5, top_p: 0.9, reasoning: { effort: 'low' } },
  ],
  ['anthropic', anthropic, { max_tokens: 99, temperature: 0.5, top_p: 0.9, stop_sequences: ['END'] }],
  ['bedrock', bedrock, { inferenceConfig: { maxTokens: 99, temperature: 0.5, topP: 0.9, stopSequences: ['END'] } }],
  [
    'google',
    google,
    { generationConfig: { maxOutputTokens: 99, temperature: 0.5, topP: 0.9, stopSequences: ['END'], seed: 7 } },
  ],
])('what a request asks of the writing, over the %s wire', (_, wire, wanted) => {
  let endpoint: Endpoint;
  let refuses = false;
  const bodies = async (sampling?: Sampling): Promise<readonly JsonObject[]> => {
    const model = await made;
    const before = endpoint.received.length;
    await model.turn(requestOf(sampling === undefined ? {} : { sampling }), { signal: new AbortController().signal });
    return endpoint.received.slice(before).map(({ body }) => body as JsonObject);
  };
  let made: ReturnType<typeof createModel>;

  beforeEach(async () => {
    endpoint = await startEndpoint();
    refuses = false;
    endpoint.respond = async (response) => {
      if (refuses && JSON.stringify(endpoint.received.at(-1)?.body).includes('0.5'))
        return void response.writeHead(400).end('{}');
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, wire.encode({ text: ['ok'] }));
      response.end();
    };
    const settings: ModelSettings = {
      ...{ baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256, ...wire.settings },
    };
    made = createModel(settings, {
      secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'the-key'),
    });
  });
  afterEach(() => endpoint.close());

  it('is sent in its words', async () => {
    const [without] = await bodies();
    const [body] = await bodies(all);
    expect(body).toEqual({ ...without, ...wanted });
    expect(await bodies(none)).toEqual([without]);
  });

  it('is left out where the model refuses it, and in later turns', async () => {
    const [without] = await bodies();
    refuses = true;
    const sent = await bodies(all);
    expect([sent.length, sent[1]]).toEqual([2, without]);
    expect(await bodies(all)).toEqual([without]);
  });
});

describe('settings of a model', () => {
  it('bound what a request asks', () => {
    const own = { ...plain, maxOutputTokens: 50, reasoningEffort: 'minimal', temperature: 1 };
    expect(sampledSettings(own, all)).toMatchObject({
      maxOutputTokens: 50,
      reasoningEffort: 'minimal',
      temperature: 0.5,
    });
    expect(sampledSettings({ ...own, reasoningEffort: 'high' }, all)).toMatchObject({ reasoningEffort: 'low' });
    expect(sampledSettings(own, none)).toEqual(own);
    // Its limit of tokens holds its thoughts too, and it takes no other temperature.
    const thinking: ModelSettings = { ...plain, provider: 'anthropic', maxOutputTokens: 4_096, thinkingTokens: 2_048 };
    expect(sampledSettings(thinking, all)).toEqual({ ...thinking, stop: ['END'] });
  });

  it.each<[Partial<Sampling>, string]>([
    [{ temperature: 2.1 }, 'temperature must be a number from 0 to 2'],
    [{ temperature: Number.NaN }, 'temperature must be'],
    [{ topP: -0.1 }, 'top_p must be a number from 0 to 1'],
    [{ maxOutputTokens: 0 }, 'max_output_tokens must be from 1'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop may have 4 texts'],
    [{ stop: [''] }, 'stop may have 4 texts'],
    [{ seed: 2 ** 31 }, 'seed must be a whole number of 32 bits'],
    [{ reasoningEffort: 'most' }, 'reasoning_effort is not known'],
  ])('are not asked for as %j', (odd, sentence) => {
    expect(samplingProblem({ ...all, ...odd })).toContain(sentence);
    expect(samplingProblem(all)).toBeNull();
    expect(samplingProblem(null)).toBeNull();
  });
});
