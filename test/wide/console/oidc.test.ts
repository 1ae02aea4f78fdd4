import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import Provider from 'oidc-provider';
import type { Browser, Page } from 'playwright-core';
import { startBrowser, watchedPage } from './browser.js';
import { desk } from './desk.js';
import type { Desk } from './desk.js';
import { endAll, served } from './served.js';
import type { Served } from './served.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-oidc-'));
let browser: Browser;
let desks: Desk;
let system: Served;
let issuer: string;
let server: Server;

/** A real provider of OpenID Connect, with its own pages for signing in, and access tokens that are JWTs. */
async function startProvider(redirect: string): Promise<void> {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'sluice-console',
        redirect_uris: [redirect],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    ],
    clientBasedCORS: () => true,
    scopes: ['openid', 'tools'],
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:sluice',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid tools',
          audience: 'sluice',
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
        }),
      },
    },
    extraTokenClaims: () => ({ tenant: 'acme', tool_groups: ['read', 'support'] }),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    cookies: { keys: ['a key of this test alone'] },
    pkce: { required: () => true },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
}

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  desks = await desk(
    home,
    `identity: { provider: jwt, issuer: "${issuer}", console: { client_id: sluice-console, scopes: [openid, tools] } }`,
  );
  system = await served(desks.variables, join(home, 'data'));
  await startProvider(`${system.base}/`);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await endAll();
  await desks.close();
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
});

/** On the provider’s own pages: who one is, and that the console may know. */
async function atTheProvider(page: Page): Promise<void> {
  await page.locator('input[name=login]').fill('ann');
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

it('signs in at the issuer by code and PKCE, keeps the token in memory, and comes back after a reload', async () => {
  const context = await browser.newContext();
  const { page, wrong } = await watchedPage(context, system.base);
  await page.goto(`${system.base}/runs`);
  await page.getByRole('button', { name: `Sign in at ${new URL(issuer).host}` }).click();
  await atTheProvider(page);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/runs');
  expect(page.url()).not.toMatch(/code=|token|state=/);
  await page.getByText('user:ann').first().waitFor();
  expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toMatch(/eyJ/);
  await page.reload();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  expect(wrong.filter((one) => !one.startsWith(`elsewhere: ${issuer}`))).toEqual([]);
  await context.close();
});
