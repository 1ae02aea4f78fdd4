import type { FoundPermissions, PermissionQuestion, PermissionSource, PermissionSourceSettings } from '@sluice/core';
import { boundedJson } from '../bounded-json.js';
import { readFound } from './found.js';

type Settings = Extract<PermissionSourceSettings, { readonly kind: 'http' }>;

/** Bytes of an answer, and callers whose answers are kept. */
const longest = 65_536;
const mostKept = 10_000;

interface Kept {
  readonly answer: Promise<FoundPermissions | null>;
  readonly until: number;
}

/**
 * Asks an operator's service: POST with tenant, actor and subject; 200 with `groups` and perhaps `connections`, or
 * 404 for a caller it does not know. An answer is kept for `cacheMs`, a failure is not: the next request asks again.
 */
export function lookupOverHttp(settings: Settings, secret: (variable: string) => string | undefined): PermissionSource {
  const kept = new Map<string, Kept>();
  return {
    find: ({ tenantId, actorId, subjectId }) => {
      const key = JSON.stringify([tenantId, actorId, subjectId]);
      const before = kept.get(key);
      if (before !== undefined && performance.now() < before.until) return before.answer;
      const answer = ask({ tenantId, actorId, subjectId }, settings, secret);
      const entry = { answer, until: performance.now() + settings.cacheMs };
      kept.delete(key);
      kept.set(key, entry);
      const oldest = kept.keys().next().value;
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      answer.catch(() => {
        if (kept.get(key) === entry) kept.delete(key);
      });
      return answer;
    },
  };
}

async function ask(
  { tenantId: tenant, actorId: actor, subjectId: subject }: PermissionQuestion,
  { url, keyEnv, timeoutMs }: Settings,
  secret: (variable: string) => string | undefined,
): Promise<FoundPermissions | null> {
  const key = keyEnv === null ? undefined : secret(keyEnv);
  if (keyEnv !== null && key === undefined) throw new Error(`neither ${keyEnv} nor ${keyEnv}_FILE is set`);
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ tenant, actor, subject }),
      // A service that sends elsewhere would have its key sent there too.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    throw new Error(reasonOf(error, timeoutMs), { cause: error });
  }
  if (response.status === 200) return readFound(await boundedJson(response, longest), 'the answer');
  await response.body?.cancel();
  if (response.status === 404) return null;
  throw new Error(`it answered with ${response.status}`);
}

/** In words of our own: an error's text may repeat what was sent, and so the key. */
function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, cause } = Object(error) as { readonly name?: unknown; readonly cause?: unknown };
  if (name === 'TimeoutError') return `it did not answer within ${timeoutMs / 1_000} s`;
  const { code } = Object(cause) as { readonly code?: unknown };
  return typeof code === 'string' ? `it cannot be reached (${code})` : 'it cannot be reached, or its answer broke off';
}
