import { createAnthropic } from '@ai-sdk/anthropic';
import type { Model, ModelSettings } from '@sluice/core';
import { createProviderModel } from './provider-model.js';
import { requiredName, requiredSecret, type Secret } from './required-settings.js';

/** Anthropic's Messages API; the key is in ANTHROPIC_API_KEY unless `model.api_key_env` says otherwise. */
export function createAnthropicModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const apiKey = requiredSecret(secret, settings.apiKeyEnv ?? 'ANTHROPIC_API_KEY', settings);
  const provider = createAnthropic({
    apiKey,
    // Written out, because the library would else look into the environment for an address.
    baseURL: settings.baseUrl ?? 'https://api.anthropic.com/v1',
  });
  // Arguments are taken whole, so the server may check that they are JSON instead of streaming them as they are written.
  const providerOptions = { anthropic: { toolStreaming: false } };
  return createProviderModel({
    model: provider.languageModel(name),
    settings,
    name,
    secrets: [apiKey],
    providerOptions,
  });
}
