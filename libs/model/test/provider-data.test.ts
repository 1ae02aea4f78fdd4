import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Model, ModelRequest, ModelSettings, ModelTool } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf, stepOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { bedrockAnthropic } from './wires/bedrock-anthropic.js';
import { send, startEndpoint, type Endpoint } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import type { Script, Wire } from './wires/wire.js';

const tool: ModelTool = { id: 'core__find', description: 'Finds things', inputSchema: { type: 'object' } };
const never = new AbortController().signal;
const calls = [
  { id: 'one', tool: 'core__find', pieces: ['{"name":"a"}'] },
  { id: 'two', tool: 'core__find', pieces: ['{"name":"b"}'] },
];
const thought = 'hm, well';
const script: Script = { thinking: ['hm, ', 'well'], text: ['I look.'], calls, signature: 'sig-1' };
const object = { name: 'a' };
const other = { name: 'b' };
const signedCall = (id: string, args: object) => ({
  functionCall: { id, name: 'core__find', args },
  thoughtSignature: 'sig-1',
});
const chatCall = (id: string, args: object) => ({
  id,
  type: 'function',
  function: { name: 'core__find', arguments: JSON.stringify(args) },
  extra_content: { google: { thought_signature: 'sig-1' } },
});
const thinking = { type: 'thinking', thinking: thought, signature: 'signed' };
const use = (id: string, input: object) => ({ type: 'tool_use', id, name: 'core__find', input });
const anthropicTurn = {
  role: 'assistant',
  content: [thinking, { type: 'text', text: 'I look.' }, use('one', object), use('two', other)],
};

/** Each wire with the turn as its provider gets it back, from the public pages of the providers. */
const wires: readonly [string, Wire, (body: Received) => unknown, unknown][] = [
  [
    'openai-chat',
    openai,
    ({ messages = [] }) => messages[2],
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: thought,
      tool_calls: [chatCall('one', object), chatCall('two', other)],
    },
  ],
  [
    'openai-responses',
    openaiResponses,
    ({ input = [] }) => input.slice(1, 5),
    [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: thought }],
        encrypted_content: 'secret',
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
      },
      { type: 'function_call', id: 'fc_0', call_id: 'one', name: 'core__find', arguments: '{"name":"a"}' },
      { type: 'function_call', id: 'fc_1', call_id: 'two', name: 'core__find', arguments: '{"name":"b"}' },
    ],
  ],
  ['anthropic', anthropic, ({ messages = [] }) => messages[1], anthropicTurn],
  ['bedrock-anthropic', bedrockAnthropic, ({ messages = [] }) => messages[1], anthropicTurn],
  [
    'gemini',
    google,
    ({ contents = [] }) => contents[1],
    { role: 'model', parts: [{ text: 'I look.' }, signedCall('one', object), signedCall('two', other)] },
  ],
  [
    'bedrock',
    bedrock,
    ({ messages = [] }) => messages[1],
    {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: thought, signature: 'signed' } } },
        { text: 'I look.' },
        { toolUse: { toolUseId: 'one', name: 'core__find', input: object } },
        { toolUse: { toolUseId: 'two', name: 'core__find', input: other } },
      ],
    },
  ],
];

interface Received {
  readonly messages?: readonly unknown[];
  readonly input?: readonly unknown[];
  readonly contents?: readonly unknown[];
}

describe.each(wires)('what the provider behind %s wants back', (_, wire, turnIn, expected) => {
  let endpoint: Endpoint;
  beforeEach(async () => {
    endpoint = await startEndpoint();
  });
  afterEach(() => endpoint.close());

  const say = (said: Script): void => {
    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, wire.encode(said));
      response.end();
    };
  };
  const modelNamed = (name: string | null): Promise<Model> => {
    const settings: ModelSettings = {
      ...{ baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256, ...wire.settings },
      name,
    };
    return createModel(settings, { secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'key') });
  };
  async function after(said: Script, next: string | null = wire.settings.name): Promise<Received> {
    const model = await modelNamed(wire.settings.name);
    say(said);
    const asked: ModelRequest = requestOf({ instructions: 'Be brief.', tools: [tool] });
    const turn = await model.turn(asked, { signal: never });
    const history = turn.calls.map((call, index) =>
      stepOf({
        toolId: call.tool,
        thought: index === 0 ? turn.thought : '',
        arguments: call.arguments,
        observation: 'found',
        toolCallId: call.toolCallId,
        providerData: call.providerData ?? null,
        iteration: 1,
        index,
      }),
    );
    say({ text: ['Done.'] });
    await (await modelNamed(next)).turn({ ...asked, history }, { signal: never });
    return endpoint.received.at(-1)?.body as Received;
  }

  it('goes back to it on the turn after, each part in its place', async () => {
    expect(turnIn(await after(script))).toEqual(expected);
  });

  it('goes to no other model', async () => {
    const sent = JSON.stringify(await after(script, 'another-model'));
    for (const own of ['sig-1', '"signed"', 'secret', 'rs_1', 'fc_0', thought]) expect(sent).not.toContain(own);
    expect(sent).toContain('I look.');
  });

  it('is left out where it is larger than may be kept', async () => {
    const large = 'x'.repeat(70_000);
    const sent = JSON.stringify(await after({ ...script, thinking: [large], signature: large }));
    expect(sent).not.toContain('xxxx');
    expect(sent).toContain('"two"');
  });

  it('counts tokens that it read from its cache and wrote into it', async () => {
    const model = await modelNamed(wire.settings.name);
    say({ text: ['Done.'], inputTokens: 100, cached: { read: 60, written: 30 } });
    const turn = await model.turn(requestOf({}), { signal: never });
    expect(turn).toMatchObject({ inputTokens: 100, cachedInputTokens: 60 });
    if (['anthropic', 'bedrock', 'bedrockAnthropic'].includes(wire.settings.provider))
      expect(turn.cacheWriteTokens).toBe(30);
  });
});
