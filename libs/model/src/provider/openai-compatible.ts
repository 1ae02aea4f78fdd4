import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isJsonObject, type Model, type ModelSettings } from '@sluice/core';
import { createProviderModel } from './provider-model.js';
import { requiredName, requiredSecret, type Secret } from './required-settings.js';

/**
 * Any endpoint that speaks the Chat Completions format. Without `model.api_key_env` no key is sent: servers on one's own
 * machine ask for none.
 */
export function createOpenAiCompatibleModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const baseURL = settings.baseUrl;
  if (!baseURL) {
    throw new Error(
      'The model provider openai-compatible needs an address: set model.base_url, for example to https://api.openai.com/v1.',
    );
  }
  const apiKey = settings.apiKeyEnv === null ? undefined : requiredSecret(secret, settings.apiKeyEnv, settings);
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL,
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
    transformRequestBody: (body) => bodyFor(baseURL, body),
  });
  const secrets = apiKey === undefined ? [] : [apiKey];
  return createProviderModel({ model: provider.chatModel(name), settings, name, secrets, wireCallIds });
}

/** OpenAI's own reasoning models refuse `max_tokens`; the servers that only speak its format know nothing else. */
export function bodyFor(baseUrl: string, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!URL.canParse(baseUrl) || new URL(baseUrl).hostname !== 'api.openai.com') return body;
  const { max_tokens, ...rest } = body;
  return { ...rest, max_completion_tokens: max_tokens };
}

/** The call ids that stand in one chunk as it came: the library makes up random ones where there are none, and those must not stay. */
export function wireCallIds(chunk: unknown): string[] {
  if (!isJsonObject(chunk) || !Array.isArray(chunk['choices'])) return [];
  const choice: unknown = chunk['choices'][0];
  const delta = isJsonObject(choice) ? choice['delta'] : undefined;
  const calls = isJsonObject(delta) && Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  return calls.flatMap((call: unknown) => (isJsonObject(call) && typeof call['id'] === 'string' ? [call['id']] : []));
}
