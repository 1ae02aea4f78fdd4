import type { Model, ModelSettings } from '@sluice/core';
import { proxySettings } from './proxy-settings.js';
import { createProviderModel } from './provider-model.js';
import { keyHeader, withVersion } from './azure.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

/**
 * Any endpoint that speaks the Chat Completions format. Without `model.api_key_env` no key is sent: servers on one's
 * own machine ask for none.
 */
export function createOpenAiCompatibleModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const { baseUrl } = settings;
  if (!baseUrl) {
    throw new Error(
      'The model provider openai-compatible needs an address: set model.base_url, for example to https://api.openai.com/v1.',
    );
  }
  const key = settings.apiKeyEnv === null ? null : requiredSecret(secret, settings.apiKeyEnv, settings);
  return createProviderModel({
    wire: 'openai-chat',
    settings,
    proxy: proxySettings(secret),
    name,
    url: withVersion(`${addressOf(baseUrl)}/chat/completions`, settings),
    secrets: key === null ? [] : [key],
    headers: () => (key === null ? {} : keyHeader(key, settings)),
    hasImitators: true,
    options: { chatLimit: limitName(baseUrl) },
  });
}

/** OpenAI's own reasoning models refuse `max_tokens`; the servers that only speak its format know nothing else. */
export function limitName(baseUrl: string): 'max_tokens' | 'max_completion_tokens' {
  const isOpenAi = URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
  return isOpenAi ? 'max_completion_tokens' : 'max_tokens';
}
