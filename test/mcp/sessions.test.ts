import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Fault } from '@sluice/core';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { applyTo, versioned } from '../harness/applied.js';
import { eventually } from '../harness/eventually.js';
import { sse, startReplicas } from './replicas.js';
import type { Replicas } from './replicas.js';

describe('a session of the older era at two replicas, whose requests go to each in its turn', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await startReplicas();
  });
  afterAll(() => replicas.close());

  it('has its state, its level of logs and its notifications, wherever they arise', async () => {
    const { system, proxy, connected, go, done, underWay } = replicas;
    const client = await connected();
    const changes: number[] = [];
    const logged: unknown[] = [];
    const progressed: number[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes.push(1));
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.level));
    await client.setLoggingLevel('debug');
    for (const on of ['one', 'two']) {
      const onprogress = ({ progress }: { progress: number }) => void progressed.push(progress);
      const call = client.callTool({ name: 'slow', arguments: { on } }, undefined, { onprogress });
      await underWay(on);
      go(on);
      expect(await call).toMatchObject(done(on));
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
    const { connected, go, done, underWay } = replicas;
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

  it('asks its client at one replica, and takes the answer at the other', async () => {
    const { proxy, connected, go, done } = replicas;
    let forms = 0;
    const client = await connected(() => void forms++);
    go('asked');
    expect(await client.callTool({ name: 'write', arguments: { on: 'asked' } })).toMatchObject(done('asked'));
    expect(forms).toBe(1);
    const doorOf = (name: string) => proxy.seen.findLast((one) => one.name === name)?.door;
    expect(doorOf('POST answer')).toBe(1 - (doorOf('POST tools/call') ?? 0));
    await client.close();
  });

  it('cancels a call at the other replica', async () => {
    const { system, proxy, connected, underWay } = replicas;
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

  it('resumes the answer to a call alone, as often as its client comes back', async () => {
    const { made, post, go, begun, standing } = replicas;
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
    const { doors, post, begun, standing } = replicas;
    const session = await begun();
    const stream = await standing(0, session);
    const url = doors[1]?.url ?? '';
    const ended = await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } });
    expect(ended.status).toBe(200);
    expect(await stream.text()).toContain('retry: 2000');
    for (const door of [0, 1]) expect((await post(door, { id: 3, method: 'tools/list' }, session)).status).toBe(404);
  });

  it('is counted by every replica, with what became of its streams', async () => {
    const { system, events } = replicas;
    expect(await system.metric('sluice_mcp_sessions')).toBeGreaterThan(0);
    for (const event of ['begun', 'ended', 'unknown', 'answer_resumed'])
      expect([event, (await events(event)) > 0]).toEqual([event, true]);
  });

  it('waits for a ledger that is away: its client need not begin a new one', async () => {
    const { system, begun } = replicas;
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
