import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import type { JWK } from 'jose';

/** Issues credentials for trials: a key pair in a file of the user's own, in place of an identity provider. */
export interface TrialIssuer {
  /** With the private key: for the file that its owner alone reads. */
  readonly privateText: string;
  /** The public key as JWKS: for `identity.key_file`. */
  readonly publicText: string;
  token(claims: Readonly<Record<string, unknown>>, expiresAt: number): Promise<string>;
}

/** The issuer of this private text, or a new one. Throws an Error if the text holds no such key. */
export async function trialIssuer(privateText: string | null): Promise<TrialIssuer> {
  const own = privateText === null ? await newKey() : (JSON.parse(privateText) as JWK);
  const { d: secret, ...publicKey } = own;
  if (secret === undefined) throw new Error('it holds no private key');
  const key = await importJWK(own, 'EdDSA');
  return {
    privateText: `${JSON.stringify(own)}\n`,
    publicText: `${JSON.stringify({ keys: [publicKey] })}\n`,
    token: (claims, expiresAt) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'EdDSA', ...(own.kid === undefined ? {} : { kid: own.kid }) })
        .setExpirationTime(Math.floor(expiresAt / 1_000))
        .sign(key),
  };
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: 'trial', alg: 'EdDSA', use: 'sig' };
}
