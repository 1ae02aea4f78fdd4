import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { JwtSettings, PermissionSettings } from '@sluice/core';
import { createAuthenticator } from '@sluice/identity';
import { audience, issuer, newIssuer } from './issuer.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-permissions-'));
afterAll(() => rmSync(folder, { recursive: true }));

const honest = await newIssuer();
const keyFile = join(folder, 'issuer.json');
writeFileSync(keyFile, JSON.stringify(honest.jwks));
const claims = { actor: 'sub', tenant: 'tenant', subject: 'for', groups: 'realm_access.roles', connections: null };

function settings(permissions?: PermissionSettings): JwtSettings {
  const where = { jwksUrl: null, keyFile, issuer, audience, claims };
  return { provider: 'jwt', ...where, ...(permissions === undefined ? {} : { permissions }) };
}

async function groupsOf(permissions: PermissionSettings | undefined, given: object, parts = {}): Promise<unknown> {
  const authenticator = createAuthenticator(parts);
  const sent = await authenticator.authenticate(
    settings(permissions),
    `Bearer ${await honest.token({ ...given })}`,
    Date.now(),
  );
  return sent.ok ? sent.principal.groups : sent;
}

describe('permissions from claims', () => {
  it('are found by a path, and by a name with dots before it (G-87)', async () => {
    expect(await groupsOf(undefined, { realm_access: { roles: ['read-only'] } })).toEqual(['read-only']);
    expect(await groupsOf(undefined, { 'realm_access.roles': ['write'], realm_access: { roles: ['no'] } })).toEqual([
      'write',
    ]);
    expect(await groupsOf(undefined, { realm_access: 'text' })).toEqual([]);
    expect(await groupsOf(undefined, { realm_access: { roles: 7 } })).toMatchObject({ ok: false });
  });

  it('are the groups of the mapped roles, and a role that is not mapped gives nothing (G-87)', async () => {
    const roles = { analyst: ['read-only', 'search'], editor: ['write', 'search'] };
    const given = { realm_access: { roles: ['analyst', 'editor', 'toString', 'write'] } };
    expect(await groupsOf({ roles }, given)).toEqual(['read-only', 'search', 'write']);
  });
});

describe('permissions from a file of users', () => {
  const path = join(folder, 'users.yaml');
  const source = { kind: 'file', path } as const;

  it('are those of the user in its tenant, whatever the credential says, and a change holds at once (G-88, G-06)', async () => {
    writeFileSync(
      path,
      'acme:\n  user:alice: [read-only]\nglobex:\n  user:alice: { groups: [write], connections: [crm] }\n',
    );
    const asks = { realm_access: { roles: ['*'] } };
    expect(await groupsOf({ source }, asks)).toEqual(['read-only']);
    expect(await groupsOf({ source }, { ...asks, tenant: 'globex' })).toEqual(['write']);
    expect(await groupsOf({ source }, { ...asks, sub: 'bob' })).toEqual([]);
    expect(await groupsOf({ source, roles: { 'read-only': ['a', 'b'] } }, asks)).toEqual(['a', 'b']);

    const authenticator = createAuthenticator();
    const ask = async () =>
      authenticator.authenticate(settings({ source }), `Bearer ${await honest.token()}`, Date.now());
    expect(await ask()).toMatchObject({ principal: { groups: ['read-only'] } });
    writeFileSync(path, 'acme: { user:alice: [read-only, write-too] }\n');
    expect(await ask()).toMatchObject({ principal: { groups: ['read-only', 'write-too'] } });
  });

  it.each([
    ['that is not there', null, 'it is not there'],
    ['that is no YAML', 'a: [', 'it is no YAML'],
    ['whose groups are no list', 'acme: { user:bob: read-only }', 'the user user:bob of acme has no list'],
  ])('a file %s is a fault and no denial (G-93)', async (_, text, said) => {
    rmSync(path, { force: true });
    if (text !== null) writeFileSync(path, text);
    await expect(groupsOf({ source }, {})).rejects.toMatchObject({
      code: 'identity_unreachable',
      retryable: true,
      message: expect.stringContaining(said),
    });
  });
});

describe('permissions from a lookup over HTTP', () => {
  it('are asked for once in a while, with the caller and the key, and a failure permits nothing (G-88, G-93)', async () => {
    const asked: unknown[] = [];
    let answer: [number, unknown] = [200, { groups: ['read-only'], connections: ['crm'] }];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        asked.push({ ...(JSON.parse(body) as object), key: request.headers.authorization });
        response.writeHead(answer[0]).end(JSON.stringify(answer[1]));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const source = { kind: 'http', url, keyEnv: 'KEY', timeoutMs: 1_000, cacheMs: 60_000 } as const;
      const secret = (name: string): string | undefined => (name === 'KEY' ? 'k-1' : undefined);
      const authenticator = createAuthenticator({ secret });
      const ask = async (given: object = {}) =>
        authenticator.authenticate(settings({ source }), `Bearer ${await honest.token({ ...given })}`, Date.now());

      const found = { groups: ['read-only'], connections: ['crm'] };
      expect(await ask()).toMatchObject({ ok: true, principal: found });
      expect(await ask()).toMatchObject({ ok: true, principal: found });
      expect(asked).toEqual([{ tenant: 'acme', actor: 'user:alice', subject: null, key: 'Bearer k-1' }]);

      answer = [404, {}];
      expect(await ask({ sub: 'bob', for: 'carol' })).toMatchObject({
        ok: true,
        principal: { groups: [], connections: [] },
      });
      expect(asked[1]).toMatchObject({ actor: 'user:bob', subject: 'user:carol' });

      for (const failing of [
        [500, {}],
        [200, { groups: 'all' }],
        [403, {}],
        [200, 7],
      ] as const) {
        answer = [...failing];
        await expect(ask({ sub: 'dan' })).rejects.toMatchObject({ code: 'identity_unreachable', retryable: true });
      }
      answer = [200, { groups: ['write'] }];
      expect(await ask({ sub: 'dan' })).toMatchObject({ principal: { groups: ['write'] } });
      // What is kept is of this caller alone, and is believed while the service is away.
      answer = [500, {}];
      expect(await ask()).toMatchObject({ principal: found });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('an issuer alone', () => {
  it('says by its discovery document where its keys are, and must name itself (G-87)', async () => {
    let named = '';
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const isDocument = request.url === '/realms/a/.well-known/openid-configuration';
      response.end(JSON.stringify(isDocument ? { issuer: named, jwks_uri: `${base}/jwks` } : honest.jwks));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const own = `${base}/realms/a`;
    try {
      const authenticator = createAuthenticator();
      const given = { ...settings(), keyFile: null, issuer: own };
      const ask = async (claimed = own) =>
        authenticator.authenticate(given, `Bearer ${await honest.token({ iss: claimed })}`, Date.now());
      named = `${base}/realms/b`;
      await expect(ask()).rejects.toMatchObject({ code: 'identity_unreachable', retryable: true });
      named = own;
      expect(await ask()).toMatchObject({ ok: true });
      expect(await ask()).toMatchObject({ ok: true });
      expect(await ask(named + 'b')).toMatchObject({ ok: false });
      expect(asked).toEqual([
        '/realms/a/.well-known/openid-configuration',
        '/realms/a/.well-known/openid-configuration',
        '/jwks',
      ]);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('may have a clock that is off by as much as the configuration says', async () => {
    const authenticator = createAuthenticator();
    const expired = `Bearer ${await honest.token({ exp: Math.floor(Date.now() / 1_000) - 20 })}`;
    expect(await authenticator.authenticate(settings(), expired, Date.now())).toMatchObject({ ok: true });
    const strict = { ...settings(), clockToleranceMs: 5_000 };
    expect(await authenticator.authenticate(strict, expired, Date.now())).toMatchObject({ ok: false });
  });
});
