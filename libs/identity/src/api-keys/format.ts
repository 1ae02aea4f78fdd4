import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `sluice_<id>_<secret>`: so that scanners for leaked secrets know one, and no JWT looks like it. */
const form = /^sluice_([0-9a-f]{12})_([\w-]{43})$/;

interface ApiKeyParts {
  readonly id: string;
  readonly secret: string;
}

/** Whether it is meant as an API key. */
export function isApiKey(token: string): boolean {
  return token.startsWith('sluice_');
}

export function apiKeyParts(token: string): ApiKeyParts | null {
  const [, id, secret] = form.exec(token) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}

export function newApiKey(): ApiKeyParts & { readonly token: string } {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  return { id, secret, token: `sluice_${id}_${secret}` };
}

/** Without salt and many rounds: the secret is 256 random bits, which cannot be guessed. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function isSecretOf(secret: string, hash: string): boolean {
  const [own, stored] = [Buffer.from(hashOf(secret)), Buffer.from(hash)];
  return own.length === stored.length && timingSafeEqual(own, stored);
}
