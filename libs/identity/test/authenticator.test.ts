import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import { Fault } from '@sluice/core';
import type { Authentication, IdentitySettings } from '@sluice/core';
import { createAuthenticator } from '@sluice/identity';
import { audience, issuer, newIssuer, serveKeys } from './issuer.js';
import type { Issuer } from './issuer.js';

const claims = { actor: 'sub', tenant: 'tenant', subject: null, groups: 'tool_groups', connections: null };
const folder = mkdtempSync(join(tmpdir(), 'sluice-identity-'));
afterAll(() => rmSync(folder, { recursive: true }));
const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1_000);

function settings(where: { readonly jwksUrl?: string; readonly keyFile?: string }): IdentitySettings {
  return { provider: 'jwt', jwksUrl: null, keyFile: null, issuer, audience, claims, ...where };
}

describe('a credential', () => {
  let honest: Issuer;
  let keys: Awaited<ReturnType<typeof serveKeys>>;
  let authenticate: (authorization: string | undefined, at?: number) => Promise<Authentication>;
  beforeAll(async () => {
    honest = await newIssuer();
    keys = await serveKeys(honest.jwks);
    const authenticator = createAuthenticator();
    authenticate = (authorization, at = Date.now()) =>
      authenticator.authenticate(settings({ jwksUrl: keys.url }), authorization, at);
  });
  afterAll(() => keys.close());

  it('that is valid names who asks (G-88)', async () => {
    const token = await honest.token({ tool_groups: ['read-only'] });
    const principal = {
      actorId: 'user:alice',
      tenantId: 'acme',
      subjectId: null,
      groups: ['read-only'],
      connections: [],
    };
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({
      ok: true,
      principal,
      claims: { tool_groups: ['read-only'] },
    });
    expect(await authenticate(`bearer ${token}`)).toMatchObject({ ok: true });
  });

  it('is judged by when the log took the request, not by now', async () => {
    const hour = 3_600_000;
    const token = `Bearer ${await honest.token({ exp: seconds(Date.now() - hour) })}`;
    expect(await authenticate(token, Date.now() - 2 * hour)).toMatchObject({ ok: true });
    expect(await authenticate(token)).toEqual({
      ok: false,
      message: 'The credential is refused: it had expired when the log took the request.',
    });
    const early = `Bearer ${await honest.token({ nbf: seconds(Date.now() + hour) })}`;
    expect(await authenticate(early)).toMatchObject({ ok: false, message: expect.stringContaining('"nbf"') });
  });

  it.each<[string, () => string | undefined | Promise<string>, string]>([
    ['is not there', () => undefined, 'carries no credential'],
    ['is empty', () => 'Bearer ', 'carries no credential'],
    ['is of another scheme', () => 'Basic YWxpY2U6c2VjcmV0', 'carries no credential'],
    ['is no JWT', () => 'Bearer hunter2', 'is not a signed JWT'],
    [
      'has the algorithm none',
      () => `Bearer ${new UnsecuredJWT({ sub: 'alice' }).encode()}`,
      'not signed with an algorithm that is accepted',
    ],
    [
      'is signed with the public key as a shared secret',
      () => bearer(new SignJWT({ sub: 'alice' }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(honest.pem))),
      'not signed with an algorithm that is accepted',
    ],
    ['is signed with another’s key', async () => bearer((await newIssuer()).token()), 'no key of the issuer'],
    ['names a key that the issuer has not', () => bearer(honest.token({}, { kid: 'other' })), 'no key of the issuer'],
    ['was altered', async () => altered(await honest.token({ tool_groups: [] })), 'no key of the issuer'],
    ['is of another issuer', () => bearer(honest.token({ iss: 'https://other.example' })), '"iss"'],
    ['is for somebody else', () => bearer(honest.token({ aud: 'other' })), '"aud"'],
    ['never expires', () => bearer(honest.token({ exp: undefined })), '"exp"'],
    ['names no one', () => bearer(honest.token({ sub: undefined })), '"sub" names no one'],
    ['names no tenant', () => bearer(honest.token({ tenant: '' })), '"tenant" names no tenant'],
  ])('that %s is refused, and nothing of it is repeated', async (_, make, said) => {
    const authorization = await make();
    const verdict = await authenticate(authorization);
    expect(verdict).toEqual({ ok: false, message: expect.stringContaining(said) });
    const token = authorization?.split(' ')[1] ?? '';
    if (token !== '') expect(JSON.stringify(verdict)).not.toContain(token);
  });
});

describe('where the keys are', () => {
  it('an address that does not answer is a retryable fault, no denial, and is tried again (G-93)', async () => {
    const honest = await newIssuer();
    const keys = await serveKeys(honest.jwks);
    try {
      keys.broken = true;
      const authenticator = createAuthenticator();
      const ask = async () =>
        authenticator.authenticate(settings({ jwksUrl: keys.url }), await bearer(honest.token()), Date.now());
      await expect(ask()).rejects.toMatchObject({ name: 'Fault', code: 'identity_unreachable', retryable: true });
      keys.broken = false;
      expect(await ask()).toMatchObject({ ok: true });
      expect(await ask()).toMatchObject({ ok: true });
      expect(keys.asked).toBe(2);
    } finally {
      await keys.close();
    }
    const gone = createAuthenticator().authenticate(settings({ jwksUrl: keys.url }), await bearer(honest.token()), 0);
    await expect(gone).rejects.toBeInstanceOf(Fault);
  });

  it('a file holds a JWKS or one key as PEM', async () => {
    const honest = await newIssuer();
    for (const [name, text] of Object.entries({ 'keys.json': JSON.stringify(honest.jwks), 'key.pem': honest.pem })) {
      const keyFile = join(folder, name);
      writeFileSync(keyFile, text);
      const authenticator = createAuthenticator();
      const ask = (authorization: string) =>
        authenticator.authenticate(settings({ keyFile }), authorization, Date.now());
      expect(await ask(await bearer(honest.token()))).toMatchObject({ ok: true });
      expect(await ask(await bearer((await newIssuer()).token()))).toMatchObject({ ok: false });
      const otherKind = new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(honest.pem));
      expect(await ask(await bearer(otherKind))).toMatchObject({ ok: false });
    }
  });

  it.each([
    ['is not there', join(folder, 'absent.json'), undefined],
    ['holds nothing of use', join(folder, 'odd.json'), '{"keys":7}'],
    ['holds no PEM', join(folder, 'odd.pem'), 'hello'],
  ])('a file that %s is a retryable fault', async (_, keyFile, text) => {
    if (text !== undefined) writeFileSync(keyFile, text);
    const token = await bearer((await newIssuer()).token());
    const asked = createAuthenticator().authenticate(settings({ keyFile }), token, Date.now());
    await expect(asked).rejects.toMatchObject({ code: 'identity_unreachable', retryable: true });
  });

  it('none is needed while no identity is configured: everybody is one local principal (XG-12)', async () => {
    const verdict = await createAuthenticator().authenticate({ provider: 'none' }, undefined, 0);
    expect(verdict).toMatchObject({ ok: true, principal: { actorId: 'user:local', tenantId: 'local', groups: ['*'] } });
  });
});

async function bearer(token: string | Promise<string>): Promise<string> {
  return `Bearer ${await token}`;
}

/** The same signature over another payload. */
function altered(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const more = Buffer.from(JSON.stringify({ ...claims, tool_groups: ['*'] })).toString('base64url');
  return `Bearer ${header}.${more}.${signature}`;
}
