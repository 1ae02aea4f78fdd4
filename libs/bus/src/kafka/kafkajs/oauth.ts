import { Fault } from '@sluice/core';
import type { SaslOptions } from '../options.js';

const answerMs = 10_000;

/**
 * A token by the client credentials grant (RFC 6749, 4.4). kafkajs asks again for every connection and before a token
 * expires.
 */
export async function fetchToken(options: Extract<SaslOptions, { mechanism: 'oauthbearer' }>): Promise<string> {
  const { tokenUrl, clientId, clientSecret, scope } = options;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const headers = { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  let response: Response;
  try {
    response = await fetch(tokenUrl, { method: 'POST', headers, body: form, signal: AbortSignal.timeout(answerMs) });
  } catch (error) {
    throw new Fault(
      'storage',
      `The token endpoint ${tokenUrl} does not answer. Start it, or correct the address.`,
      true,
      {
        cause: error,
      },
    );
  }
  const body: unknown = await response.json().catch(() => null);
  const token = (body as { access_token?: unknown } | null)?.access_token;
  if (!response.ok || typeof token !== 'string') {
    throw new Fault(
      'storage',
      `The token endpoint ${tokenUrl} gave no token (status ${response.status}). Check the client id and its secret.`,
      response.status >= 500,
    );
  }
  return token;
}
