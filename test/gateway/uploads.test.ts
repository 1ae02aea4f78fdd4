import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { Sluice } from '../../packages/client/src/client.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-uploads-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const wait = { prefer: 'wait=20' };
const limit = 200_000;

/** The smallest picture there is. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

type Headers = Readonly<Record<string, string>>;
type Name = Readonly<Record<'hash' | 'type' | 'kind' | 'name', string>> & { readonly size: number };

describe('images and files of a question', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let bob: Headers;
  let eve: Headers;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const as = async (sub: string, tenant: string): Promise<Headers> => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
    });
    [ann, bob, eve] = await Promise.all([as('ann', 'acme'), as('bob', 'acme'), as('eve', 'other')]);
    const model = new ScriptedModel(() => ({ answer: 'A picture.' }));
    const configuration = workflowConfiguration({ limits: identity });
    system = await startSystem(configuration, model, undefined, {
      content: { bucket: null, maxBytes: limit, keys: () => null },
    });
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const upload = (bytes: Buffer, headers: Headers, query = '') =>
    fetch(`${gateway.url}/v1/uploads${query}`, { method: 'POST', headers, body: new Uint8Array(bytes) });
  const uploaded = async (bytes: Buffer, headers: Headers, query = ''): Promise<Name> => {
    const answer = await upload(bytes, headers, query);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { readonly content: Name }).content;
  };
  const ask = (id: string, content: unknown, headers: Headers) =>
    post(`${gateway.url}/v1/runs`, { question: 'What is it?', request_id: id, content }, { ...headers, ...wait });
  const contentOf = (id: string, hash: string, headers: Headers) =>
    fetch(`${gateway.url}/v1/runs/${id}/content/${hash}`, { headers });
  const requestsOf = async (id: string) =>
    (await system.all('agent.requests')).map(({ record }) => record).filter(({ requestId }) => requestId === id);
  const requestOf = async (id: string) => (await requestsOf(id))[0];

  it('are uploaded, named by a request, and content of its run from then on', async () => {
    const name = await uploaded(png, { ...ann, 'content-type': 'image/jpeg' }, '?name=picture.png');
    expect(name).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      ...{ type: 'image/png', size: png.length, kind: 'image', name: 'picture.png' },
    });
    expect((await ask('uploaded', [name], ann)).status).toBe(200);
    expect((await requestOf('uploaded'))?.content).toEqual([name]);
    const toolsets = (await system.all('agent.toolsets')).filter(({ record }) => record.requestId === 'uploaded');
    expect(toolsets.map(({ record }) => record.request.content)).toEqual([[name]]);
    // It is the run's own: nothing of the caller's uploads is read any more.
    const run = { tenantId: 'acme', runId: 'uploaded' };
    expect((await system.embedded.runtime.content.list(run)).map(({ hash }) => hash)).toEqual([name.hash]);

    const read = await contentOf('uploaded', name.hash, ann);
    expect([read.status, read.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(read.headers.get('content-security-policy')).toMatch(/^sandbox;/);
    expect(Buffer.from(await read.arrayBuffer()).equals(png)).toBe(true);
    const listed = await fetch(`${gateway.url}/v1/runs/uploaded/content`, { headers: ann });
    expect(await listed.json()).toEqual({
      request_id: 'uploaded',
      content: [
        { ...name, iteration: null, tool: null, is_kept: true, written_at: expect.any(Number), expires_at: null },
      ],
    });
  });

  it('come with the request as well, in base64, beside uploads', async () => {
    const text = await uploaded(Buffer.from('a,b\n1,2\n'), { ...ann, 'content-type': 'text/csv' }, '?name=t.csv');
    const inline = { data: png.toString('base64'), type: 'image/png', name: null };
    expect((await ask('inline', [inline, { hash: text.hash }], ann)).status).toBe(200);
    expect((await requestOf('inline'))?.content).toMatchObject([
      { type: 'image/png', kind: 'image', size: png.length, name: null },
      { type: 'text/csv', kind: 'file', size: 8, name: null, hash: text.hash },
    ]);
    expect(await (await contentOf('inline', text.hash, ann)).text()).toBe('a,b\n1,2\n');
  });

  it('make the same request the same run, and another picture another request', async () => {
    const inline = { data: png.toString('base64') };
    const first = await (await ask('again', [inline], ann)).json();
    expect(await (await ask('again', [inline], ann)).json()).toEqual(first);
    expect((await ask('again', [{ data: Buffer.from('x').toString('base64') }], ann)).status).toBe(409);
    expect((await ask('again', null, ann)).status).toBe(409);
    expect(await requestsOf('again')).toHaveLength(1);
  });

  it('are the uploads of their caller alone, and content that those read who may read the run', async () => {
    const name = await uploaded(Buffer.from('Ann’s own'), ann);
    for (const other of [bob, eve]) {
      const refused = await ask(`taken-by-${other === bob ? 'bob' : 'eve'}`, [name], other);
      expect(refused.status).toBe(404);
      expect(await refused.text()).toContain('names no upload of yours');
    }
    expect(await requestOf('taken-by-bob')).toBeUndefined();
    // The same bytes have another name in another tenant, so that nothing shows who has them.
    expect((await uploaded(Buffer.from('Ann’s own'), eve)).hash).not.toBe(name.hash);
    expect((await ask('anns', [name], ann)).status).toBe(200);
    expect((await contentOf('anns', name.hash, eve)).status).toBe(404);
    expect((await contentOf('anns', name.hash, bob)).status).toBe(404);
    expect((await fetch(`${gateway.url}/v1/runs/anns/content`, { headers: eve })).status).toBe(404);
    // A request that reached the log another way names it in vain: its run does not have it.
    const record = { question: 'Q', request_id: 'by-log', session_id: 'by-log', content: [name] };
    await system.bus.appendRaw('agent.requests', 'by-log', Buffer.from(JSON.stringify(record)), bob as never);
    await system.responseOf('by-log');
    expect((await contentOf('by-log', name.hash, bob)).status).toBe(404);
    expect((await upload(png, {})).status).toBe(401);
  });

  it.each<readonly [string, unknown, number, RegExp]>([
    ['no list', 'x', 400, /content must be a list/],
    ['too many', Array.from({ length: 21 }, () => ({ data: 'AAAA' })), 400, /has 21 entries and the limit is 20/],
    ['neither bytes nor a name', [{ type: 'image/png' }], 400, /must have hash, of an upload, or data/],
    ['both', [{ hash: 'a'.repeat(64), data: 'AAAA' }], 400, /one of both/],
    ['a field that is none', [{ data: 'AAAA', url: 'http://x' }], 400, /a field that is not known/],
    ['no base64', [{ data: 'AA AA' }], 400, /data is no base64/],
    ['no hash', [{ hash: '../../x' }], 400, /hash is no name of content/],
    ['a hash of nothing', [{ hash: 'a'.repeat(64) }], 404, /names no upload of yours/],
    ['an image that is none', [{ data: 'AAAA', type: 'image/png' }], 400, /is no PNG, JPEG, GIF or WebP/],
    ['the same twice', [{ data: 'AAAA' }, { data: 'AAAA' }], 400, /content\[1\] is content\[0\] again/],
    [
      'more bytes than content has',
      [{ data: Buffer.alloc(limit + 1).toString('base64') }],
      413,
      /more than 200000 bytes/,
    ],
    ['a name that is too long', [{ data: 'AAAA', name: 'x'.repeat(256) }], 400, /at most 255 characters/],
  ])('are refused as %s, before anything is published', async (_what, content, status, message) => {
    const before = (await system.all('agent.requests')).length;
    const answer = await post(`${gateway.url}/v1/runs`, { question: 'Q', content }, ann);
    expect([answer.status, ((await answer.json()) as { readonly detail: string }).detail]).toEqual([
      status,
      expect.stringMatching(message),
    ]);
    expect((await system.all('agent.requests')).length).toBe(before);
  });

  it.each<readonly [string, Buffer, Headers, string, number, RegExp]>([
    ['an empty file', Buffer.alloc(0), {}, '', 400, /is empty/],
    ['a form', Buffer.from('--x'), { 'content-type': 'multipart/form-data; boundary=x' }, '', 415, /not a form/],
    ['what curl says by itself', png, { 'content-type': 'application/x-www-form-urlencoded' }, '', 415, /not a form/],
    ['a packed file', png, { 'content-encoding': 'gzip' }, '', 415, /without content-encoding/],
    ['a PDF that is none', png.subarray(4), { 'content-type': 'application/pdf' }, '', 400, /is no PDF/],
    ['a file that is too large', Buffer.alloc(limit + 1), {}, '', 413, /too large/],
    ['another parameter', png, {}, '?nam=x', 400, /Did you mean name/],
  ])('are refused as uploads: %s', async (_what, bytes, headers, query, status, message) => {
    const answer = await upload(bytes, { ...ann, ...headers }, query);
    expect([answer.status, ((await answer.json()) as { readonly detail: string }).detail]).toEqual([
      status,
      expect.stringMatching(message),
    ]);
  });

  it('are refused as too large where their length is not said before, and the connection lives on', async () => {
    const { hostname, port } = new URL(gateway.url);
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        { hostname, port, path: '/v1/uploads', method: 'POST', headers: { ...ann, 'transfer-encoding': 'chunked' } },
        (answer) => resolve(answer.resume().statusCode ?? 0),
      );
      sent.on('error', reject);
      for (let at = 0; at < 4; at++) sent.write(Buffer.alloc(limit / 2, 'x'));
      sent.end();
    });
    expect(status).toBe(413);
  });

  it('that are JSON are files as well, and not read as a body', async () => {
    const name = await uploaded(Buffer.from('{"a": 1, "a": 2}'), { ...ann, 'content-type': 'application/json' });
    expect(name).toMatchObject({ type: 'application/json', kind: 'file', size: 16 });
  });

  it('go through the TypeScript client', async () => {
    const token = String(ann['authorization']).replace('Bearer ', '');
    const client = new Sluice({ url: gateway.url, token });
    const { content } = await client.runs.upload(new Uint8Array(png), { name: 'p.png' });
    const { request_id } = await client.runs.ask({ question: 'What is it?', content: [content] });
    expect(await client.runs.listContent(request_id)).toMatchObject({
      content: [{ hash: content.hash, kind: 'image' }],
    });
    const read = await client.runs.content(request_id, content.hash);
    expect(Buffer.from(await read.arrayBuffer()).equals(png)).toBe(true);
    expect(await client.runs.upload(new Blob(['x'], { type: 'text/markdown' }))).toMatchObject({
      content: { type: 'text/markdown', name: null },
    });
  });
});
