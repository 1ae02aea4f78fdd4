import { createGoogle } from '@ai-sdk/google';
import type { Model, ModelSettings } from '@sluice/core';
import { createProviderModel } from './provider-model.js';
import { requiredName, requiredSecret, type Secret } from './required-settings.js';

/** Google's Gemini API; the key is in GOOGLE_GENERATIVE_AI_API_KEY unless `model.api_key_env` says otherwise. */
export function createGoogleModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const apiKey = requiredSecret(secret, settings.apiKeyEnv ?? 'GOOGLE_GENERATIVE_AI_API_KEY', settings);
  const provider = createGoogle({
    apiKey,
    ...(settings.baseUrl === null ? {} : { baseURL: settings.baseUrl }),
    // Gemini's calls may come without an id. An empty one is replaced by a derived one, where a random one would stay.
    generateId: () => '',
  });
  return createProviderModel({ model: provider.languageModel(name), settings, name, secrets: [apiKey] });
}
