import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { ToolHeldBackError, ToolInputError, ToolOutput } from '@sluice/core';
import type { BoundTool, JsonValue } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { createToolSource } from '@sluice/sources';
import type { McpHub } from '@sluice/hub';
import { context, patience, sha256 } from '../../sources/test/configured.js';
import { whatIsThrown } from './waiting.js';

const args = [join(import.meta.dirname, 'mcp-servers/models.mjs')];
const server = { id: 'models', command: process.execPath, args, env: [], url: null, startMs: 10_000 };
const hubs: McpHub[] = [];
afterEach(() => Promise.all(hubs.splice(0).map((hub) => hub.close())));

function open(): McpHub {
  const hub = createMcpHub([server], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: () => undefined,
    log: () => undefined,
  });
  hubs.push(hub);
  return hub;
}

async function compiled(hub: McpHub) {
  const names = ['search', 'plant'];
  const file = {
    tool: Object.fromEntries(names.map((name) => [name, { type: 'mcp-tool' }])),
    policy: { allowed_tools: names },
    mcp: {
      servers: { models: { command: 'node' } },
      tools: Object.fromEntries(names.map((tool) => [tool, { server: 'models', tool, redaction: 'whole' }])),
    },
  };
  const files = { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] };
  const { configuration, findings } = compileConfiguration(file, {
    types: [],
    offers: await hub.discover(),
    digest: sha256,
    files,
  });
  if (configuration === null) throw new Error('It has mistakes.');
  return { configuration, findings };
}

async function call(tool: BoundTool, given: JsonValue): Promise<unknown> {
  const capabilities = { cancellation: { signal: patience() }, idempotency: { key: 'k' } };
  const output = await tool.exec(await tool.validateInput(given), context, capabilities);
  return output instanceof ToolOutput ? output.value : output;
}

describe('tools of a server with optional and nested parameters, as its authors write them (T-10d)', () => {
  it('are offered within the subset, called as their server means it, and refused where it is stricter', async () => {
    const hub = open();
    const { configuration, findings } = await compiled(hub);
    const tool = createToolSource(configuration, { contracts: [], mcp: hub }).getBoundTool('mcp__models__search');
    if (tool === undefined) throw new Error('It is not offered.');
    expect(tool.spec.inputSchema).toMatchObject({
      properties: {
        limit: { type: 'integer', minimum: 1, description: 'How many.' },
        sort: { type: 'string', enum: ['asc', 'desc'] },
        to: { type: 'object', required: ['street'] },
      },
      required: ['query', 'from'],
    });
    expect(JSON.stringify(tool.spec)).not.toMatch(/anyOf|\$ref/);
    expect(findings.filter(({ kind }) => kind === 'simplified').map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^The input schema of search was simplified at \/properties\/limit, \/properties\/sort and/,
      ),
    ]);

    // What is left out is left to the server, which fills in its own.
    const given = { query: 'q', from: { street: 's', zip: '1' }, sort: 'desc', to: { street: 't', zip: '2' } };
    expect(await call(tool, given)).toEqual({ ...given, limit: null });
    // The server allows null, which models are not shown.
    expect(await call(tool, { ...given, limit: null })).toEqual({ ...given, limit: null });
    expect(() => tool.validateInput({ ...given, limit: 0 })).toThrow(ToolInputError);
    expect(() => tool.validateInput({ ...given, sort: 'up' })).toThrow('/sort: expected one of "asc", "desc"');
  });

  it('are held to what the server offers, not to what became of it (K-60)', async () => {
    const hub = open();
    const { mcp } = (await compiled(hub)).configuration.tools[0] ?? {};
    const ask = (pin: string | null) =>
      hub.call('models', 'search', { query: 'q', from: { street: 's' } }, { signal: patience(), timeoutMs: 5_000, idempotencyKey: 'k', pin }); // prettier-ignore
    expect(await ask(mcp?.pin ?? null)).toMatchObject({ query: 'q' });
    expect(await whatIsThrown(ask('0'.repeat(64)))).toBeInstanceOf(ToolHeldBackError);
  });

  it('are refused alone where one refers to itself, with the sentence that says so', async () => {
    const { configuration } = await compiled(open());
    expect(configuration.tools.map(({ key, unavailable }) => [key, unavailable])).toEqual([
      ['search', null],
      [
        'plant',
        'The input schema uses `$ref` at /properties/tree/properties/children/items for "#/definitions/__schema0", which it is a part of: a schema that refers to itself has no end.',
      ],
    ]);
  });
});
