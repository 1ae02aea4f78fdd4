import { createHmac, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWTHeaderParameters } from 'jose';
import { audience, issuer, newIssuer } from './issuer.js';
import type { Issuer } from './issuer.js';

const encoded = (value: unknown): string => text(JSON.stringify(value));
const text = (value: string): string => Buffer.from(value).toString('base64url');
const inAnHour = (): number => Math.floor(Date.now() / 1_000) + 3_600;
const claims = () => ({
  iss: issuer,
  aud: audience,
  sub: 'alice',
  tenant: 'acme',
  exp: inAnHour(),
  tool_groups: ['*'],
});

/** Signed by somebody with a key of their own, which the header offers in one way or another. */
async function ownKey(offer: (jwk: object) => object, kid = 'issuer-1'): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const header = { alg: 'RS256', kid, ...offer(await exportJWK(publicKey)) } as JWTHeaderParameters;
  return new SignJWT(claims()).setProtectedHeader(header).sign(privateKey);
}

function hs256(secret: string | Buffer, header: object = { alg: 'HS256', kid: 'issuer-1' }): string {
  const signed = `${encoded(header)}.${encoded(claims())}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** The parts of an honest credential, put together in another way. */
async function rearranged(honest: Issuer, arrange: (parts: readonly [string, string, string]) => string) {
  const [header = '', payload = '', signature = ''] = (await honest.token()).split('.');
  return arrange([header, payload, signature]);
}

const header = (value: object): string => encoded({ kid: 'issuer-1', ...value });

/** Credentials that were forged or that could be mistaken for honest ones, each by the trick that it tries. */
export const forgeries: readonly (readonly [string, (honest: Issuer) => Promise<string> | string])[] = [
  ['the algorithm none', () => `${header({ alg: 'none' })}.${encoded(claims())}.`],
  ['the algorithm None', () => `${header({ alg: 'None' })}.${encoded(claims())}.`],
  ['the algorithm none over an honest signature', (honest) => rearranged(honest, ([, payload, signature]) => `${header({ alg: 'none' })}.${payload}.${signature}`)],
  ['no algorithm', (honest) => rearranged(honest, ([, payload, signature]) => `${header({})}.${payload}.${signature}`)],
  ['the public key as PEM for a shared secret', ({ pem }) => hs256(pem)],
  ['the public key as JWK for a shared secret', ({ jwks }) => hs256(JSON.stringify(jwks.keys[0]))],
  ['the modulus for a shared secret', ({ jwks }) => hs256(Buffer.from(jwks.keys[0]?.n ?? '', 'base64url'))],
  ['an empty shared secret', () => hs256('')],
  ['a key id that is a path', () => hs256('', { alg: 'HS256', kid: '../../dev/null' })],
  ['a key id that is a query', () => ownKey(() => ({}), "' OR 1=1 --")],
  ['an empty signature', (honest) => rearranged(honest, ([head, payload]) => `${head}.${payload}.`)],
  ['no signature', (honest) => rearranged(honest, ([head, payload]) => `${head}.${payload}`)],
  ['the signature of another', (honest) => rearranged(honest, ([head, , signature]) => `${head}.${encoded(claims())}.${signature}`)],
  ['a signature of noise', (honest) => rearranged(honest, ([head, payload]) => `${head}.${payload}.${randomBytes(256).toString('base64url')}`)],
  ['claims twice over an honest signature', (honest) => rearranged(honest, ([head, , signature]) => `${head}.${text(`{"sub":"alice","sub":"root",${JSON.stringify(claims()).slice(1)}`)}.${signature}`)],
  ['an ECDSA signature of zeros', () => `${header({ alg: 'ES256' })}.${encoded(claims())}.${Buffer.alloc(64).toString('base64url')}`],
  ['another algorithm than the key’s', (honest) => rearranged(honest, ([, payload, signature]) => `${header({ alg: 'PS256' })}.${payload}.${signature}`)],
  ['a key of its own under an honest id', () => ownKey(() => ({}))],
  ['its own key in the header', () => ownKey((jwk) => ({ jwk }))],
  ['an address of its own keys', () => ownKey(() => ({ jku: 'https://evil.example/jwks' }))],
  ['an address of its own certificate', () => ownKey(() => ({ x5u: 'https://evil.example/cert.pem' }))],
  ['its own certificate', () => ownKey(() => ({ x5c: ['MIIB'] }))],
  ['a critical extension that nobody knows', (honest) => rearranged(honest, ([, payload, signature]) => `${header({ alg: 'RS256', crit: ['evil'], evil: true })}.${payload}.${signature}`)],
  ['a payload that is not encoded', (honest) => rearranged(honest, ([, payload, signature]) => `${header({ alg: 'RS256', crit: ['b64'], b64: false })}.${payload}.${signature}`)],
  ['five parts, as encrypted ones have', (honest) => rearranged(honest, ([head, payload, signature]) => `${head}..${payload}.${signature}.AAAA`)],
  ['an honest one inside it', async (honest) => `${header({ alg: 'none', cty: 'JWT' })}.${text(await honest.token())}.`],
  ['another issuer', (honest) => honest.token({ iss: 'https://evil.example' })],
  ['an issuer that begins like ours', (honest) => honest.token({ iss: `${issuer}.evil.example` })],
  ['another audience', (honest) => honest.token({ aud: 'other' })],
  ['no audience', (honest) => honest.token({ aud: undefined })],
  ['a key id of nobody', (honest) => honest.token({}, { kid: 'nobody' })],
  ['another issuer’s key', async () => (await newIssuer()).token()],
  ['a time that is over', (honest) => honest.token({ exp: inAnHour() - 7_200 })],
  ['a time that is text', (honest) => honest.token({ exp: String(inAnHour()) })],
  ['no end', (honest) => honest.token({ exp: undefined })],
  ['a beginning that is to come', (honest) => honest.token({ nbf: inAnHour() })],
  ['a tenant that is a number', (honest) => honest.token({ tenant: 7 })],
  ['a tenant that is a list', (honest) => honest.token({ tenant: ['acme', 'other'] })],
  ['a tenant that is an object', (honest) => honest.token({ tenant: { id: 'acme' } })],
  ['a tenant that is true', (honest) => honest.token({ tenant: true })],
  ['no tenant', (honest) => honest.token({ tenant: undefined })],
  ['a subject that is a list', (honest) => honest.token({ sub: ['alice', 'root'] })],
  ['no subject', (honest) => honest.token({ sub: undefined })],
]; // prettier-ignore
