import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Made from a signing key, and good for nothing but hashes: neither tells anything about the other. */
export interface HashKey {
  readonly kid: string;
  readonly key: KeyObject;
}

const purpose = 'sluice keyed hash';

/** `d` is the private part of the key `kid`, base64url. */
export function hashKey(kid: string, d: string): HashKey {
  return { kid, key: createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, 32))) };
}

/** `<kid>:<HMAC-SHA-256 of the text in UTF-8, hexadecimal>`. */
export function keyedHash({ kid, key }: HashKey, text: string): string {
  return `${kid}:${createHmac('sha256', key).update(text).digest('hex')}`;
}
