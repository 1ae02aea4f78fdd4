import type { Model, ModelSettings } from '@sluice/core';
import { proxySettings } from './proxy-settings.js';
import { createProviderModel, type ProviderSetup } from './provider-model.js';
import { addressOf, requiredName, requiredSecret, type Secret } from './required-settings.js';

/**
 * Amazon Bedrock's Converse API. With `model.api_key_env` that key is sent as a bearer token; without it requests are
 * signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, where it is set, AWS_SESSION_TOKEN.
 */
export function createBedrockModel(settings: ModelSettings, secret: Secret): Model {
  const { name } = settings;
  return createProviderModel({
    wire: 'bedrock',
    settings,
    proxy: proxySettings(secret),
    ...invocation(settings, secret, 'converse-stream'),
    lacksNone: true,
    // Models of other makers refuse the mark.
    options: {
      resultStatus: /anthropic|nova/.test(name ?? ''),
      cachePrefix: hasCache(name),
      cacheHistory: hasCache(name),
    },
  });
}

/** Bedrock refuses the mark for its cache with models that have none there, as older ones of Anthropic’s have not. */
function hasCache(name: string | null): boolean {
  return /claude-(?:3-5-haiku|3-7-|(?:opus|sonnet|haiku)-\d)|nova-(?:micro|lite|pro|premier|2)/.test(name ?? '');
}

/** Anthropic’s models over Bedrock’s InvokeModel, with Anthropic’s own bodies. The keys are those of `bedrock`. */
export function createBedrockAnthropicModel(settings: ModelSettings, secret: Secret): Model {
  return createProviderModel({
    wire: 'bedrock-anthropic',
    settings,
    proxy: proxySettings(secret),
    ...invocation(settings, secret, 'invoke-with-response-stream'),
    options: { cachePrefix: hasCache(settings.name), cacheHistory: hasCache(settings.name) },
  });
}

function invocation(
  settings: ModelSettings,
  secret: Secret,
  action: 'converse-stream' | 'invoke-with-response-stream',
): Pick<ProviderSetup, 'name' | 'url' | 'headers' | 'secrets'> {
  const name = requiredName(settings);
  const region = settings.region ?? secret('AWS_REGION');
  if (!region)
    throw new Error(
      `The model provider ${settings.provider} needs a region: set model.region, for example to eu-central-1.`,
    );
  const address = addressOf(settings.baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`);
  const url = `${address}/model/${encodeURIComponent(name)}/${action}`;
  return { name, url, ...authorization(settings, secret, { region, url }) };
}

function authorization(
  settings: ModelSettings,
  secret: Secret,
  { region, url }: { readonly region: string; readonly url: string },
): Pick<ProviderSetup, 'headers' | 'secrets'> {
  if (settings.apiKeyEnv !== null) {
    const key = requiredSecret(secret, settings.apiKeyEnv, settings);
    return { secrets: [key], headers: () => ({ authorization: `Bearer ${key}` }) };
  }
  const accessKeyId = requiredSecret(secret, 'AWS_ACCESS_KEY_ID', settings);
  const secretAccessKey = requiredSecret(secret, 'AWS_SECRET_ACCESS_KEY', settings);
  const sessionToken = secret('AWS_SESSION_TOKEN');
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
  const headers = async (body: string) => {
    const { AwsV4Signer } = await import('aws4fetch');
    const signer = new AwsV4Signer({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      service: 'bedrock',
      region,
      ...keys,
    });
    const { headers: signed } = await signer.sign();
    return Object.fromEntries(signed);
  };
  return { secrets: Object.values(keys), headers };
}
