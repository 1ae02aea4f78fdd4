import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Fault, type Model, type ModelSettings } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf, stepOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { bedrockAnthropic } from './wires/bedrock-anthropic.js';
import { type Endpoint, send, startEndpoint } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import { offered } from './wires/past.js';
import type { Wire } from './wires/wire.js';

/** Arguments that are no JSON object, each to the space. */
const malformed = ['{"name": "a', '{"name": }', 'name=a', '[1]', ' "a" ', '{"a":1}}', 'ä "\n'];
const request = requestOf({
  tools: offered,
  history: malformed.map((args, index) =>
    stepOf({ toolId: 'core__find', arguments: args, outcome: 'invalid_json', toolCallId: `c${String(index)}`, index }),
  ),
});
const inObjects = malformed.map((args) => ({ invalid_json: args }));

/** The past calls’ arguments in a body, by wire. */
type Body = Readonly<Record<string, readonly Record<string, unknown>[]>>;
const at = (value: unknown, name: string): unknown => (value as Readonly<Record<string, unknown>> | undefined)?.[name];
const blocks = (body: Body, name: string) =>
  (body['messages'] ?? [])
    .flatMap(({ content }) => content as Readonly<Record<string, unknown>>[])
    .filter((b) => name in b);
const argumentsOnWire: Readonly<Record<string, (body: Body) => unknown[]>> = {
  openai: ({ messages = [] }) =>
    messages.flatMap((message) =>
      ((message['tool_calls'] ?? []) as object[]).map((c) => at(at(c, 'function'), 'arguments')),
    ),
  openaiResponses: ({ input = [] }) => input.flatMap((item) => ('arguments' in item ? [item['arguments']] : [])),
  anthropic: (body) => blocks(body, 'input').map((block) => block['input']),
  bedrockAnthropic: (body) => blocks(body, 'input').map((block) => block['input']),
  bedrock: (body) => blocks(body, 'toolUse').map((block) => at(block['toolUse'], 'input')),
  google: ({ contents = [] }) =>
    contents
      .flatMap(({ parts }) => parts as object[])
      .flatMap((part) => ('functionCall' in part ? [at(part.functionCall, 'args')] : [])),
};

describe.each<[string, Wire, unknown[]]>([
  ['openai', openai, malformed],
  ['openaiResponses', openaiResponses, malformed],
  ['anthropic', anthropic, inObjects],
  ['bedrockAnthropic', bedrockAnthropic, inObjects],
  ['bedrock', bedrock, inObjects],
  ['google', google, inObjects],
])('arguments that are no JSON object, over the %s wire', (name, wire, expected) => {
  let endpoint: Endpoint;
  let model: Model;

  beforeEach(async () => {
    endpoint = await startEndpoint();
    const settings: ModelSettings = {
      baseUrl: endpoint.url,
      apiKeyEnv: null,
      region: null,
      maxOutputTokens: 256,
      ...wire.settings,
    };
    model = await createModel(settings, {
      secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'the-key'),
    });
  });
  afterEach(() => endpoint.close());

  const ask = () => model.turn(request, { signal: new AbortController().signal });
  const answer: Endpoint['respond'] = async (response) => {
    response.writeHead(200, { 'content-type': wire.contentType });
    await send(response, wire.encode({ text: ['ok'] }));
    response.end();
  };
  const sent = () => endpoint.received.map(({ body }) => argumentsOnWire[name]?.(body as Body));

  it('go back to the model as it wrote them, in an object where the wire has no text for them', async () => {
    endpoint.respond = answer;
    await ask();
    expect(sent()).toEqual([expected]);
  });

  it('go once more in objects to a server that refuses them as text, and to no other', async () => {
    const areTexts = expected === malformed;
    for (const status of [400, 422, 500]) {
      endpoint.received.length = 0;
      endpoint.respond = (response, received) => {
        if (endpoint.received.length > 1) return answer(response, received);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(wire.error('No.')));
      };
      const outcome: unknown = await ask().catch((error: unknown) => error);
      expect(sent()).toEqual(areTexts ? [malformed, inObjects.map((of) => JSON.stringify(of))] : [inObjects]);
      if (areTexts) expect(outcome).toMatchObject({ answer: 'ok' });
      else expect(outcome).toBeInstanceOf(Fault);
    }
  });

  it('are no reason to ask again where the server refuses the key or is busy', async () => {
    for (const status of [401, 404, 429, 503]) {
      endpoint.received.length = 0;
      endpoint.respond = (response) => void response.writeHead(status).end('{}');
      await expect(ask()).rejects.toBeInstanceOf(Fault);
      expect(endpoint.received).toHaveLength(1);
    }
  });
});
