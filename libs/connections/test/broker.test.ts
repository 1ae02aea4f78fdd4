import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionAnswer, ConnectionSettings, ConnectionUse } from '@sluice/core';
import { createConnectionBroker } from '../src/index.js';
import type { BrokerParts } from '../src/index.js';
import { startBrokerEndpoint, token } from './broker-endpoint.js';
import type { BrokerEndpoint } from './broker-endpoint.js';

const folder = mkdtempSync(join(tmpdir(), 'connections-'));
const path = join(folder, 'secret');
const ann: ConnectionUse = { tenantId: 'acme', actorId: 'user:ann', subjectId: null };
const patient = new AbortController().signal;
let endpoint: BrokerEndpoint;
let now = 1_000_000;
const variables: Record<string, string> = { PLAIN: 'plain-token-1', SHORT: 'word', KEY: 'key-of-sluice' };
const asked: unknown[] = [];

beforeAll(async () => {
  endpoint = await startBrokerEndpoint();
});
afterEach(() => {
  endpoint.asked.length = 0;
  asked.length = 0;
});
afterAll(async () => {
  await endpoint.close();
  rmSync(folder, { recursive: true });
});

function open(changes: Partial<BrokerParts> = {}) {
  return createConnectionBroker({
    secret: (name) => variables[name],
    clock: { now: () => now },
    onAsked: (...told) => asked.push(told),
    ...changes,
  });
}
const http = (changes: object = {}): ConnectionSettings => ({
  id: 'calendar',
  tenants: ['*'],
  adapter: 'http',
  url: endpoint.url,
  keyEnv: null,
  ...changes,
});
const told = (answer: ConnectionAnswer): string => (answer.ok ? answer.credential.token : answer.why);

describe('a variable', () => {
  const environment = (variable: string): ConnectionSettings => ({
    id: 'crm',
    tenants: ['*'],
    adapter: 'environment',
    variable,
  });

  it('is looked at each time (T-26a2)', async () => {
    const broker = open();
    expect(told(await broker.credential(environment('PLAIN'), ann, patient))).toBe('plain-token-1');
    variables['PLAIN'] = 'plain-token-2';
    expect(told(await broker.credential(environment('PLAIN'), ann, patient))).toBe('plain-token-2');
  });

  it.each([
    ['is not set', 'NOTHING', 'Neither NOTHING nor NOTHING_FILE is set.'],
    ['holds a word', 'SHORT', 'What was given for the connection crm is shorter than 8 characters.'],
  ])('that %s is an outage, said without repeating it (X-22)', async (_, variable, message) => {
    expect(await open().credential(environment(variable), ann, patient)).toEqual({
      ok: false,
      why: 'unreachable',
      message,
    });
    expect(asked).toEqual([['crm', 'unreachable', message]]);
  });

  it('whose file cannot be read is an outage with the sentence about it', async () => {
    const broker = open({
      secret: () => {
        throw new Error('X_FILE names the file y, which cannot be read.');
      },
    });
    expect(await broker.credential(environment('X'), ann, patient)).toMatchObject({
      why: 'unreachable',
      message: expect.stringContaining('X_FILE'),
    });
  });
});

describe('a file', () => {
  const file: ConnectionSettings = { id: 'mail', tenants: ['*'], adapter: 'file', path };

  it('counts at once when it is replaced, without the blanks around what it holds (T-26a2)', async () => {
    const broker = open();
    for (const secret of ['file-token-1', 'file-token-2']) {
      writeFileSync(path, `  ${secret}\n`);
      expect(told(await broker.credential(file, ann, patient))).toBe(secret);
    }
  });

  it.each([
    ['more than one line', 'one-token\ntwo-token', 'holds characters'],
    ['what no header can hold', 'tökentöken', 'holds characters'],
    ['too much', 'x'.repeat(9_000), 'is longer than'],
    ['very much', 'x'.repeat(70_000), 'is larger than'],
  ])('with %s gives nothing', async (_, text, why) => {
    writeFileSync(path, text);
    const answer = await open().credential(file, ann, patient);
    expect(answer).toMatchObject({ ok: false, why: 'unreachable', message: expect.stringContaining(why) });
    expect(JSON.stringify(answer)).not.toContain(text.slice(0, 8));
  });

  it('that is not there is an outage', async () => {
    const answer = await open().credential({ ...file, path: join(folder, 'none') }, ann, patient);
    expect(answer).toMatchObject({ why: 'unreachable', message: expect.stringContaining('ENOENT') });
  });
});

describe('a broker over HTTP', () => {
  it('learns who wants it, with its own key, and nothing else (T-26a1)', async () => {
    endpoint.answer = token('http-token-1', 60);
    const use = { tenantId: 'acme', actorId: 'agent:planner', subjectId: 'user:ann' };
    expect(told(await open().credential(http({ keyEnv: 'KEY' }), use, patient))).toBe('http-token-1');
    expect(endpoint.asked[0]?.headers.authorization).toBe('Bearer key-of-sluice');
    expect(endpoint.asked[0]?.body).toEqual({
      connection: 'calendar',
      tenant: 'acme',
      actor: 'agent:planner',
      subject: 'user:ann',
      refused: false,
    });
  });

  it('is asked again when a credential’s life is over, and not before (XB-42)', async () => {
    const broker = open();
    endpoint.answer = token('http-token-1', 60);
    await broker.credential(http(), ann, patient);
    now += 59_999;
    expect(told(await broker.credential(http(), ann, patient))).toBe('http-token-1');
    expect(endpoint.asked).toHaveLength(1);
    endpoint.answer = token('http-token-2', 60);
    now += 1;
    expect(told(await broker.credential(http(), ann, patient))).toBe('http-token-2');
    expect(endpoint.asked).toHaveLength(2);
  });

  it('is asked each time where it does not say how long a credential lives', async () => {
    const broker = open();
    endpoint.answer = token('http-token-1');
    await broker.credential(http(), ann, patient);
    await broker.credential(http(), ann, patient);
    expect(endpoint.asked).toHaveLength(2);
  });

  it.each([
    ['tenant', { tenantId: 'globex' }],
    ['actor', { actorId: 'user:bob' }],
    ['subject', { subjectId: 'user:eve' }],
    ['nobody', { tenantId: null, actorId: null }],
  ])('is asked for each %s of its own: none gets another’s (XB-42)', async (_, other) => {
    const broker = open();
    endpoint.answer = ({ body }, response) =>
      response.end(JSON.stringify({ access_token: `for-${JSON.stringify(body)}`, expires_in: 60 }));
    const first = told(await broker.credential(http(), ann, patient));
    const second = told(await broker.credential(http(), { ...ann, ...other }, patient));
    expect(second).not.toBe(first);
    expect(told(await broker.credential(http(), ann, patient))).toBe(first);
    expect(endpoint.asked).toHaveLength(2);
    await broker.credential(http({ id: 'another' }), ann, patient);
    expect(endpoint.asked).toHaveLength(3);
  });

  it('is asked again for a refused credential, once for all who were refused it', async () => {
    const broker = open();
    endpoint.answer = token('http-token-1', 60);
    const first = await broker.credential(http(), ann, patient);
    if (!first.ok) throw new Error(first.message);
    endpoint.answer = token('http-token-2', 60);
    const again = () => broker.credential(http(), ann, patient, first.credential);
    expect((await Promise.all([again(), again()])).map(told)).toEqual(['http-token-2', 'http-token-2']);
    expect(told(await again())).toBe('http-token-2');
    expect(endpoint.asked.map(({ body }) => body['refused'])).toEqual([false, true]);
  });

  it('is asked once by those who ask at the same time, and one that aborts does not end it for the others', async () => {
    const broker = open();
    let release = (): void => undefined;
    endpoint.answer = (given, response) => void (release = () => token('http-token-1', 60)(given, response));
    const leaving = new AbortController();
    const impatient = broker.credential(http(), ann, leaving.signal);
    const other = broker.credential(http(), ann, patient);
    while (endpoint.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort(new Error('gave up'));
    await expect(impatient).rejects.toThrow('gave up');
    release();
    expect(told(await other)).toBe('http-token-1');
    expect(endpoint.asked).toHaveLength(1);
  });

  it.each([403, 404])('says no with %d, which is a denial (X-22)', async (status) => {
    endpoint.answer = (_asked, response) => response.writeHead(status).end('planted-secret');
    const answer = await open().credential(http(), ann, patient);
    expect(answer).toMatchObject({ ok: false, why: 'denied' });
    expect(JSON.stringify([answer, asked])).not.toContain('planted-secret');
    expect(asked).toMatchObject([['calendar', 'denied', expect.stringContaining(String(status))]]);
  });

  const planted = 'planted-secret-4711';
  it.each<[string, BrokerEndpoint['answer'], string]>([
    ['an error', (_asked, response) => response.writeHead(500).end(planted), 'answered with 500'],
    ['a key that is not accepted', (_asked, response) => response.writeHead(401).end(planted), 'answered with 401'],
    ['no JSON', (_asked, response) => response.end(planted), 'is no JSON'],
    ['JSON of nothing', (_asked, response) => response.end('null'), 'no `access_token`'],
    ['another shape', (_asked, response) => response.end(`{"token":"${planted}"}`), 'no `access_token`'],
    [
      'a life that is none',
      (_asked, response) => response.end(`{"access_token":"${planted}","expires_in":"soon"}`),
      'no number of seconds',
    ],
    ['too much', (_asked, response) => response.end(planted + ' '.repeat(70_000)), 'more than 65536 bytes'],
    [
      'a redirect',
      (_asked, response) => response.writeHead(302, { location: endpoint.url }).end(),
      'cannot be reached',
    ],
    ['half an answer', (_asked, response) => response.socket?.destroy(), 'cannot be reached'],
    ['silence', () => undefined, 'did not answer within 0.1 s'],
  ])('that gives %s is an outage, reported without what it said (X-22)', async (_, answer, why) => {
    endpoint.answer = answer;
    const timeoutMs = why.includes('0.1 s') ? 100 : 20_000;
    const found = await open({ timeoutMs }).credential(http({ keyEnv: 'KEY' }), ann, patient);
    expect(found).toMatchObject({ ok: false, why: 'unreachable', message: expect.stringContaining(why) });
    expect(JSON.stringify([found, asked])).not.toMatch(/planted|key-of-sluice/);
  });

  it('that is not there, and one whose key is not set, are outages that say so', async () => {
    const nowhere = await open().credential(http({ url: 'http://127.0.0.1:1/' }), ann, patient);
    expect(nowhere).toMatchObject({ why: 'unreachable', message: expect.stringMatching(/cannot be reached/) });
    const keyless = await open().credential(http({ keyEnv: 'NOTHING' }), ann, patient);
    expect(keyless).toMatchObject({ message: expect.stringContaining('neither NOTHING nor NOTHING_FILE is set') });
    expect(endpoint.asked).toEqual([]);
  });
});
