import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { projectRoot } from '../harness/configurations.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/talking.mjs');
const configuration = `
tool:
  work: { type: mcp-tool, group: [g] }
  closed: { type: mcp-tool, group: [g] }
  flood: { type: mcp-tool, group: [g] }
mcp:
  servers: { talking: { command: node, args: ["${server}"] } }
  tools:
    work: { server: talking, tool: work, effect: read_only, redaction: whole }
    flood: { server: talking, tool: flood, effect: read_only, redaction: whole }
    closed: { server: talking, tool: closed, effect: read_only, redaction: [nothing] }
policy:
  allowed_tools: [work, closed, flood]
`;

interface Said {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

const three = [1, 2, 3].map((progress) => ({ progress, total: 3, message: `Step ${progress}` }));
const words = { level: 'debug', logger: 'worker', data: 'secret is unknown' };
const failure = { level: 'error', data: { disk: 'full', at: [1, 2] } };

describe('what a server says while its tool works', () => {
  let system: McpSystem;
  beforeAll(async () => {
    system = await startMcpSystem(configuration);
  });
  afterAll(() => system.close());

  it('reaches the client that called, under its progress token and from its level on (M-84)', async () => {
    const client = await oldClient(system.mcp.url);
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));
    const called = async (level: 'debug' | 'error' | null): Promise<{ seen: Said[]; logged: unknown[] }> => {
      if (level !== null) await client.setLoggingLevel(level);
      logged.length = 0;
      const seen: Said[] = [];
      const call = { name: 'talking___work', arguments: { each: 30 } };
      await client.callTool(call, undefined, { onprogress: (said) => void seen.push(said) });
      return { seen, logged: logged.filter((one) => (one as typeof words).logger !== 'tools') };
    };
    expect(await called(null)).toEqual({ seen: three, logged: [] });
    expect(await called('error')).toEqual({ seen: three, logged: [failure] });
    expect(await called('debug')).toEqual({ seen: three, logged: [words, failure] });
    await client.close();
  });

  it('reaches a client of 2026-07-28 from the level on that its request names', async () => {
    const client = await newClient(system.mcp.url);
    const logged: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params));
    const seen: Said[] = [];
    const call = { name: 'talking___work', arguments: { each: 30 } };
    const onprogress = (said: Said): void => void seen.push(said);
    await client.callTool({ ...call, _meta: { [LOG_LEVEL_META_KEY]: 'error' } }, { onprogress });
    expect(seen).toEqual(three);
    expect(logged).toEqual([failure]);
    await client.callTool(call);
    expect(logged).toEqual([failure]);
    await client.close();
  });

  it('is numbers alone where the redaction does not leave the result whole', async () => {
    const client = await oldClient(system.mcp.url);
    const logged: string[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      if (params.logger !== 'tools') logged.push(params.level);
    });
    await client.setLoggingLevel('debug');
    const seen: Said[] = [];
    const call = { name: 'talking___closed', arguments: { each: 30 } };
    await client.callTool(call, undefined, { onprogress: (said) => void seen.push(said) });
    expect(seen).toEqual(three.map(({ message: _, ...rest }) => rest));
    expect(logged).toEqual([]);
    await client.close();
  });

  it('is bounded in number and size, and holds no call up', async () => {
    const client = await oldClient(system.mcp.url);
    const seen: Said[] = [];
    const result = await client.callTool({ name: 'talking___flood', arguments: {} }, undefined, {
      onprogress: (said) => void seen.push(said),
    });
    expect(result.content).toEqual([{ type: 'text', text: 'said all' }]);
    const records = (await system.all('agent.progress')).filter(({ record }) => record.tool === 'flood');
    const ofKind = (kind: string) => records.filter(({ record }) => record.kind === kind && record.notice !== null);
    for (const kind of ['tool_progress', 'tool_log']) {
      expect(ofKind(kind).length).toBeGreaterThanOrEqual(20);
      expect(ofKind(kind).length).toBeLessThan(100);
    }
    const counted = (outcome: string): Promise<number> =>
      system.metric('sluice_mcp_notices_total', { server: 'talking', kind: 'log', outcome });
    const relayed = ofKind('tool_log').length;
    expect(await counted('relayed')).toBeGreaterThanOrEqual(relayed);
    expect(await counted('dropped')).toBeGreaterThanOrEqual(300 - relayed);
    expect(Math.max(...records.map(({ record }) => record.text.length))).toBe(2_000);
    expect(ofKind('tool_log')[0]?.record.notice).toContain('which is not passed on');
    expect(seen.every(({ progress }, at) => at === 0 || progress > (seen[at - 1]?.progress ?? 0))).toBe(true);
    await client.close();
  });
});
