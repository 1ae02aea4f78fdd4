import { setTimeout as delay } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { ProxySettings } from './proxy-settings.js';

/**
 * How long an endpoint may take, in milliseconds: to be connected to, until its first byte, and between two bytes of
 * its turn.
 */
export const patience = { connectMs: 10_000, firstByteMs: 300_000, silenceMs: 120_000 } as const;

/**
 * Waits that an endpoint asks for with Retry-After (or retry-after-ms, in milliseconds) are kept here, so that no
 * other request goes before; a longer one is the bus’s.
 */
const longestWaitMs = 20_000;
const mostWaits = 3;

/** A request to a provider, complete: what is signed is what is sent. */
export interface ProviderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One that only asks. */
interface QueryRequest extends Pick<ProviderRequest, 'url' | 'headers'> {
  readonly body?: undefined;
}

export interface ProviderResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** One for each way out: straight, or through the proxies of the network. */
const dispatchers = new Map<string, Dispatcher>();

/**
 * Sends a request; where the endpoint asks for a short wait, waits and sends it again. Throws what undici throws, or
 * the signal’s reason.
 */
export async function send(
  request: ProviderRequest | QueryRequest,
  signal: AbortSignal,
  proxy: ProxySettings = {},
): Promise<ProviderResponse> {
  for (let waits = 0; ; waits += 1) {
    const response = await sendOnce(request, signal, proxy);
    const waitMs = waits < mostWaits ? askedWait(response) : null;
    if (waitMs === null) return response;
    response.body.destroy();
    await delay(waitMs, undefined, { signal });
  }
}

async function sendOnce(
  { url, headers, body }: ProviderRequest | QueryRequest,
  signal: AbortSignal,
  proxy: ProxySettings,
): Promise<ProviderResponse> {
  const undici = await import('undici');
  const way = JSON.stringify(proxy);
  let dispatcher = dispatchers.get(way);
  if (dispatcher === undefined) {
    const times = {
      connect: { timeout: patience.connectMs },
      headersTimeout: patience.firstByteMs,
      bodyTimeout: patience.silenceMs,
    };
    const isStraight = Object.keys(proxy).length === 0;
    dispatcher = isStraight
      ? new undici.Agent(times)
      : new undici.EnvHttpProxyAgent({ ...times, noProxy: '', ...proxy });
    dispatchers.set(way, dispatcher);
  }
  const answer = await undici.request(url, {
    ...(body === undefined
      ? { method: 'GET' as const, headers }
      : { method: 'POST' as const, headers: { 'content-type': 'application/json', ...headers }, body }),
    signal,
    dispatcher,
  });
  // The connection may break before the body is read; without a listener that would end the process.
  answer.body.on('error', () => undefined);
  return { status: answer.statusCode, headers: answer.headers, body: answer.body };
}

/** The wait that a response asks for; null where it asks for none, or for one that is too long to be kept here. */
function askedWait({ status, headers }: ProviderResponse): number | null {
  if (status !== 429 && status !== 503 && status !== 529) return null;
  const [given, inMs] = [headers['retry-after'], headers['retry-after-ms']];
  const waitMs = numberIn(inMs) ?? (typeof given === 'string' ? waitOf(given) : Number.NaN);
  return waitMs <= longestWaitMs ? Math.max(0, waitMs) : null;
}

/** Seconds, which some endpoints give with a fraction, or a date. */
function waitOf(given: string): number {
  const seconds = numberIn(given);
  return seconds === null ? Date.parse(given) - Date.now() : Math.ceil(seconds * 1_000);
}

function numberIn(given: string | string[] | undefined): number | null {
  return typeof given === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(given.trim()) ? Number(given) : null;
}

/** Bytes of an error’s body that are read. */
const largestError = 1 << 16;

/** The beginning of a body, as text; what cannot be read of it is left out. */
export async function beginningOf({ body }: ProviderResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= largestError) break;
    }
  } catch {
    // The status alone says enough.
  } finally {
    body.destroy();
  }
  return Buffer.concat(pieces).subarray(0, largestError).toString('utf8');
}
