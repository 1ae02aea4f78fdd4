import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/counting.mjs');
const configuration = (more = ''): string => `
tool:
  look: { type: mcp-tool, group: [g] }
  ${more}
mcp:
  servers: { counting: { command: node, args: ["${server}"] } }
  tools:
    look: { server: counting, tool: look, effect: read_only, redaction: whole }
    a: { server: counting, resource: 'count://a*', redaction: whole }
    later: { server: counting, resource: 'count://b', redaction: whole }
    template: { server: counting, resource: 'count://{*', redaction: whole }
    review: { server: counting, prompt: review, redaction: whole }
    denied: { server: counting, resource: '*', redaction: whole }
policy:
  allowed_tools: [look${more === '' ? '' : ', a, later, template, review'}]
`;
const entries = `a: { type: mcp-tool, group: [g] }
  later: { type: mcp-tool, group: [g], available_in_states: [later] }
  template: { type: mcp-tool, group: [g] }
  review: { type: mcp-tool, group: [g] }
  denied: { type: mcp-tool, group: [g] }`;

describe('resources and prompts of upstream servers', () => {
  let system: McpSystem;
  beforeAll(async () => {
    system = await startMcpSystem(configuration(entries));
  });
  afterAll(() => system.close());

  it('come beside tools with the titles and pictures of their server, as far as clients can show them (M-51)', async () => {
    const client = await newClient(system.mcp.url);
    expect((await client.listTools()).tools).toEqual([
      expect.objectContaining({
        name: 'counting___look',
        title: 'Look around',
        annotations: expect.objectContaining({ title: 'Look around' }),
        icons: [{ src: 'https://example.com/look.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }],
      }),
    ]);
    await client.close();
  });

  it.each(['2025-11-25', '2026-07-28'])(
    'are passed on as entries, states and policy have it, and are no tools (M-06), in the era of %s',
    async (era) => {
      const client = await (era === '2026-07-28' ? newClient : oldClient)(system.mcp.url);
      // The server has no subscriptions.
      expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
      const { resources } = await client.listResources();
      expect(resources.filter(({ uri }) => !uri.startsWith('sluice:'))).toEqual([{ uri: 'count://a', name: 'a' }]);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.slice(1)).toEqual([{ uriTemplate: 'count://{name}', name: 'any' }]);
      const { contents } = await client.readResource({ uri: 'count://a' });
      expect(contents).toEqual([
        { uri: 'count://a', mimeType: 'text/plain', text: expect.stringMatching(/^count:\/\/a \d+$/) },
      ]);
      // Not in this state, not allowed, of no entry: a caller cannot tell these apart.
      for (const uri of ['count://b', 'count://secret', 'count://nothing'])
        await expect(client.readResource({ uri })).rejects.toThrow('There is no such resource.');
      const { prompts } = await client.listPrompts();
      expect(prompts).toEqual([
        { name: 'review', description: 'Review it.', arguments: [{ name: 'what', required: true }] },
      ]);
      const { messages } = await client.getPrompt({ name: 'review', arguments: { what: 'it' } });
      expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review it.' } }]);
      await expect(client.getPrompt({ name: 'other' })).rejects.toThrow('There is no prompt of this name.');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['counting___look']);
      await client.close();
    },
  );

  it('stand on the log as calls do, and no model is shown them', async () => {
    const client = await oldClient(system.mcp.url);
    await client.readResource({ uri: 'count://a' });
    await client.close();
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.at(-1)).toMatchObject({ action: 'a', arguments: '{"uri":"count://a"}', outcome: 'ok' });
    const { history } = await system.ask({ group: ['g'] });
    expect(history).toEqual([]);
    const toolset = (await system.all('agent.toolsets')).at(-1)?.record;
    expect(toolset?.tools.map(({ key }) => key)).toEqual(['look']);
    expect(toolset?.hidden).toContainEqual({ key: 'a', reasons: ['tool_ids'] });
  });
});

describe('a configuration without such entries', () => {
  it('passes no resource and no prompt on', async () => {
    const system = await startMcpSystem(configuration());
    const client = await oldClient(system.mcp.url);
    expect(client.getServerCapabilities()?.prompts).toBeUndefined();
    await expect(client.readResource({ uri: 'count://a' })).rejects.toThrow();
    await client.close();
    await system.close();
  });
});
