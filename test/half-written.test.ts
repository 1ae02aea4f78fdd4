import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { halfWritten } from '@sluice/core';
import { replayed } from './replay/replaying.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';

/** A server without any library, which answers with the line that it was sent. */
const source = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const say = (result) => process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + '}\\n');
  if (method === 'initialize')
    say(JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'd', version: '1' } }));
  else if (method === 'tools/list')
    say('{"tools":[{"name":"take","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}]}');
  else say(JSON.stringify({ content: [{ type: 'text', text: 'got ' + line }] }));
}
`;
const folder = mkdtempSync(join(tmpdir(), 'half-'));
const script = join(folder, 'server.mjs');
writeFileSync(script, source);
const configuration = `
tool: { take: { type: mcp-tool } }
policy: { allowed_tools: [take], approval: { none: "It is a test." } }
mcp:
  servers: { digits: { command: node, args: ["${script}"] } }
  tools: { take: { server: digits, tool: take, redaction: whole } }
`;
const take = (args: string) => ['mcp__digits__take', args] as const;

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

describe('a call that the limit of tokens cut off', () => {
  it('is not made, and the model reads why; the calls before it are made', async () => {
    const whole = take('{"id":725653563933458433}');
    const model = new ScriptedModel(inOrder({ calls: [whole, take(halfWritten)] }));
    system = await startSystem(configuration, model);
    const { history } = await system.ask({ requestId: 'half' });
    expect(history.map(({ outcome }) => outcome)).toEqual(['ok', 'invalid_json']);
    expect(history[0]?.observation).toContain('"arguments":{"id":725653563933458433}');
    expect(model.asked.at(-1)?.history.at(-1)?.observation).toBe(
      'The turn reached its limit of tokens before the arguments of this call were whole, so it was not made. Make fewer or shorter calls in a turn.',
    );
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
