import { isJsonObject, modelProviderEntry } from '@sluice/core';
import type { JsonValue, ModelSettings } from '@sluice/core';
import { keyHeader } from './provider/azure.js';
import { send } from './provider/http.js';
import type { ProviderResponse } from './provider/http.js';
import { keyHeaders } from './provider/key-headers.js';
import { proxySettings } from './provider/proxy-settings.js';
import { addressOf, requiredSecret, type Secret } from './provider/required-settings.js';

/** The provider has no list, or not at this address. */
const noSuchList: readonly number[] = [404, 405, 501];
/** Bytes of a list that are read. */
const largestList = 8 * 1024 * 1024;

/**
 * The names of the models that the provider lists for this key, which costs nothing; null where it has no such list.
 * Rejects with a sentence if the provider cannot be asked or refuses the key.
 */
export async function listModels(
  settings: ModelSettings,
  secret: Secret,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const request = requestFor(settings, secret);
  if (request === null) return null;
  const { host } = new URL(request.url);
  let response: ProviderResponse;
  try {
    response = await send(request, signal, proxySettings(secret));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${host} cannot be reached: ${(error as Error).message}`, { cause: error });
  }
  if (response.status === 200) return namesIn(await read(response));
  response.body.destroy();
  if (noSuchList.includes(response.status)) return null;
  if (response.status === 401 || response.status === 403)
    throw new Error(`${host} refuses the key (${response.status})`);
  throw new Error(`${host} answers with ${response.status}`);
}

function requestFor(
  settings: ModelSettings,
  secret: Secret,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null {
  const { provider, baseUrl, apiKeyEnv, apiVersion, headers = {} } = settings;
  const entry = modelProviderEntry(provider);
  const address = baseUrl ?? entry.address;
  const variable = apiKeyEnv ?? entry.keyVariable;
  // Azure lists what can be deployed, and not what is.
  if (address === null || !URL.canParse(address) || apiVersion !== undefined) return null;
  const key = variable === null ? null : requiredSecret(secret, variable, settings);
  const url = `${addressOf(address)}/models`;
  switch (entry.wire) {
    case 'anthropic':
      return provider === 'anthropic'
        ? { url: `${url}?limit=1000`, headers: { ...keyHeaders.anthropic(key ?? ''), ...headers } }
        : null;
    case 'gemini':
      return { url: `${url}?pageSize=1000`, headers: { ...keyHeaders.google(key ?? ''), ...headers } };
    case 'openai-chat':
    case 'openai-responses':
      return { url, headers: { ...(key === null ? {} : keyHeader(key, settings)), ...headers } };
    default:
      return null;
  }
}

async function read({ body }: ProviderResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    if ((bytes += piece.length) > largestList) throw new Error('its list of models is too long');
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** `data` of Anthropic and OpenAI, `models` of Google. */
function namesIn(text: string): readonly string[] | null {
  let list: JsonValue;
  try {
    list = JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
  const { data, models } = isJsonObject(list) ? list : {};
  const all = Array.isArray(data) ? data : Array.isArray(models) ? models : null;
  return (
    all?.flatMap((one) => {
      const { id, name } = isJsonObject(one) ? one : {};
      const text = typeof id === 'string' ? id : name;
      return typeof text === 'string' ? [text.replace(/^models\//, '')] : [];
    }) ?? null
  );
}
