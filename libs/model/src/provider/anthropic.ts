import { modelProviderEntries } from '@sluice/core';
import type { Model, ModelSettings } from '@sluice/core';
import { keyHeaders } from './key-headers.js';
import { proxySettings } from './proxy-settings.js';
import { createProviderModel } from './provider-model.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

const entry = modelProviderEntries.anthropic;

/** Anthropic's Messages API; the key is in ANTHROPIC_API_KEY unless `model.api_key_env` says otherwise. */
export function createAnthropicModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const key = requiredSecret(secret, settings.apiKeyEnv ?? entry.keyVariable, settings);
  const { betas = [] } = settings;
  const beta = betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') };
  return createProviderModel({
    wire: entry.wire,
    settings,
    proxy: proxySettings(secret),
    name,
    url: `${addressOf(settings.baseUrl ?? entry.address)}/messages`,
    secrets: [key],
    headers: () => ({ ...keyHeaders.anthropic(key), ...beta }),
    // Tools and instructions are the same in every turn of a run.
    options: { cachePrefix: true, cacheHistory: true },
  });
}
