import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import type { Model, ModelSettings } from '@sluice/core';
import { createProviderModel } from './provider-model.js';
import { requiredName, requiredSecret, type Secret } from './required-settings.js';

/**
 * Amazon Bedrock's Converse API. With `model.api_key_env` that key is sent as a bearer token; without it requests are
 * signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, where it is set, AWS_SESSION_TOKEN.
 */
export function createBedrockModel(settings: ModelSettings, secret: Secret): Model {
  const name = requiredName(settings);
  const region = settings.region ?? secret('AWS_REGION');
  if (!region)
    throw new Error('The model provider bedrock needs a region: set model.region, for example to eu-central-1.');
  const shown = credentials(settings, secret);
  const provider = createAmazonBedrock({
    region,
    ...(settings.baseUrl === null ? {} : { baseURL: settings.baseUrl }),
    ...shown,
  });
  return createProviderModel({
    model: provider.languageModel(name),
    settings,
    name,
    secrets: Object.values(shown),
    lacksNone: true,
  });
}

function credentials(settings: ModelSettings, secret: Secret) {
  if (settings.apiKeyEnv !== null) return { apiKey: requiredSecret(secret, settings.apiKeyEnv, settings) };
  const sessionToken = secret('AWS_SESSION_TOKEN');
  return {
    // Empty, not absent: absent would make the library look into the environment for a bearer token.
    apiKey: '',
    accessKeyId: requiredSecret(secret, 'AWS_ACCESS_KEY_ID', settings),
    secretAccessKey: requiredSecret(secret, 'AWS_SECRET_ACCESS_KEY', settings),
    ...(sessionToken ? { sessionToken } : {}),
  };
}
