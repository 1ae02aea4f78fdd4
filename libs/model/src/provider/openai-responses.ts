import { modelProviderEntries } from '@sluice/core';
import type { Model, ModelSettings } from '@sluice/core';
import { proxySettings } from './proxy-settings.js';
import { createProviderModel } from './provider-model.js';
import { keyHeader, withVersion } from './azure.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

const entry = modelProviderEntries['openai-responses'];

/** OpenAI's Responses API; the key is in OPENAI_API_KEY unless `model.api_key_env` says otherwise. */
export function createOpenAiResponsesModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const key = requiredSecret(secret, settings.apiKeyEnv ?? entry.keyVariable, settings);
  return createProviderModel({
    wire: entry.wire,
    settings,
    proxy: proxySettings(secret),
    name,
    url: withVersion(`${addressOf(settings.baseUrl ?? entry.address)}/responses`, settings),
    secrets: [key],
    headers: () => keyHeader(key, settings),
    hasImitators: true,
  });
}
