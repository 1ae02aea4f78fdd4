import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { strangerProblem } from '../../apps/mcp/src/loopback.js';
import type { Origin } from '../../apps/mcp/src/loopback.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Principal } from '@sluice/core';
import { callRequest, requestIdOf } from '@sluice/mcp';
import { eventually } from '../harness/eventually.js';
import { anyone, asked, configured, decide } from '../harness/approving.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { getWithHost } from '../gateway/over-http.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const query = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
const key = (text: string): object => ({ _meta: { 'sluice/idempotency_key': text } });
const requestId = (result: { readonly _meta?: unknown }): unknown =>
  (result._meta as Readonly<Record<string, unknown>> | undefined)?.['sluice/request_id'];

const both = 'application/json, text/event-stream';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

function post(url: string, message: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: both, ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
    signal: AbortSignal.timeout(120_000),
  });
}

describe('calls over MCP without an identity', () => {
  let system: McpSystem;
  beforeAll(async () => {
    system = await startMcpSystem(configured(anyone));
  });
  afterAll(() => system.close());

  it('are runs of their own, named in the result and on the log as any other (M-110)', async () => {
    const client = await oldClient(system.mcp.url);
    const id = requestId(await client.callTool(query));
    const steps = (await system.all('agent.steps')).filter(({ record }) => record.requestId === id);
    expect(steps.flatMap(({ record }) => record.steps.map(({ action, outcome }) => [action, outcome]))).toEqual([
      ['knowledge-query', 'ok'],
    ]);
    await client.close();
  });

  it('that a client repeats under one key are made once, and the key is good for no other call', async () => {
    const client = await oldClient(system.mcp.url);
    const completion = { name: 'text-completion', arguments: { prompt: 'Say so' } };
    const first = await client.callTool({ ...completion, ...key('k-1') });
    const again = await client.callTool({ ...completion, ...key('k-1') });
    expect(requestId(again)).toBe(requestId(first));
    expect(again.content).toEqual(first.content);
    const other = { name: 'text-completion', arguments: { prompt: 'Say something else' }, ...key('k-1') };
    await expect(client.callTool(other)).rejects.toMatchObject({ code: -32_602 });
    await client.close();
  });

  it('of a name that the configuration does not have are an error of the protocol, of wrong arguments a result (M-31, XM-3)', async () => {
    const client = await oldClient(system.mcp.url);
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
    expect(await client.callTool({ name: 'text-completion', arguments: {} })).toMatchObject({
      isError: true,
      _meta: { 'sluice/error': { category: 'user_input', code: 'validation' } },
    });
    await client.close();
  });

  it('that need an approval answer that they wait, and go on when they are made again after the decision', async () => {
    const client = await oldClient(system.mcp.url);
    await client.callTool(query);
    const [reset] = (await client.listTools()).tools.filter(({ name }) => name.endsWith('reset-workflow'));
    const call = { name: reset?.name ?? '', arguments: {} };
    const waits = await client.callTool(call);
    expect(waits).toMatchObject({ isError: true, _meta: { 'sluice/approval': { status: 'pending' } } });
    expect(requestId(await client.callTool(call))).toBe(requestId(waits));
    await decide(system, await asked(system), 'approve');
    const made = await client.callTool(call);
    expect(made).toMatchObject({ isError: false });
    expect(requestId(made)).toBe(requestId(waits));
    await client.close();
  });

  it('that have no arguments, are no JSON, or too large leave the server as it was', async () => {
    const large = JSON.stringify({ ...initialize, params: { ...initialize.params, padding: 'x'.repeat(1_100_000) } });
    for (const [body, status] of [
      ['{"jsonrpc":', 400],
      ['[]', 400],
      [large, 413],
    ] as const)
      expect([body.slice(0, 12), (await post(system.mcp.url, body)).status]).toEqual([body.slice(0, 12), status]);
    const client = await oldClient(system.mcp.url);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
  });

  it.each([
    ['a page under a name of its own', { origin: 'http://evil.example' }],
    ['a page of another port of this machine’s name', { origin: 'null' }],
  ])('do not come from %s', async (_name, headers) => {
    expect((await post(system.mcp.url, initialize, headers)).status).toBe(403);
  });

  it('do not come from a page whose name was brought to this address', async () => {
    const { status, body } = await getWithHost('evil.example:8093', system.mcp.url);
    expect([status, JSON.parse(body)]).toMatchObject([403, { error: { message: expect.stringContaining('`host`') } }]);
  });

  it('come from this machine, under its own name', () => {
    const here = { remoteAddress: '127.0.0.1', host: 'localhost:8093', origin: undefined };
    const problemOf = (origin: Origin) => strangerProblem(origin, { allowedHosts: ['mcp.example'] });
    expect(problemOf(here)).toBeNull();
    expect(problemOf({ ...here, remoteAddress: '::1', origin: 'http://127.0.0.1:3000' })).toBeNull();
    expect(problemOf({ ...here, remoteAddress: '10.0.0.7' })).toContain('another machine');
    expect(problemOf({ ...here, host: 'evil.example' })).toContain('`host`');
    expect(problemOf({ ...here, host: 'mcp.example:8093' })).toBeNull();
    expect(problemOf({ ...here, host: undefined })).toContain('`host`');
    expect(problemOf({ ...here, origin: 'http://evil.example' })).toContain('another origin');
  });
});

describe('calls over MCP of callers who are known', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mcp-'));
  const keyFile = join(folder, 'issuer.json');
  let system: McpSystem;
  let ann: string;
  let bob: string;
  let cat: string;
  let dan: string;

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    ann = await users.token({ sub: 'ann', tenant: 'acme', tool_groups: ['read-only'] });
    bob = await users.token({ sub: 'bob', tenant: 'other', tool_groups: ['*'] });
    cat = await users.token({ sub: 'cat', tenant: 'acme', tool_groups: ['*'] });
    dan = await users.token({ sub: 'dan', tenant: 'acme', tool_groups: ['*'] });
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }\n`;
    system = await startMcpSystem(identity + workflowConfiguration(), { mcpCallsPerMinute: 3 });
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  it('need a credential: without one the answer says where to get it', async () => {
    const refused = await post(system.mcp.url, initialize);
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const metadata = await fetch(address);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [issuer], resource: system.mcp.url });
    const forged = await post(system.mcp.url, initialize, { authorization: 'Bearer e30.e30.e30' });
    expect(forged.status).toBe(401);
    expect(forged.headers.get('www-authenticate')).toContain('invalid_token');
  });

  it('list and make what the credential permits, which is not the same for all (M-78, XB-36)', async () => {
    const client = await oldClient(system.mcp.url, ann);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['knowledge-query', 'text-completion']);
    await client.callTool(query);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['text-completion']);
    const denied = await client.callTool({ name: 'graph-update', arguments: { update: 'x' } });
    expect(denied).toMatchObject({ isError: true, _meta: { 'sluice/error': { category: 'permission' } } });
    await client.close();
  });

  it('are in a session of their own, which another caller can neither use nor end', async () => {
    const begun = await post(system.mcp.url, initialize, { authorization: `Bearer ${bob}` });
    const session = begun.headers.get('mcp-session-id') ?? '';
    await begun.text();
    expect(session).not.toBe('');
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const as = (token: string) => ({
      ...{ authorization: `Bearer ${token}`, 'mcp-session-id': session, accept: 'text/event-stream' },
    });
    // Nor at another replica, which did not begin it.
    const other = await startMcp(system.embedded.runtime);
    for (const { url } of [system.mcp, other]) {
      expect((await post(url, list, { ...as(ann), accept: both })).status).toBe(404);
      expect((await fetch(url, { headers: as(ann) })).status).toBe(404);
      const ended = await fetch(url, { method: 'DELETE', headers: as(ann) });
      expect(ended.status).toBe(404);
      const served = await post(url, list, { ...as(bob), accept: both });
      expect(served.status).toBe(200);
      await served.text();
    }
    await other.close();
  });

  it('that two of one tenant name alike are two, in the era without sessions too; a key whose id is taken is refused at once', async () => {
    const [catClient, danClient] = [await newClient(system.mcp.url, cat), await newClient(system.mcp.url, dan)];
    const call = { name: 'text-completion', arguments: { prompt: 'Say so' }, ...key('k-1') };
    const ids = [await catClient.callTool(call), await danClient.callTool(call), await catClient.callTool(call)];
    expect(ids.map(({ isError }) => isError)).toEqual([false, false, false]);
    const [cats, dans, again] = ids.map(requestId);
    expect(again).toBe(cats);
    expect(dans).not.toBe(cats);

    const taken = 'k-2';
    const { configurations, bus } = system.embedded.runtime;
    const tool = configurations.current().evaluator.configuration.tools.find(({ key: of }) => of === 'text-completion');
    if (tool === undefined) throw new Error('The tool is not configured.');
    const caller: Principal = {
      tenantId: 'acme',
      actorId: 'user:dan',
      subjectId: null,
      groups: ['*'],
      connections: [],
    };
    const id = requestIdOf('', caller, { kind: 'key', text: taken });
    const record = callRequest(caller, null, tool, {}, { requestId: id, sessionId: id });
    await bus.publish([{ topic: 'agent.requests', key: id, record, headers: { authorization: `Bearer ${cat}` } }]);
    await eventually(
      async () => (await system.all('agent.responses')).some(({ record: { requestId: of } }) => of === id),
      (hasEnded) => hasEnded,
    );
    await expect(danClient.callTool({ ...call, ...key(taken) })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('names another run'),
    });
    await catClient.close();
    await danClient.close();
  });

  it('are limited in a minute, and a refused one says when to try again (M-81)', async () => {
    const client = await oldClient(system.mcp.url, bob);
    const results = [];
    for (let n = 0; n < 4; n++)
      results.push(await client.callTool({ name: 'text-completion', arguments: { prompt: `${n}` } }));
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, true]);
    expect(results[3]).toMatchObject({
      content: [{ text: expect.stringMatching(/may make 3 calls in a minute\. Try again in \d+ s/) }],
      _meta: { 'sluice/error': { category: 'system', code: 'unavailable' } },
    });
    await client.close();
  });
});
