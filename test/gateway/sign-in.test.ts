import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeys } from '@sluice/identity';
import { readLocalSecret } from '@sluice/host';
import { LocalSecret } from '../../libs/host/src/local-secret.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { run as consoleCommand } from '../../apps/sluice/src/commands/console.js';
import { signInLink } from '../../apps/sluice/src/console-link.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { getWithHost, post } from './over-http.js';

interface SignedIn {
  readonly token: string;
  readonly expires_at: number;
  readonly session: string;
  readonly session_expires_at: number;
}

const model = new ScriptedModel(() => ({ answer: 'done' }));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('signing in by a link', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let now = Date.now();
  let secret: LocalSecret;

  beforeAll(async () => {
    system = await startSystem(workflowConfiguration({}), model);
    const { runtime } = system.embedded;
    gateway = await startGateway({ ...runtime, clock: { now: () => now } });
    secret = new LocalSecret(readLocalSecret(runtime.environment) ?? '');
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const newCode = () => signInLink(gateway.url, secret, now).split('#sign-in=')[1] ?? '';
  const signIn = (body: unknown, headers = {}) => post(`${gateway.url}/v1/console/sign-in`, body, headers);
  const renew = (body: object) => post(`${gateway.url}/v1/console/renew`, body);
  const status = async (token: string, path = '/v1/runs') =>
    (await fetch(`${gateway.url}${path}`, { headers: bearer(token) })).status;
  const newKey = () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return { jwk: { ...publicKey.export({ format: 'jwk' }), ext: true, key_ops: ['verify'] }, privateKey };
  };
  const signed = (session: string, at: number, key: KeyObject) => ({
    ...{ session, at },
    signature: sign('sha256', Buffer.from(`${session}.${at}`), { key, dsaEncoding: 'ieee-p1363' }).toString(
      'base64url',
    ),
  });

  it('says how one signs in, to anyone', async () => {
    const response = await fetch(`${gateway.url}/v1/console`);
    expect(await response.json()).toEqual({
      ...{ version: expect.stringMatching(/^\d+\.\d+\.\d+/), identity: 'none', sign_in: ['local', 'token'] },
      ...{ oidc: null, bus: 'embedded', docs: '/docs', command: 'npx sluice', start: 'npm start' },
    });
  });

  it('gives a token for a code, once, that stands for the local secret for twelve hours', async () => {
    const code = newCode();
    const response = await signIn({ code }, { origin: gateway.url, 'sec-fetch-site': 'same-origin' });
    expect(response.status).toBe(200);
    const { token, ...rest } = (await response.json()) as SignedIn;
    expect(rest).toEqual({ expires_at: now + 43_200_000, session: null, session_expires_at: null });
    for (const path of ['/v1/runs', '/v1/approvals', '/v1/audit', '/v1/dead-letters', '/v1/me'])
      expect([path, await status(token, path)]).toEqual([path, 200]);
    const me = await fetch(`${gateway.url}/v1/me`, { headers: bearer(token) });
    expect(await me.json()).toMatchObject({
      ...{ tenant: 'local', user: 'user:local', on_behalf_of: null, identity: 'none', groups: ['*'] },
      ...{ is_operator: true, is_approver: false, is_auditor: true, expires_at: rest.expires_at },
    });
    const again = await signIn({ code });
    expect([again.status, await again.json()]).toEqual([
      401,
      expect.objectContaining({ detail: expect.stringContaining('npx sluice console') }),
    ]);
    // The token lets no other caller in, and ends.
    expect((await signIn({ code: token })).status).toBe(401);
    now = rest.expires_at;
    expect(await status(token)).toBe(401);
  });

  it('takes no code that is late, forged or of another secret, and no body that is none', async () => {
    const late = newCode();
    now += 600_000;
    const other = signInLink('', new LocalSecret('x'.repeat(40)), now).split('=')[1] ?? '';
    for (const code of [
      late,
      other,
      `${newCode()}x`,
      '',
      'sign-in_e30.e30',
      secret.issue('session', { expiresAt: 9e15 }),
    ])
      expect([code, (await signIn({ code })).status]).toEqual([code, 401]);
    for (const body of [{}, { code: 1 }, { code: newCode(), key: 'x' }, [], 'x', { code: newCode(), public_key: 'x' }])
      expect([body, (await signIn(body)).status]).toEqual([body, 400]);
    const { jwk } = newKey();
    for (const key of [{ ...jwk, crv: 'P-384' }, { ...jwk, y: jwk.x }, { ...jwk, x: 1 }, {}]) {
      const code = newCode();
      expect((await signIn({ code, public_key: key })).status).toBe(400);
      // A body that is wrong uses no code up.
      expect((await signIn({ code })).status).toBe(200);
    }
  });

  it('renews a token by the key of the browser, and not by the session alone', async () => {
    const { jwk, privateKey } = newKey();
    const { session, session_expires_at: end } = (await (
      await signIn({ code: newCode(), public_key: jwk })
    ).json()) as SignedIn;
    expect(end).toBe(now + 30 * 86_400_000);
    expect([await status(session), (await signIn({ code: session })).status]).toEqual([401, 401]);
    now += 86_400_000;
    const body = signed(session, now, privateKey);
    const renewed = await renew(body);
    const { token, ...rest } = (await renewed.json()) as SignedIn;
    expect(rest).toEqual({ expires_at: now + 43_200_000, session, session_expires_at: end });
    expect(await status(token)).toBe(200);

    expect((await renew(body)).status).toBe(401);
    const stranger = newKey().privateKey;
    for (const wrong of [
      ...[signed(session, now + 1, stranger), { ...body, at: now + 2 }, { ...body, signature: '' }],
      ...[signed(session, now - 60_001, privateKey), signed(session, now + 60_001, privateKey)],
      ...[signed(`${session}x`, now, privateKey), signed(token, now, privateKey), signed('', now, privateKey)],
    ])
      expect((await renew(wrong)).status).toBe(401);
    for (const wrong of [
      {},
      { ...body, at: 'now' },
      { ...body, at: 1.5 },
      { ...body, signature: 1 },
      { ...body, x: 1 },
    ])
      expect((await renew(wrong)).status).toBe(400);
    now = end;
    expect((await renew(signed(session, now, privateKey))).status).toBe(401);
  });

  it('signs in no page of another origin', async () => {
    const { port } = new URL(gateway.url);
    for (const headers of [
      ...[{ origin: 'https://evil.example' }, { origin: `http://localhost:${port}` }, { origin: 'null' }],
      ...[{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }],
    ]) {
      const code = newCode();
      expect([headers, (await signIn({ code }, headers)).status]).toEqual([headers, 403]);
      expect((await signIn({ code })).status).toBe(200);
    }
    expect((await getWithHost('evil.example', `${gateway.url}/v1/console`)).status).toBe(403);
    const formType = await fetch(`${gateway.url}/v1/console/sign-in`, {
      ...{ method: 'POST', headers: { 'content-type': 'text/plain' }, body: JSON.stringify({ code: newCode() }) },
    });
    expect(formType.status).toBe(415);
  });

  it('refuses many attempts that fail, and never one that holds', async () => {
    let last: Response | undefined;
    for (let attempt = 0; attempt < 31; attempt++) last = await signIn({ code: `guess-${attempt}` });
    expect([last?.status, Number(last?.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect((await signIn({ code: newCode() })).status).toBe(200);
  });

  it('prints a link for a gateway that runs, and says what to do where none does', async () => {
    const { environment } = system.embedded.runtime;
    now = Date.now();
    const { code, output } = await inProcess(consoleCommand, environment, '--url', `${gateway.url}/`);
    const [, link = ''] = /^(http:\S+)\nIt signs one browser in, once/.exec(output) ?? [];
    expect(code).toBe(0);
    expect((await signIn({ code: link.split('#sign-in=')[1] })).status).toBe(200);
    const elsewhere = inProcess(consoleCommand, environment, '--url', 'http://127.0.0.1:1');
    await expect(elsewhere).rejects.toThrow(/No gateway answers at .*npm start/);
    const strangers = { ...environment, dataFolder: join(environment.dataFolder, 'none') };
    await expect(inProcess(consoleCommand, strangers, '--url', gateway.url)).rejects.toThrow(/SLUICE_DATA/);
  });
});

describe('signing in where an identity is configured', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sign-in-'));
  let system: TestSystem;
  let gateway: Gateway;
  let users: Awaited<ReturnType<typeof newIssuer>>;

  beforeAll(async () => {
    users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const client = 'console: { client_id: sluice-console, scopes: [openid, tools], resource: sluice }';
    const operators = "operators: [{ principals: ['user:olga'], tenants: [acme] }]";
    const jwt = `provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}`;
    const limits = `identity: { ${jwt}, ${operators}, ${client} }`;
    system = await startSystem(workflowConfiguration({ limits }), model);
    writeFileSync(join(folder, 'index.html'), '<!doctype html>');
    gateway = await startGateway(system.embedded.runtime, { consoleFolder: folder });
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const me = async (token: string) => {
    const response = await fetch(`${gateway.url}/v1/me`, { headers: bearer(token) });
    return [response.status, await response.json()] as const;
  };

  it('names the client of the issuer, and lets the page ask there', async () => {
    expect(await (await fetch(`${gateway.url}/v1/console`)).json()).toMatchObject({
      ...{ identity: 'jwt', sign_in: ['oidc', 'token', 'api_key'] },
      oidc: { issuer, client_id: 'sluice-console', scopes: ['openid', 'tools'], resource: 'sluice' },
    });
    const policy = (await fetch(gateway.url)).headers.get('content-security-policy');
    expect(policy).toContain(`; connect-src 'self' ${issuer}; `);
    const { code, output } = await inProcess(
      ...([consoleCommand, system.embedded.runtime.environment, '--url', gateway.url] as const),
    );
    expect([code, output]).toEqual([
      0,
      `${gateway.url}/\nAn identity is configured (jwt): sign in with a credential of it.\n`,
    ]);
  });

  it('has no local sign-in, whatever the local secret made', async () => {
    const secret = new LocalSecret(readLocalSecret(system.embedded.runtime.environment) ?? '');
    const code = signInLink('', secret, Date.now()).split('=')[1];
    expect((await post(`${gateway.url}/v1/console/sign-in`, { code })).status).toBe(400);
    const renewal = { session: secret.issue('session', { expiresAt: 9e15 }), at: Date.now(), signature: '' };
    expect((await post(`${gateway.url}/v1/console/renew`, renewal)).status).toBe(400);
    expect((await me(secret.issue('console', { expiresAt: 9e15 })))[0]).toBe(401);
  });

  it('says to each caller who it is, and to others nothing', async () => {
    const token = await users.token({ sub: 'ann', tenant: 'acme', tool_groups: ['read-only'] });
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
    expect(await me(token)).toEqual([
      200,
      {
        ...{ tenant: 'acme', user: 'user:ann', on_behalf_of: null, identity: 'jwt', groups: ['read-only'] },
        ...{ connections: [], is_operator: false, is_approver: false, is_auditor: false, expires_at: exp * 1_000 },
      },
    ]);
    const olga = await users.token({ sub: 'olga', tenant: 'acme', tool_groups: [] });
    expect((await me(olga))[1]).toMatchObject({ is_operator: true, is_auditor: true });
    const expiresAt = Date.now() + 60_000;
    const scope = { name: 'billing', tenant: 'acme', groups: ['write'], connections: [], expiresAt };
    const { token: key } = await new ApiKeys(system.embedded.runtime.documents).create(scope, Date.now());
    expect((await me(key))[1]).toMatchObject({ user: 'service:billing', groups: ['write'], expires_at: expiresAt });
    expect((await me('nothing'))[0]).toBe(401);
  });
});
