import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { CompactSign, compactVerify } from 'jose';
import { openJws, signJws } from '../src/keys/jws.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const payload = Buffer.from('{"tools":["core__a"],"state":"é"}');
const keyOf = (kid: string) => (kid === 'ours' ? publicKey : undefined);
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signed in earnest, whatever the header says. */
const withHeader = (header: Record<string, unknown>, crit?: Record<string, boolean>) =>
  new CompactSign(payload)
    .setProtectedHeader({ alg: 'EdDSA', ...header })
    .sign(privateKey, crit === undefined ? {} : { crit });

describe('a compact JWS', () => {
  it.each([undefined, 'sluice-batch'])('of type %s is read by other libraries', async (typ) => {
    const { payload: read, protectedHeader } = await compactVerify(
      signJws(payload, 'ours', privateKey, typ),
      publicKey,
    );
    expect(Buffer.from(read)).toEqual(payload);
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'ours', ...(typ === undefined ? {} : { typ }) });
  });

  it('of another library is read', async () => {
    expect(openJws(await withHeader({ kid: 'ours', typ: 'x' }), keyOf)).toEqual({ payload, typ: 'x' });
  });

  it('whose every character but one is right is none', () => {
    const honest = signJws(payload, 'ours', privateKey);
    expect(openJws(honest, keyOf)).not.toBeNull();
    for (let n = 0; n < honest.length; n++) {
      const other = honest[n] === 'A' ? 'B' : 'A';
      expect(openJws(honest.slice(0, n) + other + honest.slice(n + 1), keyOf)).toBeNull();
    }
  });

  it.each<[string, (honest: string) => string | Promise<string>]>([
    [
      'asks for an extension that must be understood',
      () => withHeader({ kid: 'ours', crit: ['exp'], exp: 1 }, { exp: true }),
    ],
    ['has a header that is no object', (honest) => honest.replace(/^[^.]+/, part(null))],
    ['has a header that is no JSON', (honest) => honest.replace(/^[^.]+/, 'AAAA')],
    ['has a type that is no text', (honest) => honest.replace(/^[^.]+/, part({ alg: 'EdDSA', kid: 'ours', typ: 1 }))],
    ['has a part too many', (honest) => `${honest}.${part({})}`],
    ['has a signature spelled otherwise', (honest) => `${honest}=`],
    ['has a signature with something behind it', (honest) => `${honest}AAAA`],
  ])('that %s is none', async (_, make) => {
    expect(openJws(await make(signJws(payload, 'ours', privateKey)), keyOf)).toBeNull();
  });
});
