import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject, Model, ModelSettings } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { bedrockAnthropic } from './wires/bedrock-anthropic.js';
import { type Endpoint, send, startEndpoint } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import { offered } from './wires/past.js';
import type { Wire } from './wires/wire.js';

const inner = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const strict: JsonObject = { ...inner, properties: { a: { type: 'array', items: inner } } };
const closed: JsonObject = { ...strict, required: [] };
const open: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };

const named = (schema: JsonObject) => ({ name: 'answer', schema, strict: schema === strict });
const chat = (schema: JsonObject) => ({ response_format: { type: 'json_schema', json_schema: named(schema) } });
const responses = (schema: JsonObject) => ({ text: { format: { type: 'json_schema', ...named(schema) } } });
const ofAnthropic = (schema: JsonObject) =>
  schema === open ? null : { output_config: { format: { type: 'json_schema', schema } } };
const converse = (schema: JsonObject) => {
  const jsonSchema = { name: 'answer', schema: JSON.stringify(schema) };
  return schema === open ? null : { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
};
const gemini = (schema: JsonObject) => ({
  generationConfig: { maxOutputTokens: 256, responseMimeType: 'application/json', responseJsonSchema: schema },
});

describe.each<[string, Wire, (schema: JsonObject) => object | null]>([
  ['openai', openai, chat],
  ['openaiResponses', openaiResponses, responses],
  ['anthropic', anthropic, ofAnthropic],
  ['bedrockAnthropic', bedrockAnthropic, ofAnthropic],
  ['bedrock', bedrock, converse],
  ['google', google, gemini],
])('a schema for answers over the %s wire', (name, wire, form) => {
  let endpoint: Endpoint;
  let model: Model;
  let refuses = (_: string): boolean => false;

  beforeEach(async () => {
    endpoint = await startEndpoint();
    refuses = () => false;
    endpoint.respond = async (response) => {
      if (refuses(JSON.stringify(endpoint.received.at(-1)?.body))) return void response.writeHead(400).end('{}');
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, wire.encode({ text: ['{}'] }));
      response.end();
    };
    const settings: ModelSettings = {
      ...{ baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256, ...wire.settings },
    };
    model = await createModel(settings, {
      secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'the-key'),
    });
  });
  afterEach(() => endpoint.close());

  const ask = async (request: Parameters<typeof requestOf>[0]): Promise<readonly JsonObject[]> => {
    const before = endpoint.received.length;
    await model.turn(requestOf(request), { signal: new AbortController().signal });
    return endpoint.received.slice(before).map(({ body }) => body as JsonObject);
  };

  it('is the provider’s own structured output where it takes the schema', async () => {
    const [without] = await ask({});
    for (const schema of [strict, closed, open]) {
      const [body] = await ask({ answerSchema: schema });
      expect(body).toEqual({ ...without, ...form(schema) });
    }
  });

  it('stands beside tools, but for Gemini', async () => {
    const [body] = await ask({ answerSchema: strict, tools: offered });
    expect(JSON.stringify(body).includes('"additionalProperties\\":false') || JSON.stringify(body).includes(JSON.stringify(strict))).toBe(name !== 'google'); // prettier-ignore
  });

  it('is left out where it is refused, and in later turns', async () => {
    const said = JSON.stringify(form(strict)).slice(1, -1);
    refuses = (body) => body.includes(said);
    const sent = await ask({ answerSchema: strict });
    expect(sent.map((body) => JSON.stringify(body).includes(said))).toEqual([true, false]);
    expect((await ask({ answerSchema: strict })).map((body) => JSON.stringify(body).includes(said))).toEqual([false]);
    // What is refused for another reason is sent twice, and once where the schema was never sent.
    refuses = () => true;
    await expect(ask({ answerSchema: closed })).rejects.toThrow();
    const before = endpoint.received.length;
    await expect(ask({ answerSchema: open })).rejects.toThrow();
    expect(endpoint.received.length - before).toBe(form(open) === null ? 1 : 2);
  });
});
