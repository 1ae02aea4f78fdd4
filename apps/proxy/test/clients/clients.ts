import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import type { WireName } from '@sluice/wires';
import { generateText, jsonSchema, type LanguageModel, streamText, tool, type ToolSet } from 'ai';
import OpenAI from 'openai';
import { tools } from '../scripted-model.js';

/** A program that asks a model through the library of its provider. */
export interface Client {
  readonly name: string;
  readonly wire: WireName;
  readonly api: 'openai' | 'anthropic' | 'gemini' | 'bedrock';
  /** What the library gives the program: of a stream, what it puts together. */
  ask(url: string, stream: boolean, question: string): Promise<unknown>;
}

const functions = tools.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }));

const openaiOf = (url: string): OpenAI => new OpenAI({ apiKey: 'sk-client', baseURL: `${url}/v1`, maxRetries: 0 });

async function openaiChat(url: string, stream: boolean, question: string): Promise<unknown> {
  const { completions } = openaiOf(url).chat;
  const body = {
    model: 'm',
    messages: [{ role: 'user' as const, content: question }],
    tools: functions.map((one) => ({ type: 'function' as const, function: one })),
  };
  if (!stream) return completions.create(body);
  return completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion();
}

async function openaiResponses(url: string, stream: boolean, question: string): Promise<unknown> {
  const { responses } = openaiOf(url);
  const body = {
    model: 'm',
    input: question,
    tools: functions.map((one) => ({ type: 'function' as const, strict: false, ...one })),
  };
  return stream ? responses.stream(body).finalResponse() : responses.create(body);
}

async function anthropic(url: string, stream: boolean, question: string): Promise<unknown> {
  const { messages } = new Anthropic({ apiKey: 'sk-client', baseURL: url, maxRetries: 0 });
  const body = {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: question }],
    tools: functions.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
  };
  return stream ? messages.stream(body).finalMessage() : messages.create(body);
}

async function gemini(url: string, stream: boolean, question: string): Promise<unknown> {
  const { models } = new GoogleGenAI({ apiKey: 'sk-client', httpOptions: { baseUrl: url } });
  const declared = functions.map(({ name, description, parameters }) => ({
    ...{ name, description, parametersJsonSchema: parameters },
  }));
  const asked = { model: 'm', contents: question, config: { tools: [{ functionDeclarations: declared }] } };
  const plain = (answer: object): unknown => ({ ...answer, sdkHttpResponse: undefined });
  if (!stream) return plain(await models.generateContent(asked));
  const parts: unknown[] = [];
  for await (const chunk of await models.generateContentStream(asked)) parts.push(plain(chunk));
  return parts;
}

function bedrockOf(url: string): BedrockRuntimeClient {
  const credentials = { accessKeyId: 'AKIDCLIENT', secretAccessKey: 'secret-of-client' };
  return new BedrockRuntimeClient({ region: 'eu-central-1', endpoint: url, credentials, maxAttempts: 1 });
}

/**
 * Events as a program puts them together: AWS’s library leaves that to it. Texts of a kind that follow each other are
 * one.
 */
function assembled(events: readonly object[]): unknown {
  const all: [path: string, value: unknown][] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) walk(one, `${path}.${name}`);
    else {
      const last = all.at(-1);
      const isNumber = /ndex$/.test(path) || /contentBlockStop|content_block_stop|BlockStart$/.test(path);
      if (isNumber || value === '' || /\.type$|message\.id$/.test(path)) return;
      if (last?.[0] === path && typeof value === 'string') last[1] = `${String(last[1])}${value}`;
      else all.push([path, value]);
    }
  };
  for (const event of events) walk(event, '');
  return all.toSorted(([one], [other]) => one.localeCompare(other));
}

async function converse(url: string, stream: boolean, question: string): Promise<unknown> {
  const client = bedrockOf(url);
  const input = {
    modelId: 'm',
    messages: [{ role: 'user' as const, content: [{ text: question }] }],
    toolConfig: {
      tools: functions.map(({ name, description, parameters }) => ({
        toolSpec: { name, description, inputSchema: { json: parameters as never } },
      })),
    },
  };
  try {
    if (!stream) {
      const { $metadata: _, ...answer } = await client.send(new ConverseCommand(input));
      return answer;
    }
    const { stream: events } = await client.send(new ConverseStreamCommand(input));
    const all: object[] = [];
    for await (const event of events ?? []) all.push(event);
    return assembled(all);
  } finally {
    client.destroy();
  }
}

async function invoke(url: string, stream: boolean, question: string): Promise<unknown> {
  const client = bedrockOf(url);
  const body = JSON.stringify({
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 100,
    messages: [{ role: 'user', content: question }],
    tools: functions.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
  });
  const input = { modelId: 'm', contentType: 'application/json', body };
  try {
    if (!stream) {
      const answer = await client.send(new InvokeModelCommand(input));
      return JSON.parse(answer.body.transformToString()) as unknown;
    }
    const { body: events } = await client.send(new InvokeModelWithResponseStreamCommand(input));
    const all: object[] = [];
    for await (const { chunk } of events ?? [])
      all.push(JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()) as object);
    return assembled(all);
  } finally {
    client.destroy();
  }
}

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

/** Vercel’s library, which has one form for all providers. */
async function ai(model: LanguageModel, stream: boolean, question: string): Promise<unknown> {
  const asked = {
    model,
    prompt: question,
    maxRetries: 0,
    tools: Object.fromEntries(
      functions.map(({ name, description, parameters }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters as never) }),
      ]),
    ) as ToolSet,
  };
  if (!stream) {
    const { text, toolCalls, finishReason, usage } = await generateText(asked);
    return { text, toolCalls, finishReason, usage };
  }
  const answer = streamText({ ...asked, onError: () => undefined });
  const [text, toolCalls, finishReason, usage] = await Promise.all([
    answer.text,
    answer.toolCalls,
    answer.finishReason,
    answer.usage,
  ]);
  return { text, toolCalls, finishReason, usage };
}

const apiKey = 'sk-client';

export const clients: readonly Client[] = [
  { name: 'openai, chat completions', wire: 'openai-chat', api: 'openai', ask: openaiChat },
  { name: 'openai, responses', wire: 'openai-responses', api: 'openai', ask: openaiResponses },
  { name: '@anthropic-ai/sdk', wire: 'anthropic', api: 'anthropic', ask: anthropic },
  { name: '@google/genai', wire: 'gemini', api: 'gemini', ask: gemini },
  { name: '@aws-sdk/client-bedrock-runtime, converse', wire: 'bedrock', api: 'bedrock', ask: converse },
  { name: '@aws-sdk/client-bedrock-runtime, invoke', wire: 'bedrock-anthropic', api: 'bedrock', ask: invoke },
  {
    ...{ name: 'ai with OpenAI’s chat completions', wire: 'openai-chat', api: 'openai' },
    ask: (url, ...asked) => ai(createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat('m'), ...asked),
  },
  {
    ...{ name: 'ai with OpenAI’s responses', wire: 'openai-responses', api: 'openai' },
    ask: (url, ...asked) => ai(createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses('m'), ...asked),
  },
  {
    ...{ name: 'ai with Anthropic', wire: 'anthropic', api: 'anthropic' },
    ask: (url, ...asked) => ai(createAnthropic({ baseURL: `${url}/v1`, apiKey })('m'), ...asked),
  },
  {
    ...{ name: 'ai with Google', wire: 'gemini', api: 'gemini' },
    ask: (url, ...asked) => ai(createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })('m'), ...asked),
  },
  {
    ...{ name: 'ai with Bedrock', wire: 'bedrock', api: 'bedrock' },
    ask: (url, ...asked) => ai(createAmazonBedrock({ baseURL: url, region: 'eu-central-1', apiKey })('m'), ...asked),
  },
];
