import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { getWithHost, post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-console-'));
const page = `<!doctype html><html><head><meta name="csp-nonce" content="__NONCE__">
<script type="module" nonce="__NONCE__" src="/assets/index-1.js"></script></head><body></body></html>`;
const script = `export const text = '${'console '.repeat(500)}';`;
const html = { accept: 'text/html,application/xhtml+xml;q=0.9' };

/** What is sent as it is sent: `fetch` unpacks a body by itself. */
function raw(url: string, headers: Readonly<Record<string, string>>) {
  return new Promise<{ readonly encoding: string | undefined; readonly body: Buffer }>((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(pieces) }),
      );
    });
    sent.on('error', reject).end();
  });
}

describe('the console at the gateway', () => {
  let system: TestSystem;
  let gateway: Gateway;

  beforeAll(async () => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), page);
    writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(folder, 'assets/index-1.js'), script);
    writeFileSync(join(folder, 'assets/font-1.woff2'), 'font');
    writeFileSync(join(tmpdir(), `beside-${process.pid}.txt`), 'beside');
    system = await startSystem(workflowConfiguration({}), new ScriptedModel(() => ({ answer: 'done' })));
    gateway = await startGateway(system.embedded.runtime, { consoleFolder: folder });
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
    rmSync(join(tmpdir(), `beside-${process.pid}.txt`));
  });
  const see = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    fetch(`${gateway.url}${path}`, { headers, method });

  it('serves the page with a nonce of its own each time, under a policy that lets nothing else run', async () => {
    const nonces = await Promise.all(
      ['/', '/runs/abc', '/approvals'].map(async (path) => {
        const response = await see(path, html);
        expect([path, response.status, response.headers.get('content-type')]).toEqual([
          ...[path, 200, 'text/html; charset=utf-8'],
        ]);
        const [, nonce] = /nonce-([\w-]+)/.exec(response.headers.get('content-security-policy') ?? '') ?? [];
        expect(response.headers.get('content-security-policy')).toBe(
          `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
            "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        );
        expect(await response.text()).toBe(page.replaceAll('__NONCE__', nonce ?? ''));
        expect(Object.fromEntries(response.headers)).toMatchObject({
          ...{ 'cache-control': 'no-store', 'cross-origin-opener-policy': 'same-origin' },
          ...{ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' },
        });
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(3);
    const head = await see('/', html, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('serves files for ever, compressed as the browser can read them', async () => {
    const path = '/assets/index-1.js';
    const response = await see(path);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...{ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' },
      ...{ 'content-type': 'text/javascript; charset=utf-8', 'cross-origin-resource-policy': 'same-origin' },
    });
    expect(await response.text()).toBe(script);
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };
    for (const [encoding, read] of Object.entries(unpack)) {
      const sent = await raw(`${gateway.url}${path}`, { 'accept-encoding': encoding });
      expect(sent.encoding).toBe(encoding === 'identity' ? undefined : encoding);
      expect(read(sent.body).toString()).toBe(script);
    }
    const font = await raw(`${gateway.url}/assets/font-1.woff2`, { 'accept-encoding': 'br, gzip' });
    expect(font.encoding).toBeUndefined();
    const icon = await see('/favicon.svg');
    expect([icon.headers.get('content-type'), icon.headers.get('cache-control')]).toEqual([
      'image/svg+xml',
      'no-cache',
    ]);
  });

  it('shadows no route, and nothing that is no file of it', async () => {
    expect((await (await see('/docs', html)).text()).slice(0, 200)).toContain('Sluice: asking over HTTP');
    expect((await see('/DOCS/', html)).status).toBe(200);
    expect(((await (await see('/openapi.json', html)).json()) as { openapi: string }).openapi).toBe('3.1.0');
    expect((await see('/v1/runs', html)).status).toBe(401);
    expect((await see('/v1/unknown', html)).status).toBe(404);
    expect((await see('/assets/gone.js', html)).status).toBe(404);
    expect((await see('/runs/abc', { accept: '*/*' })).status).toBe(404);
    expect((await see('/runs/abc', html, 'POST')).status).toBe(404);
    for (const path of ['/assets/../../beside', '/assets/%2e%2e/%2e%2e/beside', '/..%2fbeside'])
      expect((await see(`${path}-${process.pid}.txt`)).status).toBe(404);
    expect((await getWithHost('evil.example', `${gateway.url}/`, html)).status).toBe(403);
  });

  it('takes requests of its own page without an identity, and of no other page', async () => {
    const ask = async (origin: string) =>
      (await post(`${gateway.url}/v1/toolsets`, { question: 'Q', group: [] }, { origin })).status;
    expect(await ask(gateway.url)).toBe(200);
    const { port } = new URL(gateway.url);
    for (const origin of [`http://localhost:${port}`, 'http://127.0.0.1:1', 'https://evil.example', 'null'])
      expect([origin, await ask(origin)]).toEqual([origin, 403]);
  });

  it('notices a new build, and says how to make one where there is none', async () => {
    writeFileSync(join(folder, 'index.html'), '<!doctype html><p>second build');
    writeFileSync(join(folder, 'assets/second.js'), 'second');
    utimesSync(join(folder, 'index.html'), new Date(), new Date(Date.now() + 5_000));
    expect(await (await see('/')).text()).toContain('second build');
    expect((await see('/assets/second.js')).status).toBe(200);

    const elsewhere = await startGateway(system.embedded.runtime, { consoleFolder: join(folder, 'none') });
    try {
      const response = await fetch(`${elsewhere.url}/`);
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('`npm run build`')]);
    } finally {
      await elsewhere.close();
    }
  });

  it('is not there where SLUICE_CONSOLE is off, and then no page may ask', async () => {
    const { runtime } = system.embedded;
    const http = readEnvironment({ SLUICE_CONSOLE: 'off' }).http;
    const environment = { ...runtime.environment, http };
    const off = await startGateway({ ...runtime, environment }, { consoleFolder: folder });
    try {
      expect((await fetch(`${off.url}/`, { headers: html })).status).toBe(404);
      const asked = await post(`${off.url}/v1/toolsets`, { question: 'Q' }, { origin: off.url });
      expect(asked.status).toBe(403);
    } finally {
      await off.close();
    }
  });
});
