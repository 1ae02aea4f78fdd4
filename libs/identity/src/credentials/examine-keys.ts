import type { CheckResult, JwtSettings } from '@sluice/core';
import { boundedJson } from '../bounded-json.js';
import { readAddress } from './discovery.js';
import { keyFileProblem } from './key-source.js';

const timeoutMs = 4_000;
/** Of the keys, in bytes. */
const longest = 1_048_576;

interface ExaminedKeys extends CheckResult {
  /** What time it is there by its answer’s header, to the second, and here then; null where it does not say. */
  readonly clock: { readonly there: number; readonly here: number } | null;
}

/** Reads the keys that credentials are verified with, as a service would. */
export async function examineKeys({ jwksUrl, keyFile, issuer }: JwtSettings): Promise<ExaminedKeys> {
  if (keyFile !== null) {
    const problem = await keyFileProblem(keyFile);
    return problem === null
      ? { outcome: 'ok', detail: `The keys of the issuer are in ${keyFile}.`, clock: null }
      : { outcome: 'failed', detail: `The file ${keyFile} of the issuer’s keys ${problem}.`, clock: null };
  }
  const action = 'Start the identity provider, or correct identity.jwks_url or identity.issuer.';
  try {
    const address = jwksUrl ?? (await readAddress(issuer));
    const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    const date = Date.parse(response.headers.get('date') ?? '');
    const clock = Number.isNaN(date) ? null : { there: date, here: Date.now() };
    if (response.status !== 200) {
      await response.body?.cancel();
      return { outcome: 'failed', detail: `${address} answers with ${response.status}.`, action, clock };
    }
    const { keys } = Object(await boundedJson(response, longest)) as { readonly keys?: unknown };
    if (!Array.isArray(keys) || keys.length === 0)
      return { outcome: 'failed', detail: `${address} has no keys (a JWKS).`, action, clock };
    const count = keys.length === 1 ? 'one key' : `${keys.length} keys`;
    return { outcome: 'ok', detail: `The issuer’s ${count} can be had from ${address}.`, clock };
  } catch (error) {
    const { message } = (error as { cause?: Error }).cause ?? (error as Error);
    const detail = `The issuer’s keys cannot be had from ${jwksUrl ?? issuer}: ${message}.`;
    return { outcome: 'failed', detail, action, clock: null };
  }
}
