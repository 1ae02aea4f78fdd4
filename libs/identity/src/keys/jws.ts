import { sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const algorithm = 'EdDSA';
const signatureBytes = 64;

interface Opened {
  readonly payload: Buffer;
  readonly typ: string | undefined;
}

/**
 * A compact JWS (RFC 7515, RFC 8037), made at once by Node’s own Ed25519. A library that signs through the Web Crypto
 * API hands each signature to another thread and waits for it, which costs more than the signature, and on a
 * service’s every record.
 */
export function signJws(payload: Buffer, kid: string, key: KeyObject, typ?: string): string {
  const header = JSON.stringify({ alg: algorithm, kid, ...(typ === undefined ? {} : { typ }) });
  const signed = `${Buffer.from(header).toString('base64url')}.${payload.toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/** What a genuine JWS says. Null if it is none, or not by a key that `keyOf` knows by its name; never throws. */
export function openJws(jws: string, keyOf: (kid: string) => KeyObject | undefined): Opened | null {
  const [head = '', body = '', tail = '', ...more] = jws.split('.');
  const signature = Buffer.from(tail, 'base64url');
  // Another spelling of the same signature is not the token that was signed.
  if (more.length > 0 || signature.length !== signatureBytes || signature.toString('base64url') !== tail) return null;
  const header = readHeader(head);
  const key = header === null ? undefined : keyOf(header.kid);
  if (header === null || key === undefined) return null;
  if (!verify(null, Buffer.from(`${head}.${body}`), key, signature)) return null;
  return { payload: Buffer.from(body, 'base64url'), typ: header.typ };
}

/** The key that a JWS names; null if it is none. */
export function keyIdOf(jws: string): string | null {
  return readHeader(jws.split('.')[0] ?? '')?.kid ?? null;
}

/** Only what we write ourselves: another algorithm, or an extension that must be understood (`crit`), is none of it. */
function readHeader(text: string): { readonly kid: string; readonly typ: string | undefined } | null {
  try {
    const header = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Readonly<
      Record<string, unknown>
    > | null;
    const { alg, kid, typ, crit } = header ?? {};
    if (alg !== algorithm || crit !== undefined || typeof kid !== 'string') return null;
    return typ === undefined || typeof typ === 'string' ? { kid, typ } : null;
  } catch {
    return null;
  }
}
