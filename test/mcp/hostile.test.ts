import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { localPrincipal } from '@sluice/core';
import { Limits } from '../../apps/mcp/src/limits.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { applyTo, versioned } from '../harness/applied.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const both = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

describe('a client that means no good', () => {
  let system: McpSystem;
  beforeAll(async () => {
    system = await startMcpSystem(workflowConfiguration());
  });
  afterAll(() => system.close());

  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(system.mcp.url, {
      method: 'POST',
      headers: { ...both, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
  /** The JSON-RPC message of an answer, which may be a stream of one. */
  const messageIn = async (answer: Response): Promise<Record<string, unknown>> => {
    const text = await answer.text();
    return JSON.parse(text.replace(/^(?:event: .*\n|id: .*\n)*data: /, '')) as Record<string, unknown>;
  };
  const begun = async (): Promise<string> => {
    // A connection that the server gives up after its idle time may be in use again just then: a client asks once more.
    const answer = await post(initialize('2025-11-25')).catch(() => post(initialize('2025-11-25')));
    await answer.text();
    return answer.headers.get('mcp-session-id') ?? '';
  };
  it('of a version that is not there gets one that is, or a list of those there are', async () => {
    const old = await messageIn(await post(initialize('1999-01-01')));
    expect(old).toMatchObject({ result: { protocolVersion: expect.stringMatching(/^2025-/) } });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2999-01-01',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
    const answer = await post(list, { 'mcp-protocol-version': '2999-01-01', 'mcp-method': 'tools/list' });
    expect(answer.status).toBe(400);
    expect(await messageIn(answer)).toMatchObject({
      error: { data: { supported: expect.arrayContaining(['2026-07-28']) } },
    });
    const session = await begun();
    const wrong = await post(
      { jsonrpc: '2.0', id: 2, method: 'ping' },
      { 'mcp-session-id': session, 'mcp-protocol-version': 'x' },
    );
    expect(wrong.status).toBe(400);
    await wrong.text();
  });

  it.each([
    ['a session that is made up', '00000000-0000-4000-8000-000000000000'],
    ['a session that is no id', '../../etc/passwd'],
    ['a very long session', 'x'.repeat(8_000)],
  ])('with %s gets 404, which makes a client begin a new session', async (_name, session) => {
    const answer = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': session });
    expect(answer.status).toBe(404);
    expect(await messageIn(answer)).toMatchObject({
      error: { message: expect.stringContaining('Initialize a new one') },
    });
  });

  it.each([
    ['an empty batch', '[]'],
    [
      'a batch of 10,000',
      JSON.stringify(Array.from({ length: 10_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
    ],
    ['no JSON', '{'],
    ['another JSON', '"hello"'],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":7}'],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"name":"x"}}}'],
  ])('that sends %s is refused', async (_name, body) => {
    const answer = await post(body, { 'mcp-session-id': await begun() });
    const text = await answer.text();
    expect([answer.status >= 400, text.includes('"error"')]).toContain(true);
    expect(answer.status).toBeLessThan(500);
  });

  it('that sends more than a message may have is refused before it is read', async () => {
    expect((await post({ ...initialize('2025-11-25'), padding: 'x'.repeat(2_000_000) })).status).toBe(413);
  });

  it('that begins a request and never ends it, or opens a stream and leaves, holds nothing up', async () => {
    const { hostname, port } = new URL(system.mcp.url);
    const half = Array.from({ length: 50 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"jsonrpc"`,
      );
      return socket;
    });
    const session = await begun();
    const leaving = new AbortController();
    const stream = await fetch(system.mcp.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': session },
      signal: leaving.signal,
    });
    expect(stream.status).toBe(200);
    const second = await fetch(system.mcp.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } });
    // The newest has the messages from now on: a client whose connection broke comes back so.
    expect(second.status).toBe(200);
    void second.body?.cancel();
    leaving.abort();
    const client = await newClient(system.mcp.url);
    expect((await client.listTools()).tools).toHaveLength(2);
    await client.close();
    for (const socket of half) socket.destroy();
  });

  it('that floods with sessions has a hundred, the others of whom are gone: those used least recently', async () => {
    const first = await begun();
    for (let n = 0; n < 25; n++) await Promise.all(Array.from({ length: 40 }, begun));
    expect(await system.metric('sluice_mcp_sessions')).toBeLessThanOrEqual(100);
    const gone = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': first });
    expect(gone.status).toBe(404);
    await gone.text();
  });

  it('that floods with calls has 64 under way, and learns when it may make another', async () => {
    const limits = new Limits(system.embedded.runtime);
    const admitted = await Promise.all(Array.from({ length: 70 }, () => limits.admit(localPrincipal)));
    expect(admitted.filter((one) => 'refused' in one)).toHaveLength(6);
    for (const one of admitted) if ('done' in one) one.done();
    expect(await limits.admit(localPrincipal)).toHaveProperty('done');
  });

  it('leaves the server as it was for the others', async () => {
    const client = await newClient(system.mcp.url);
    expect((await client.listTools()).tools).toHaveLength(2);
    await client.close();
  });
});

describe('a session of the older era', () => {
  it('outlives its process: the client goes on with what its calls had led to, and hears of changes', async () => {
    const system = await startMcpSystem(workflowConfiguration());
    const client = await oldClient(system.mcp.url);
    const { port } = new URL(system.mcp.url);
    await client.callTool({ name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } });
    await system.mcp.close();
    const { runtime } = system.embedded;
    const again = await startMcp({ ...runtime, environment: { ...runtime.environment, mcpPort: Number(port) } });
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    // The connection that was kept alive is gone with the process, so the first request may not get there at all.
    const listed = await eventually(
      () => client.listTools().catch(() => null),
      (answer) => answer !== null,
    );
    expect(listed?.tools.map(({ name }) => name)).toContain('graph-update');
    // Its stream is back as soon as the client tries.
    await eventually(
      async () => {
        const { configuration } = runtime.configurations.current();
        const tools = configuration.tools.map((tool) => ({ ...tool, description: `${tool.description} Or so.` }));
        await applyTo(runtime, versioned({ ...configuration, tools }));
        return changes;
      },
      (count) => count > 0,
    );
    await client.close();
    await again.close();
    await system.embedded.close();
  });
});
