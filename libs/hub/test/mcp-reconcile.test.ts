import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import type { BoundTool } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { createToolSource } from '@sluice/sources';
import { context, patience, sha256 } from '../../sources/test/configured.js';

const args = [join(import.meta.dirname, 'mcp-servers/orders.mjs')];
const server = { id: 'orders', command: process.execPath, args, env: [], url: null, startMs: 30_000 };
const hub = createMcpHub([server], {
  environment: () => ({ PATH: process.env['PATH'] ?? '' }),
  onChange: () => undefined,
  log: () => undefined,
});
afterAll(() => hub.close());

async function compiled(place: object) {
  const file = {
    tool: { place: { type: 'mcp-tool' } },
    policy: { allowed_tools: ['place'] },
    mcp: {
      servers: { orders: { command: 'node' } },
      tools: { place: { server: 'orders', tool: 'place', redaction: ['number'], ...place } },
    },
  };
  const files = { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] };
  return compileConfiguration(file, { types: [], offers: await hub.discover(), digest: sha256, files });
}

async function bound(): Promise<BoundTool> {
  const { configuration } = await compiled({ reconcile: 'outcome_of' });
  if (configuration === null) throw new Error('It has mistakes.');
  const tool = createToolSource(configuration, { contracts: [], mcp: hub }).getBoundTool('mcp__orders__place');
  if (tool === undefined) throw new Error('It is not offered.');
  return tool;
}

describe('an MCP tool with `reconcile`', () => {
  const asked = async (tool: BoundTool, key: string) =>
    tool.reconcile?.({ item: 1 }, { ...context, key }, { cancellation: { signal: patience() }, idempotency: { key } });

  it('asks the other tool of its server, with the key and the arguments of the call', async () => {
    const tool = await bound();
    const answer = await asked(tool, 'placed');
    expect(answer).toEqual({ outcome: 'happened', result: { number: 7 } });
    expect(tool.redact(tool.validateOutput((answer as { result: unknown }).result))).toEqual({ number: 7 });
    expect(await asked(tool, 'lost')).toEqual({ outcome: 'did_not_happen' });
    await expect(asked(tool, 'other')).rejects.toThrow('none of its three outcomes');
  });

  it('is withheld where its server offers no such tool, and refused where it changes nothing', async () => {
    const { configuration } = await compiled({ reconcile: 'outcome' });
    expect(configuration?.tools[0]?.unavailable).toMatch(/mcp\.tools\.place\.reconcile: .*no tool "outcome"/);
    const { problems } = await compiled({ reconcile: 'outcome_of', effect: 'read_only' });
    expect(problems).toMatchObject([{ path: 'mcp.tools.place.reconcile' }]);
  });
});
