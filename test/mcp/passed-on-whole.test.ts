import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../harness/eventually.js';
import { projectRoot } from '../harness/configurations.js';
import { clientInfo, newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/talking.mjs');
const configuration = `
tool:
  grow: { type: mcp-tool, group: [g] }
  resources: { type: mcp-tool, group: [g] }
  prompts: { type: mcp-tool, group: [g] }
  late: { type: mcp-tool, group: [g], available_in_states: [later] }
  fields: { type: mcp-tool, group: [h] }
mcp:
  servers: { talking: { command: node, args: ["${server}"] } }
  tools:
    grow: { server: talking, tool: grow, redaction: whole }
    resources: { server: talking, resource: '*', redaction: whole }
    fields: { server: talking, resource: 'talk://blob', redaction: [contents] }
    prompts: { server: talking, prompt: '*r*', redaction: whole }
    late: { server: talking, prompt: late, redaction: whole }
policy:
  allowed_tools: [grow, resources, prompts, late]
`;

describe('everything that a server has beside tools, by one entry of a pattern', () => {
  let system: McpSystem;
  let direct: Client;
  beforeAll(async () => {
    system = await startMcpSystem(configuration);
    direct = new Client(clientInfo);
    await direct.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
  });
  afterAll(async () => {
    await direct.close();
    await system.close();
  });

  it.each(['2025-11-25', '2026-07-28'])(
    'comes to a client of %s as the server gave it, bytes included',
    async (era) => {
      const client = await (era === '2026-07-28' ? newClient : oldClient)(system.mcp.url);
      const { resources } = await direct.listResources();
      expect((await client.listResources()).resources.filter(({ uri }) => !uri.startsWith('sluice:'))).toEqual(
        resources,
      );
      for (const { uri } of resources) {
        const { contents } = await direct.readResource({ uri });
        expect((await client.readResource({ uri })).contents).toEqual(contents);
      }
      const { prompts } = await direct.listPrompts();
      expect((await client.listPrompts()).prompts).toEqual(
        prompts.filter(({ name }) => name !== 'late').map((prompt) => ({ ...prompt, name: `prompts/${prompt.name}` })),
      );
      for (const [name, given] of [
        ['greet', { city: 'Rome' }],
        ['draw', {}],
      ] as const) {
        const { messages } = await direct.getPrompt({ name, arguments: given });
        expect((await client.getPrompt({ name: `prompts/${name}`, arguments: given })).messages).toEqual(messages);
      }
      await client.close();
    },
  );

  it('stands on the log without the bytes, which the content store has', async () => {
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    const ofBlob = steps.find(({ arguments: given }) => given.includes('talk://blob'));
    expect(JSON.parse(ofBlob?.observation ?? '')).toEqual({
      contents: [
        { uri: 'talk://blob', mimeType: 'application/zip', bytes: 50_000, _meta: { 'example.com/kind': 'zip' } },
      ],
    });
    expect(ofBlob?.content).toEqual([
      expect.objectContaining({ kind: 'result' }),
      expect.objectContaining({ kind: 'resource', type: 'application/zip', size: 50_000, name: 'talk://blob' }),
    ]);
  });

  it.each(['2025-11-25', '2026-07-28'])('completes arguments as the server does, for a client of %s', async (era) => {
    const client = await (era === '2026-07-28' ? newClient : oldClient)(system.mcp.url);
    const argument = { name: 'city', value: 'Ro' };
    const context = { arguments: { country: 'Italy' } };
    const asked = async (ref: Parameters<Client['complete']>[0]['ref']) =>
      (await client.complete({ ref, argument, context })).completion;
    const { completion } = await direct.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument, context });
    expect(completion.values.slice(0, 2)).toEqual(['greet:city=Ro', '{"country":"Italy"}']);
    expect(await asked({ type: 'ref/prompt', name: 'prompts/greet' })).toEqual(completion);
    const ofTemplate = await asked({ type: 'ref/resource', uri: 'talk://of/{city}' });
    expect(ofTemplate.values[0]).toBe('talk://of/{city}:city=Ro');
    // Not in this state, of no such name, and of none at all: a caller cannot tell these apart.
    for (const name of ['late', 'prompts/nothing', 'prompts/late', 'nothing'])
      await expect(asked({ type: 'ref/prompt', name })).rejects.toThrow('There is no tool and no prompt of this name.');
    await client.close();
  });

  it('says to clients of both eras that a list of the server is another one', async () => {
    const [old, recent] = [await oldClient(system.mcp.url), await newClient(system.mcp.url)];
    const heard: string[] = [];
    old.setNotificationHandler(PromptListChangedNotificationSchema, () => void heard.push('old prompts'));
    old.setNotificationHandler(ResourceListChangedNotificationSchema, () => void heard.push('old resources'));
    recent.setNotificationHandler('notifications/prompts/list_changed', () => void heard.push('new prompts'));
    recent.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('new resources'));
    const { close } = await recent.listen({ promptsListChanged: true, resourcesListChanged: true });
    await old.callTool({ name: 'talking___grow', arguments: {} });
    await eventually(
      () => heard,
      ({ length }) => length >= 4,
    );
    expect(heard.toSorted()).toEqual(['new prompts', 'new resources', 'old prompts', 'old resources']);
    expect((await recent.listPrompts()).prompts.map(({ name }) => name)).toContain('prompts/growth');
    expect((await recent.readResource({ uri: 'talk://grown' })).contents).toEqual([
      { uri: 'talk://grown', text: 'grown' },
    ]);
    await close();
    await Promise.all([old.close(), recent.close()]);
  });

  it('completes nothing where the server takes long', async () => {
    const client = await newClient(system.mcp.url);
    const began = performance.now();
    const argument = { name: 'city', value: 'slow' };
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'prompts/greet' }, argument });
    expect(completion).toEqual({ values: [] });
    expect(performance.now() - began).toBeLessThan(9_000);
    await client.close();
  });
});
