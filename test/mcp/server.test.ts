import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name);
const inAnalysis = ['graph-update', 'text-completion', 'analysis___complex-analysis', 'analysis___reset-workflow'];

describe('the MCP server', () => {
  let system: McpSystem;
  beforeAll(async () => {
    const shown = 'icon: "https://example.com/text.png"\n    examples: [{ prompt: Hello }]';
    system = await startMcpSystem(
      workflowConfiguration().replace('name: "Text Completion"', (name) => `${name}\n    ${shown}`),
    );
  });
  afterAll(() => system.close());

  it('lists what the caller may call in its state, and a transition changes the list (M-20, M-21, M-22)', async () => {
    const client = await oldClient(system.mcp.url);
    expect(client.getInstructions()).toContain('list the tools again after the server says that the list has changed');
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    expect(names((await client.listTools()).tools)).toEqual(['knowledge-query', 'text-completion']);

    const called = await client.callTool({
      name: 'knowledge-query',
      arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' },
    });
    expect(called).toMatchObject({ isError: false, content: [{ type: 'text' }] });
    expect(names((await client.listTools()).tools)).toEqual(inAnalysis);
    await eventually(
      () => changes,
      (count) => count > 0,
    );
    const denied = await client.callTool({ name: 'knowledge-query', arguments: { sparql: 'ASK {}' } });
    expect(denied).toMatchObject({ isError: true });
    await client.close();
  });

  it('has a page about each listed tool, which runs nothing, and completes names and arguments (M-06)', async () => {
    const client = await oldClient(system.mcp.url);
    const before = (await system.all('agent.calls')).length;
    const { resources } = await client.listResources();
    expect(names(resources)).toEqual(['knowledge-query', 'text-completion']);
    expect(resources.map(({ title }) => title)).toEqual(['Knowledge Graph Query', 'Text Completion']);
    const { contents } = await client.readResource({ uri: 'sluice://tools/knowledge-query' });
    expect(contents).toEqual([
      {
        uri: 'sluice://tools/knowledge-query',
        mimeType: 'text/markdown',
        text: expect.stringContaining('**Arguments:**'),
      },
    ]);
    // Of what is not listed now there is no page.
    await expect(client.readResource({ uri: 'sluice://tools/graph-update' })).rejects.toMatchObject({ code: -32_602 });
    const ref = { type: 'ref/resource', uri: 'sluice://tools/{name}' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'KNOW' } });
    expect(completion.values).toEqual(['knowledge-query']);
    expect((await system.all('agent.calls')).length).toBe(before);
    await client.close();
  });

  const sent = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(system.mcp.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const begun = (protocolVersion: string): Promise<Response> =>
    sent({
      ...{ id: 1, method: 'initialize' },
      params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'begins a session in revision %s, and sends annotations, icons and examples in each (M-01, XM-1, XM-2)',
    async (revision) => {
      const answer = await begun(revision);
      expect(await answer.text()).toContain(`"protocolVersion":"${revision}"`);
      const headers = {
        'mcp-session-id': answer.headers.get('mcp-session-id') ?? '',
        // The header is of later revisions.
        ...(revision < '2025-06-18' ? {} : { 'mcp-protocol-version': revision }),
      };
      await sent({ method: 'notifications/initialized' }, headers);
      const list = await (await sent({ id: 2, method: 'tools/list' }, headers)).text();
      expect(list).toContain('"annotations":{"title":"Text Completion","readOnlyHint":true');
      expect(list).toContain('"icons":[{"src":"https://example.com/text.png"}]');
      expect(list).toContain('"examples":[{"prompt":"Hello"}]');
    },
  );

  it('answers one that asks for a revision it does not know with one that it does (XM-1)', async () => {
    expect(await (await begun('2099-01-01')).text()).toContain('"protocolVersion":"2025-11-25"');
  });

  describe('takes clients as they are', () => {
    let headers: Record<string, string>;
    beforeAll(async () => {
      const answer = await begun('2025-06-18');
      headers = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-06-18' };
      await answer.text();
      await sent({ method: 'notifications/initialized' }, headers);
    });

    it.each([
      ['any kind of answer', '*/*'],
      ['nothing by name', ''],
      ['kinds of answers by their families', 'application/*, text/*'],
    ])('that accept %s', async (_, accept) => {
      const answer = await sent({ id: 3, method: 'ping' }, { ...headers, accept });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"id":3')]);
    });

    it.each([
      ['a cursor', { cursor: null }],
      ['parameters', null],
    ])('that write null for %s that they leave out', async (_, params) => {
      const answer = await sent({ id: 4, method: 'tools/list', params }, headers);
      expect(await answer.text()).toContain('"name":"knowledge-query"');
    });

    it('that begin again with the id of a session that ended, or that they left', async () => {
      for (const id of ['no-such-session', headers['mcp-session-id'] ?? '']) {
        const initialize = {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'raw', version: '1' },
        };
        const answer = await sent({ id: 1, method: 'initialize', params: initialize }, { 'mcp-session-id': id });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('mcp-session-id')).not.toBe(id);
        await answer.text();
      }
    });

    it('that send arguments as JSON text: the model reads what to write (M-30, M-33)', async () => {
      const params = { name: 'text-completion', arguments: '{"prompt":"Hello"}' };
      const answer = await (await sent({ id: 5, method: 'tools/call', params }, headers)).text();
      expect(answer).toContain('The arguments came as a text, which may hold JSON, and must be one JSON object.');
      expect(answer).toContain('"isError":true');
      expect(answer).toContain('"category":"user_input"');
    });

    it('that asked for no level of logging: nothing is said beside the answer', async () => {
      const params = { name: 'text-completion', arguments: {} };
      const quiet = await (await sent({ id: 6, method: 'tools/call', params }, headers)).text();
      expect(quiet).not.toContain('notifications/');
      await (await sent({ id: 7, method: 'logging/setLevel', params: { level: 'debug' } }, headers)).text();
      const spoken = await (await sent({ id: 8, method: 'tools/call', params }, headers)).text();
      expect(spoken).toContain('"method":"notifications/message"');
    });

    it.each(['TRACE', 'PUT', 'HEAD', 'OPTIONS'])('but for %s, which it has no use for', async (method) => {
      const { hostname, port, pathname } = new URL(system.mcp.url);
      const status = await new Promise((resolve, reject) => {
        const asked = request({ hostname, port, path: pathname, method }, (response) => {
          response.resume();
          resolve([response.statusCode, response.headers.allow]);
        });
        asked.on('error', reject).end();
      });
      expect(status).toEqual([405, 'GET, POST, DELETE']);
    });
  });

  it('says what to do while no configuration is in force', async () => {
    const { runtime } = system.embedded;
    const configurations = Object.assign(Object.create(runtime.configurations) as typeof runtime.configurations, {
      inForceOrNull: () => null,
    });
    const empty = await startMcp({ ...runtime, configurations });
    const answer = await fetch(empty.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.text()).toContain('sluice config apply FILE');
    await empty.close();
  });

  it('serves the newer era on the same endpoint', async () => {
    const client = await newClient(system.mcp.url);
    const { tools } = await client.listTools();
    expect(names(tools)).toEqual(['knowledge-query', 'text-completion']);
    expect(tools[1]).toMatchObject({ icons: [{ src: 'https://example.com/text.png' }] });
    const called = await client.callTool({
      name: 'knowledge-query',
      arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' },
    });
    expect(called).toMatchObject({ isError: false, content: [{ type: 'text' }] });
    await client.close();
  });
});
