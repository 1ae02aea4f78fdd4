import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { Configuration, Principal } from '@sluice/core';
import { SearchLoop } from '@sluice/proxy';
import { configurationOf, configured } from '../../../libs/sources/test/configured.js';
import { careless } from '../../../test/connections/careless.js';
import { audience, issuer, newIssuer } from '../../../libs/identity/test/issuer.js';
import { rightsOf } from '../src/rights.js';
import { ScriptedUpstream, startTestProxy } from './proxying.js';
import type { TestProxy } from './proxying.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-proxy-rights-'));
const keyFile = join(folder, 'issuer.json');

const tool = (name: string): object => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const question = (...names: string[]): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Q' }], tools: names.map(tool) });

describe('the tools of a caller who is known', () => {
  let upstream: ScriptedUpstream;
  let hiding: TestProxy;
  let passing: TestProxy;
  let bearer: string;

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    bearer = `Bearer ${await users.token({ tool_groups: ['*'] })}`;
    upstream = await ScriptedUpstream.start((_, response) => void response.end('{}'));
    const start = (unknownTools: string): Promise<TestProxy> =>
      startTestProxy(`
tool: { locked: { type: mcp-tool } }
identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }
proxy: { unknown_tools: ${unknownTools}, upstreams: { main: { api: openai, url: '${upstream.url}' } } }
`);
    [hiding, passing] = await Promise.all([start('hide'), start('pass')]);
  });
  afterAll(async () => {
    await Promise.all([hiding.close(), passing.close(), upstream.close()]);
    rmSync(folder, { recursive: true });
  });

  const ask = (proxy: TestProxy, body: string | Buffer, who = bearer, encoding?: string): Promise<Response> =>
    fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-sluice-authorization': who,
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      },
      body,
    });
  const sentTools = (): readonly string[] => {
    const sent = JSON.parse(upstream.received.at(-1)?.body.toString() ?? '') as {
      readonly tools?: readonly { readonly function: { readonly name: string } }[];
    };
    return (sent.tools ?? []).map(({ function: { name } }) => name);
  };

  it('are those that the configuration offers it, and others as unknown_tools says', async () => {
    expect((await ask(passing, question('locked', 'own'))).status).toBe(200);
    expect(sentTools()).toEqual(['own']);
    expect((await ask(hiding, question('locked', 'own'))).status).toBe(200);
    expect(sentTools()).toEqual([]);
  });

  it.each([
    ['broken JSON', `{"tools": [${JSON.stringify(tool('locked'))}`],
    ['a list', '[]'],
    ['no body', ''],
    ['more than is read', Buffer.alloc(65 << 20, 0x20)],
  ])('cannot be held to in %s, which goes nowhere', async (_name, body) => {
    const before = upstream.received.length;
    const response = await ask(passing, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'unreadable' } });
    expect(upstream.received).toHaveLength(before);
  });

  it('are those of a compressed body too', async () => {
    expect((await ask(hiding, gzipSync(question('locked', 'own')), bearer, 'gzip')).status).toBe(200);
    expect(sentTools()).toEqual([]);
  });

  it.each([
    ['unknown_encoding', 'snappy', question('locked')],
    ['bad_encoding', 'gzip', question('locked')],
    ['too_large', 'gzip', gzipSync(Buffer.alloc(65 << 20, 0x20))],
    ['unreadable', 'gzip', gzipSync('[]')],
  ])('cannot be held to where the body is %s (%s), which goes nowhere', async (reason, encoding, body) => {
    const before = upstream.received.length;
    const response = await ask(passing, body, bearer, encoding);
    expect(response.status).toBe(400);
    expect(response.headers.get('x-sluice-unread')).toBe(reason);
    expect(upstream.received).toHaveLength(before);
  });

  it('cannot be held to in a request that cannot be rewritten, which goes nowhere', async () => {
    const before = upstream.received.length;
    const rewriting = jest.spyOn(SearchLoop.prototype, 'request').mockImplementation(() => {
      throw new Error('no place for the tools');
    });
    try {
      const response = await ask(hiding, question('locked', 'own'));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'unreadable' } });
      expect(rewriting).toHaveBeenCalled();
      expect(upstream.received).toHaveLength(before);
    } finally {
      rewriting.mockRestore();
    }
  });

  it('are not decided on where the credential does not hold', async () => {
    const before = upstream.received.length;
    expect((await ask(passing, question('own'), 'Bearer forged')).status).toBe(401);
    expect(upstream.received).toHaveLength(before);
  });
});

describe('a tool that takes a connection', () => {
  const [reader] = careless;
  if (reader === undefined) throw new Error('There is no tool.');
  const tool = configured(reader, { connection: 'crm' });
  const crm = { id: 'crm', tenants: ['acme'], adapter: 'environment', variable: 'CRM' } as const;
  const configuration: Configuration = { ...configurationOf([tool]), connections: [crm] };
  const ann: Principal = {
    ...{ tenantId: 'acme', actorId: 'user:ann', subjectId: null, groups: ['*'], connections: ['crm'] },
  };
  const at = { question: 'Q', measured: { loads: {}, held: [] }, now: 0 };

  it.each<[string, Partial<Principal>, boolean]>([
    ['may use it', {}, true],
    ['may use all', { connections: ['*'] }, true],
    ['may use another', { connections: ['mail'] }, false],
    ['may use none', { connections: [] }, false],
    ['is of a tenant that it is not for', { tenantId: 'globex' }, false],
  ])('is for a caller who %s: %j', (_, changes, isAllowed) => {
    const caller = { principal: { ...ann, ...changes }, claims: undefined };
    const rights = rightsOf(caller, compileEvaluator(configuration), 'hide', at);
    expect([tool.id, tool.key, 'unknown'].map(rights)).toEqual([isAllowed, isAllowed, false]);
  });
});
