import { boundedJson } from '../bounded-json.js';
import type { KeySource } from './issuer-keys.js';

/** How long discovery may take, and how long its answer is kept, in milliseconds. */
const timeoutMs = 5_000;
const keptMs = 3_600_000;

/** Of the document, in bytes. */
const longest = 262_144;

/**
 * The issuer's keys by OpenID Connect discovery: its document names their address, and must name the issuer itself.
 * Where it cannot be read, the next credential asks again; while it can, the address is looked up once an hour.
 */
export function discovered(issuer: string, keysAt: (address: string) => KeySource): KeySource {
  let found: { readonly keys: Promise<KeySource>; readonly address: Promise<string>; readonly at: number } | undefined;
  const find = async (): Promise<KeySource> => {
    if (found !== undefined && performance.now() - found.at < keptMs) return found.keys;
    const before = found;
    const address = readAddress(issuer);
    // The same address keeps the keys that were read from it.
    const keys = address.then(async (now) =>
      before !== undefined && now === (await before.address) ? before.keys : keysAt(now),
    );
    const looking = { keys, address, at: performance.now() };
    found = looking;
    keys.catch(() => {
      if (found === looking) found = undefined;
    });
    return keys;
  };
  return async (header, token) => (await find())(header, token);
}

/** Where the issuer’s keys are. Rejects with what is wrong with its document. */
export async function readAddress(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answered with ${response.status}`);
  }
  const { issuer: named, jwks_uri: address } = Object(await boundedJson(response, longest)) as Record<string, unknown>;
  // Else the document of another issuer could replace this one's keys.
  if (named !== issuer) throw new Error(`${url} names another issuer; write identity.issuer as the document has it`);
  if (typeof address !== 'string' || !/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new Error(`${url} names no jwks_uri`);
  return address;
}
