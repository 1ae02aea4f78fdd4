import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Fault } from '@sluice/core';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../apps/mcp/src/mcp.module.js';
import { applyTo, versioned } from '../harness/applied.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { roundRobin } from './round-robin.js';
import type { RoundRobin } from './round-robin.js';
import { clientInfo, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const begin = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
};
const sse = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

describe('a session of the older era at two replicas, whose requests go to each in its turn', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sessions-'));
  let system: McpSystem;
  let doors: McpService[];
  let proxy: RoundRobin;
  const configuration = (): string => `
tool_folders: ["${folder}"]
tool:
  slow: { type: slow, group: [g] }
  move: { type: slow, group: [g], state: later }
  write: { type: write, group: [g] }
  there: { type: slow, group: [g], available_in_states: [later] }
policy: { allowed_tools: ['*'], approval: { effects: [external_side_effect], approvers: ['*'] } }
`;
  const toolOf = (type: string, effect: string): string => `import { existsSync } from 'node:fs';
    import { join } from 'node:path';
    export default ({ defineTool, z }) => defineTool({
      type: '${type}', description: 'Waits for a file.', input: z.object({ on: z.string() }), output: z.string(),
      effect: '${effect}', redaction: { whole: true }, capabilities: [], repeatable: false, requiresConnection: false,
      execute: async ({ on }) => {
        while (!existsSync(join(import.meta.dirname, on))) await new Promise((go) => setTimeout(go, 20));
        return 'Done: ' + on;
      },
    });\n`;
  const go = (on: string): void => writeFileSync(join(folder, on), '');
  /** How often the executor began a call with this argument. */
  const made = async (on: string): Promise<number> => {
    const calls = await system.all('agent.tool-calls');
    const ids = new Set(
      calls.flatMap(({ record }) => (JSON.stringify(record).includes(`"${on}\\"`) ? [record.requestId] : [])),
    );
    const progress = await system.all('agent.progress');
    return progress.filter(({ record }) => record.kind === 'tool_call_start' && ids.has(record.requestId)).length;
  };
  const done = (on: string): object => ({ isError: false, content: [{ type: 'text', text: `Done: ${on}` }] });

  beforeAll(async () => {
    writeFileSync(join(folder, 'slow.mjs'), toolOf('slow', 'read_only'));
    writeFileSync(join(folder, 'write.mjs'), toolOf('write', 'external_side_effect'));
    system = await startMcpSystem(configuration());
    doors = [system.mcp, await startMcp(system.embedded.runtime)];
    proxy = await roundRobin(doors.map(({ url }) => url));
  });
  afterAll(async () => {
    await proxy.close();
    await doors[1]?.close();
    await system.close();
    rmSync(folder, { recursive: true });
  });

  async function connected(forms: () => void | Promise<void> = () => undefined): Promise<Client> {
    const client = new Client(clientInfo, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => {
      await forms();
      return { action: 'accept', content: {} };
    });
    const requestInit = { headers: localHeaders(system.embedded.runtime) };
    const fetchWithHeaders: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(requestInit.headers)) headers.set(name, value);
      return fetch(url, { ...init, headers });
    };
    const transport = new StreamableHTTPClientTransport(new URL(proxy.url), { fetch: fetchWithHeaders });
    const standing = proxy.seen.filter(({ name }) => name === 'GET').length;
    await client.connect(transport as Transport);
    await eventually(
      () => proxy.seen.filter(({ name }) => name === 'GET').length,
      (count) => count > standing,
    );
    return client;
  }

  const events = (event: string) => system.metric('sluice_mcp_session_events_total', { event });
  /** The call is under way at one of the doors. */
  const underWay = (on: string) =>
    eventually(
      () => made(on),
      (calls) => calls > 0,
    );

  it('has its state, its level of logs and its notifications, wherever they arise', async () => {
    const client = await connected();
    const changes: number[] = [];
    const logged: unknown[] = [];
    const progressed: number[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes.push(1));
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.level));
    await client.setLoggingLevel('debug');
    for (const on of ['one', 'two']) {
      go(on);
      const onprogress = ({ progress }: { progress: number }) => void progressed.push(progress);
      expect(await client.callTool({ name: 'slow', arguments: { on } }, undefined, { onprogress })).toMatchObject(
        done(on),
      );
    }
    // Of each call, and the calls were at one door each.
    expect(logged.length).toBeGreaterThanOrEqual(4);
    expect(progressed.filter((progress) => progress === 1)).toHaveLength(2);
    for (const door of [0, 1]) expect(proxy.seen).toContainEqual({ door, name: 'POST tools/call' });
    expect((await client.listTools()).tools).toHaveLength(3);
    go('three');
    await client.callTool({ name: 'move', arguments: { on: 'three' } });
    for (let n = 0; n < 2; n++) expect((await client.listTools()).tools).toHaveLength(4);
    await eventually(
      () => changes.length,
      (count) => count === 1,
    );
    // Each replica sees the configuration change; the client hears of it once.
    const { runtime } = system.embedded;
    const { configuration: now } = runtime.configurations.current();
    const tools = now.tools.map((tool) =>
      tool.key === 'slow' ? { ...tool, icon: 'https://example.com/slow.png' } : tool,
    );
    await applyTo(runtime, versioned({ ...now, tools }));
    await eventually(
      () => changes.length,
      (count) => count === 2,
    );
    for (let n = 0; n < 2; n++) expect(JSON.stringify((await client.listTools()).tools)).toContain('slow.png');
    expect(changes).toHaveLength(2);
    await client.close();
  });

  it('moves its state by one call at a time, wherever these are', async () => {
    const client = await connected();
    const first = client.callTool({ name: 'move', arguments: { on: 'turn-1' } });
    await underWay('turn-1');
    const second = client.callTool({ name: 'move', arguments: { on: 'turn-2' } });
    const behind = client.callTool({ name: 'there', arguments: { on: 'turn-3' } });
    for (const on of ['turn-2', 'turn-3', 'turn-1']) go(on);
    expect(await first).toMatchObject(done('turn-1'));
    expect(await second).toMatchObject(done('turn-2'));
    // It is permitted in the state that the first leads to.
    expect(await behind).toMatchObject(done('turn-3'));
    await client.close();
  });

  it('gets the answer of a call whose connection broke at the other replica, made once', async () => {
    const client = await connected();
    proxy.only = 0;
    const call = client.callTool({ name: 'slow', arguments: { on: 'broken' } });
    await underWay('broken');
    proxy.only = 1;
    expect(proxy.cut('POST tools/call')).toBe(1);
    await eventually(
      () => proxy.seen.at(-1)?.name,
      (name) => name === 'GET',
    );
    go('broken');
    expect(await call).toMatchObject(done('broken'));
    expect(await made('broken')).toBe(1);
    proxy.only = null;
    await client.close();
  });

  it('gets it also where the replica stopped', async () => {
    const third = await startMcp(system.embedded.runtime);
    const others = await roundRobin([third.url, doors[1]?.url ?? '']);
    others.only = 0;
    const client = new Client(clientInfo);
    await client.connect(new StreamableHTTPClientTransport(new URL(others.url)) as Transport);
    const call = client.callTool({ name: 'slow', arguments: { on: 'stopped' } });
    await underWay('stopped');
    others.only = 1;
    await third.close();
    go('stopped');
    expect(await call).toMatchObject(done('stopped'));
    expect(await made('stopped')).toBe(1);
    await client.close();
    await others.close();
  });

  it('asks its client at one replica, and takes the answer at the other', async () => {
    let forms = 0;
    const client = await connected(() => void forms++);
    go('asked');
    expect(await client.callTool({ name: 'write', arguments: { on: 'asked' } })).toMatchObject(done('asked'));
    expect(forms).toBe(1);
    const doorOf = (name: string) => proxy.seen.findLast((one) => one.name === name)?.door;
    expect(doorOf('POST answer')).toBe(1 - (doorOf('POST tools/call') ?? 0));
    await client.close();
  });

  it('asks once where the connection breaks while the client is asked', async () => {
    const resumed = await events('answer_resumed');
    let forms = 0;
    let answer: () => void = () => undefined;
    const client = await connected(() => new Promise<void>((resolve) => ((forms += 1), (answer = resolve))));
    proxy.only = 0;
    go('once');
    const call = client.callTool({ name: 'write', arguments: { on: 'once' } });
    await eventually(
      () => forms,
      (count) => count === 1,
    );
    proxy.only = 1;
    proxy.cut('POST tools/call');
    await eventually(
      () => proxy.seen.at(-1)?.name,
      (name) => name === 'GET',
    );
    // The other replica has served the request again by then.
    await eventually(
      () => events('answer_resumed'),
      (count) => count > resumed,
    );
    answer();
    expect(await call).toMatchObject(done('once'));
    expect(forms).toBe(1);
    expect(await made('once')).toBe(1);
    proxy.only = null;
    await client.close();
  });

  it('cancels a call at the other replica', async () => {
    const client = await connected();
    const cancel = new AbortController();
    proxy.only = 0;
    const call = client.callTool({ name: 'slow', arguments: { on: 'cancelled' } }, undefined, {
      signal: cancel.signal,
    });
    const ended = expect(call).rejects.toThrow();
    await underWay('cancelled');
    proxy.only = 1;
    cancel.abort();
    await ended;
    await eventually(
      async () => (await system.all('agent.steps')).flatMap(({ record }) => record.steps).at(-1)?.reason,
      (reason) => reason === 'cancelled',
    );
    proxy.only = null;
    await client.close();
  });

  const of = (session: string) => ({ 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
  const post = (door: number, message: object, session = ''): Promise<Response> =>
    fetch(doors[door]?.url ?? '', {
      method: 'POST',
      headers: { ...sse, ...(session === '' ? {} : of(session)) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  async function begun(): Promise<string> {
    const answer = await post(0, begin);
    await answer.text();
    return answer.headers.get('mcp-session-id') ?? '';
  }
  const standing = (door: number, session: string, last = '', signal?: AbortSignal): Promise<Response> =>
    fetch(doors[door]?.url ?? '', {
      headers: {
        ...{ accept: 'text/event-stream', ...of(session) },
        ...(last === '' ? {} : { 'last-event-id': last }),
      },
      signal: signal ?? null,
    });
  /** What a stream says until something is in it. */
  async function heard(stream: Response, until: string): Promise<string> {
    let text = '';
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    while (!text.includes(until)) {
      const { done: isOver, value } = await reader.read();
      if (isOver) break;
      text += Buffer.from(value).toString();
    }
    void reader.cancel();
    return text;
  }

  it('hears at one replica what it missed since it left the other, and nothing of another stream', async () => {
    const session = await begun();
    const leaving = new AbortController();
    const first = await heard(await standing(0, session, '', leaving.signal), 'data: \n\n');
    leaving.abort();
    const [, last = ''] = /id: (\S+)/.exec(first) ?? [];
    go('missed');
    const params = { name: 'move', arguments: { on: 'missed' } };
    expect(await (await post(0, { id: 2, method: 'tools/call', params }, session)).text()).toContain('Done: missed');
    const missed = await heard(await standing(1, session, last), 'resources/list_changed');
    expect(missed.match(/"method":"[^"]+"/g)).toEqual([
      '"method":"notifications/tools/list_changed"',
      '"method":"notifications/resources/list_changed"',
    ]);
    const ids = [...missed.matchAll(/id: (\S+)/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('resumes the answer to a call alone, as often as its client comes back', async () => {
    const session = await begun();
    go('again');
    const params = { name: 'slow', arguments: { on: 'again' } };
    const answer = await (await post(0, { id: 'a', method: 'tools/call', params }, session)).text();
    const [, first = ''] = /^id: (\S+)\nretry: 2000\ndata: \n\n/.exec(answer) ?? [];
    for (const door of [0, 1]) {
      const resumed = await (await standing(door, session, first)).text();
      expect(resumed).toContain('Done: again');
      expect(resumed).toContain('"id":"a"');
    }
    expect(await made('again')).toBe(1);
    for (const [id, status] of [
      ['made-up', 400],
      [`a-${'0'.repeat(32)}-0-0-0`, 400],
    ] as const)
      expect([id, (await standing(1, session, id)).status]).toEqual([id, status]);
    // In another session nothing is known of it.
    expect((await standing(1, await begun(), first)).status).toBe(400);
  });

  it('is ended at every replica by its client, with its streams', async () => {
    const session = await begun();
    const stream = await standing(0, session);
    const url = doors[1]?.url ?? '';
    const ended = await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } });
    expect(ended.status).toBe(200);
    expect(await stream.text()).toContain('retry: 2000');
    for (const door of [0, 1]) expect((await post(door, { id: 3, method: 'tools/list' }, session)).status).toBe(404);
  });

  it('is counted by every replica, with what became of its streams', async () => {
    expect(await system.metric('sluice_mcp_sessions')).toBeGreaterThan(0);
    for (const event of ['begun', 'ended', 'unknown', 'answer_resumed', 'stream_resumed'])
      expect([event, (await events(event)) > 0]).toEqual([event, true]);
  });

  it('waits for a ledger that is away: its client need not begin a new one', async () => {
    const session = await begun();
    const { runtime } = system.embedded;
    let isAway = false;
    const find: typeof runtime.documents.find = (key) =>
      isAway
        ? Promise.reject(new Fault('ledger_unreachable', 'The ledger is away.', true))
        : runtime.documents.find(key);
    const door = await startMcp({ ...runtime, documents: { ...runtime.documents, find } });
    const list = () =>
      fetch(door.url, {
        method: 'POST',
        headers: { ...sse, 'mcp-session-id': session },
        body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'tools/list' }),
      });
    isAway = true;
    const refused = await list();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    isAway = false;
    expect((await list()).status).toBe(200);
    await door.close();
  });
});
