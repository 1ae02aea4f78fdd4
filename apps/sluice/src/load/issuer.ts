import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import type { IssuerSettings, Mix } from './mix.js';

const lifeSeconds = 3_600;
/** A credential is made again when it has less than this left, in milliseconds. */
const renewMs = 600_000;

/**
 * Issues what the mix's users show. Their keys are made when there are none yet: they are for trying things out and
 * nothing else.
 */
export class Issuer {
  private readonly tokens = new Map<string, { readonly token: string; readonly until: number }>();

  private constructor(
    private readonly settings: IssuerSettings,
    private readonly users: NonNullable<Mix['users']>,
    private readonly key: CryptoKey,
    private readonly kid: string,
  ) {}

  static async open(settings: IssuerSettings, users: Mix['users'] = {}): Promise<Issuer> {
    const own = existsSync(settings.key_file) ? readKey(settings.key_file) : await makeKey(settings.key_file);
    const { kty, crv, x, y } = own;
    const open = { kty, crv, x, y } as JWK;
    const kid = await calculateJwkThumbprint(open);
    const jwks = JSON.stringify({ keys: [{ ...open, kid, alg: 'ES256', use: 'sig' }] });
    const there = existsSync(settings.jwks_file) ? readFileSync(settings.jwks_file, 'utf8') : '';
    if (there !== jwks) replace(settings.jwks_file, jwks, 0o644);
    return new Issuer(settings, users, (await importJWK(own, 'ES256')) as CryptoKey, kid);
  }

  async token(user: string): Promise<string> {
    const now = Date.now();
    const known = this.tokens.get(user);
    if (known !== undefined && known.until - now > renewMs) return known.token;
    const { tenant = '', groups = [] } = this.users[user] ?? {};
    const exp = Math.floor(now / 1_000) + lifeSeconds;
    const { name: iss, audience: aud } = this.settings;
    const token = await new SignJWT({ iss, aud, sub: user, tenant, tool_groups: groups, exp })
      .setProtectedHeader({ alg: 'ES256', kid: this.kid })
      .sign(this.key);
    this.tokens.set(user, { token, until: exp * 1_000 });
    return token;
  }
}

function readKey(file: string): JWK {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JWK;
  } catch (error) {
    throw new Error(`The key ${file} cannot be read: ${(error as Error).message}. Delete it for a new one.`, {
      cause: error,
    });
  }
}

async function makeKey(file: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  replace(file, JSON.stringify(await exportJWK(privateKey)), 0o600);
  return readKey(file);
}

/** Whole or not at all, since another process may begin at the same time. */
function replace(file: string, text: string, mode: number): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const fresh = `${file}.${process.pid}`;
    writeFileSync(fresh, text, { mode });
    renameSync(fresh, file);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
}
