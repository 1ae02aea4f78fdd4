import { Fault, isJsonObject, modelName, modelProviderEntry } from '@sluice/core';
import type { ModelSettings, ModelTool } from '@sluice/core';
import { beginningOf, send } from './provider/http.js';
import type { ProviderResponse } from './provider/http.js';
import { addressOf, requiredName } from './provider/required-settings.js';
import type { Secret } from './provider/required-settings.js';

/** Counts what definitions of tools take, by the provider that bills them. */
export interface ProviderCount {
  /** As it is named beside the counts. */
  readonly tokenizer: string;
  /** Tokens that a request has more with these tools than without any. Throws Fault. */
  definitions(tools: readonly ModelTool[], signal: AbortSignal): Promise<number>;
}

interface CountApi {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  body(tools: readonly ModelTool[]): object;
  /** The member of the answer with the tokens. */
  readonly member: string;
}

/** The provider’s own count, where it has an endpoint for it and the environment has its key; null otherwise. */
export function createProviderCount(settings: ModelSettings, secret: Secret): ProviderCount | null {
  const api = apiOf(settings, secret);
  if (api === null) return null;
  const called = modelName(settings);
  const count = (tools: readonly ModelTool[], signal: AbortSignal) => countOf(called, api, tools, signal);
  let without: Promise<number> | undefined;
  return {
    tokenizer: settings.provider,
    definitions: async (tools, signal) => {
      if (tools.length === 0) return 0;
      without ??= count([], signal);
      const [all, none] = await Promise.all([count(tools, signal), without]);
      return Math.max(0, all - none);
    },
  };
}

function apiOf(settings: ModelSettings, secret: Secret): CountApi | null {
  const { provider, baseUrl, apiKeyEnv } = settings;
  const { keyVariable, address, countsTokens } = modelProviderEntry(provider);
  if (!countsTokens) return null;
  const key = secret(apiKeyEnv ?? keyVariable ?? '')?.trim() ?? '';
  const at = addressOf(baseUrl ?? address ?? '');
  if (provider === 'anthropic') {
    if (key === '') return null;
    const model = requiredName(settings);
    return {
      url: `${at}/messages/count_tokens`,
      headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
      body: (tools) => ({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
        ...(tools.length === 0
          ? {}
          : {
              tools: tools.map(({ id, description, inputSchema }) => ({
                ...{ name: id, description, input_schema: inputSchema },
              })),
            }),
      }),
      member: 'input_tokens',
    };
  }
  if (provider === 'google') {
    if (key === '') return null;
    const model = `models/${requiredName(settings)}`;
    return {
      url: `${at}/${model}:countTokens`,
      headers: { 'x-goog-api-key': key },
      body: (tools) => ({
        generateContentRequest: {
          model,
          contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
          ...(tools.length === 0
            ? {}
            : {
                tools: [
                  {
                    functionDeclarations: tools.map(({ id, description, inputSchema }) => ({
                      ...{ name: id, description, parametersJsonSchema: inputSchema },
                    })),
                  },
                ],
              }),
        },
      }),
      member: 'totalTokens',
    };
  }
  return null;
}

async function countOf(
  called: string,
  { url, headers, body, member }: CountApi,
  tools: readonly ModelTool[],
  signal: AbortSignal,
): Promise<number> {
  let response: ProviderResponse;
  try {
    response = await send({ url, body: JSON.stringify(body(tools)), headers }, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new Fault('model_unreachable', `The provider of ${called} could not be reached to count tokens.`, true, {
      cause: error,
    });
  }
  const text = await beginningOf(response);
  if (response.status >= 300) {
    const passes = response.status === 429 || response.status >= 500;
    const what = `The provider of ${called} answered ${String(response.status)} when it was asked to count tokens`;
    throw new Fault(passes ? 'model_unreachable' : 'model_refused', `${what}: ${text.slice(0, 300)}`, passes);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = null;
  }
  const tokens = isJsonObject(answer) ? answer[member] : null;
  if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0) return tokens;
  throw new Fault('model_refused', `The provider of ${called} counted tokens without a number in ${member}.`, false);
}
