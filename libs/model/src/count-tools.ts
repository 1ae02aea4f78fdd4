import { Fault, isJsonObject, modelName, modelProviderEntry } from '@sluice/core';
import type { CountingProvider, ModelProvider, ModelSettings, ModelTool } from '@sluice/core';
import { tokenCountOf, type WireTool } from '@sluice/wires';
import { beginningOf, send } from './provider/http.js';
import type { ProviderResponse } from './provider/http.js';
import { keyHeaders } from './provider/key-headers.js';
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
  body(tools: readonly WireTool[]): string;
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
  const { wire, keyVariable, address } = modelProviderEntry(provider);
  const count = wire === null ? null : tokenCountOf(wire);
  if (!counts(provider) || count === null) return null;
  const key = secret(apiKeyEnv ?? keyVariable ?? '')?.trim() ?? '';
  if (key === '') return null;
  const model = requiredName(settings);
  return {
    url: `${addressOf(baseUrl ?? address ?? '')}${count.path(model)}`,
    headers: keyHeaders[provider](key),
    body: (tools) => count.body(model, tools),
    member: count.member,
  };
}

function counts(provider: ModelProvider): provider is CountingProvider {
  return modelProviderEntry(provider).countsTokens;
}

async function countOf(
  called: string,
  { url, headers, body, member }: CountApi,
  tools: readonly ModelTool[],
  signal: AbortSignal,
): Promise<number> {
  const named = tools.map(({ id, description, inputSchema }) => ({ name: id, description, inputSchema }));
  let response: ProviderResponse;
  try {
    response = await send({ url, body: body(named), headers }, signal);
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
