import type { Clock, ConnectionAnswer, ConnectionSettings, ConnectionUse } from '@sluice/core';

type Settings = Extract<ConnectionSettings, { readonly adapter: 'http' }>;

interface HttpParts {
  secret(variable: string): string | undefined;
  readonly clock: Clock;
  /** How long the broker may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** Bytes of an answer. */
const longestAnswer = 65_536;
/** Longest life that is believed, in seconds: a day. */
const longestLife = 86_400;

/**
 * Asks an operator's broker for a credential: who wants it for what, as references. It answers as OAuth token
 * endpoints do, with `access_token` and `expires_in`; 403 and 404 are its no. Never rejects.
 */
export async function fromHttp(
  settings: Settings,
  use: ConnectionUse,
  refused: boolean,
  given: HttpParts,
): Promise<ConnectionAnswer> {
  const askedAt = given.clock.now();
  try {
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...keyHeader(settings, given) };
    const response = await fetch(settings.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        connection: settings.id,
        tenant: use.tenantId,
        actor: use.actorId,
        subject: use.subjectId,
        refused,
      }),
      // A broker that sends elsewhere would have its key sent there too.
      redirect: 'error',
      signal: AbortSignal.timeout(given.timeoutMs),
    });
    if (response.status === 200) return read(await boundedText(response, longestAnswer), settings, askedAt);
    await response.body?.cancel();
    if (response.status === 403 || response.status === 404)
      return { ok: false, why: 'denied', message: `The broker at ${settings.url} gives none (${response.status}).` };
    return unreachable(settings, `it answered with ${response.status}`);
  } catch (error) {
    return unreachable(settings, reasonOf(error, given.timeoutMs));
  }
}

function keyHeader({ keyEnv }: Settings, { secret }: HttpParts): Record<string, string> {
  if (keyEnv === null) return {};
  const key = secret(keyEnv);
  if (key === undefined) throw new KeyMissing(`neither ${keyEnv} nor ${keyEnv}_FILE is set`);
  return { authorization: `Bearer ${key}` };
}

class KeyMissing extends Error {}

function read(text: string | null, settings: Settings, askedAt: number): ConnectionAnswer {
  if (text === null) return unreachable(settings, `its answer has more than ${longestAnswer} bytes`);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return unreachable(settings, 'its answer is no JSON');
  }
  const { access_token: token, expires_in: life } = Object(answer) as Readonly<Record<string, unknown>>;
  if (typeof token !== 'string') return unreachable(settings, 'its answer has no `access_token`');
  if (life !== undefined && life !== null && !(typeof life === 'number' && life >= 0))
    return unreachable(settings, 'its `expires_in` is no number of seconds');
  const expiresAt = typeof life === 'number' ? askedAt + Math.min(life, longestLife) * 1_000 : null;
  return { ok: true, credential: { token, expiresAt } };
}

function unreachable({ url }: Settings, why: string): ConnectionAnswer {
  return { ok: false, why: 'unreachable', message: `The broker at ${url} gave no credential: ${why}.` };
}

/** In words of our own: an error's text may repeat what was sent, and so the key. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof KeyMissing) return error.message;
  const { name, cause } = Object(error) as { readonly name?: unknown; readonly cause?: unknown };
  if (name === 'TimeoutError') return `it did not answer within ${timeoutMs / 1_000} s`;
  const { code } = Object(cause) as { readonly code?: unknown };
  return typeof code === 'string' ? `it cannot be reached (${code})` : 'it cannot be reached, or its answer broke off';
}

/** A response's body as text; null as soon as it is larger than so many bytes, and then no more of it is read. */
async function boundedText({ body }: Response, bytes: number): Promise<string | null> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    if (read > bytes) return null; // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
