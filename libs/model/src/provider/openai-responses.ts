import type { Model, ModelSettings } from '@sluice/core';
import { proxySettings } from './proxy-settings.js';
import { createProviderModel } from './provider-model.js';
import { keyHeader, withVersion } from './azure.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

/** OpenAI's Responses API; the key is in OPENAI_API_KEY unless `model.api_key_env` says otherwise. */
export function createOpenAiResponsesModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const key = requiredSecret(secret, settings.apiKeyEnv ?? 'OPENAI_API_KEY', settings);
  return createProviderModel({
    wire: 'openai-responses',
    settings,
    proxy: proxySettings(secret),
    name,
    url: withVersion(`${addressOf(settings.baseUrl ?? 'https://api.openai.com/v1')}/responses`, settings),
    secrets: [key],
    headers: () => keyHeader(key, settings),
    hasImitators: true,
  });
}
