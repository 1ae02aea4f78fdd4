import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@sluice/core';
import { projectRoot } from '../harness/configurations.js';
import { newClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/asking.mjs');
const configuration = `
tool:
  ask: { type: mcp-tool, group: [g] }
mcp:
  servers:
    asking:
      command: node
      args: ["${server}"]
      sampling: { calls: 2, tokens: 200 }
  tools:
    ask: { server: asking, tool: ask, effect: read_only, redaction: whole }
policy:
  allowed_tools: [ask]
`;

const sampling = (text: string, more: JsonObject = {}): JsonObject => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 50, ...more },
});

type Answers = { readonly structuredContent: { readonly answers: readonly JsonObject[] } };

describe('what an MCP server asks in the middle of a call of an MCP client', () => {
  let system: McpSystem;
  beforeAll(async () => {
    system = await startMcpSystem(configuration);
  });
  afterAll(() => system.close());

  const ask = async (requests: readonly JsonObject[]): Promise<readonly JsonObject[]> => {
    const client = await newClient(system.mcp.url);
    const given = { name: 'asking___ask', arguments: { requests } };
    const { structuredContent } = (await client.callTool(given)) as unknown as Answers;
    await client.close();
    return structuredContent.answers;
  };

  it('a model of the configuration answers it, without tools, as often as its entry permits', async () => {
    const answers = await ask([
      sampling('Hello', { systemPrompt: 'Be brief.' }),
      sampling('x'.repeat(600)),
      sampling('Again'),
      sampling('And again', { tools: [] }),
    ]);
    const text = { type: 'text', text: 'No model is asked.' };
    expect(answers).toEqual([
      { role: 'assistant', content: text, model: expect.any(String), stopReason: 'endTurn' },
      { code: -32600, message: expect.stringContaining('200 tokens') },
      { code: -32600, message: expect.stringContaining('2 requests') },
      { code: -32602, message: expect.stringContaining('has no tools') },
    ]);
    const labels = { server: 'asking', kind: 'sampling' };
    expect(await system.metric('sluice_mcp_questions_total', { ...labels, outcome: 'answered' })).toBe(1);
    expect(await system.metric('sluice_mcp_questions_total', { ...labels, outcome: 'refused' })).toBe(3);
  });
});
