import type { Model, ModelSettings } from '@sluice/core';
import { createProviderModel } from './provider-model.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

/** OpenAI's Responses API; the key is in OPENAI_API_KEY unless `model.api_key_env` says otherwise. */
export function createOpenAiResponsesModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const key = requiredSecret(secret, settings.apiKeyEnv ?? 'OPENAI_API_KEY', settings);
  return createProviderModel({
    wire: 'openai-responses',
    settings,
    name,
    url: `${addressOf(settings.baseUrl ?? 'https://api.openai.com/v1')}/responses`,
    secrets: [key],
    headers: () => ({ authorization: `Bearer ${key}` }),
    hasImitators: true,
  });
}
