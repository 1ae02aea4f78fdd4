import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { JSONWebKeySet } from 'jose';

export const issuer = 'https://issuer.example';
export const audience = 'sluice';

/** Somebody who issues credentials, with an RSA key. */
export interface Issuer {
  readonly jwks: JSONWebKeySet;
  /** The public key as PEM. */
  readonly pem: string;
  /** A credential for an hour, unless the claims say otherwise. */
  token(claims?: Readonly<Record<string, unknown>>, header?: { readonly kid?: string }): Promise<string>;
}

export async function newIssuer(kid = 'issuer-1'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }] };
  return {
    jwks,
    pem: await exportSPKI(publicKey),
    token: (claims = {}, header = {}) => {
      const exp = Math.floor(Date.now() / 1_000) + 3_600;
      const payload = { iss: issuer, aud: audience, sub: 'alice', tenant: 'acme', exp, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(privateKey);
    },
  };
}

/** Serves a key set over HTTP; `broken` makes it answer with 503. */
export async function serveKeys(jwks: JSONWebKeySet) {
  const server = createServer((_, response) => {
    state.asked++;
    if (state.broken) response.writeHead(503).end();
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    asked: 0,
    broken: false,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
  return state;
}
