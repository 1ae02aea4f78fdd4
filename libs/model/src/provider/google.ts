import { modelProviderEntries } from '@sluice/core';
import type { Model, ModelSettings } from '@sluice/core';
import { keyHeaders } from './key-headers.js';
import { proxySettings } from './proxy-settings.js';
import { createProviderModel } from './provider-model.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

const entry = modelProviderEntries.google;

/** Google's Gemini API; the key is in GOOGLE_GENERATIVE_AI_API_KEY unless `model.api_key_env` says otherwise. */
export function createGoogleModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const key = requiredSecret(secret, settings.apiKeyEnv ?? entry.keyVariable, settings);
  const address = addressOf(settings.baseUrl ?? entry.address);
  // A tuned model is named with its collection.
  const path = name.includes('/') ? name : `models/${name}`;
  return createProviderModel({
    wire: entry.wire,
    settings,
    proxy: proxySettings(secret),
    name,
    url: `${address}/${path}:streamGenerateContent?alt=sse`,
    secrets: [key],
    headers: () => keyHeaders.google(key),
  });
}
