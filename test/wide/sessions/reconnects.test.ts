import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { startMcp } from '../../../apps/mcp/src/mcp.module.js';
import { eventually } from '../../harness/eventually.js';
import { startReplicas } from '../../mcp/replicas.js';
import type { Replicas } from '../../mcp/replicas.js';
import { roundRobin } from '../../mcp/round-robin.js';
import { clientInfo } from '../../mcp/with-mcp.js';

describe('a session of the older era at two replicas, whose connection breaks', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await startReplicas();
  });
  afterAll(() => replicas.close());

  it('gets the answer of a call whose connection broke at the other replica, made once', async () => {
    const { proxy, connected, made, go, done, underWay } = replicas;
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
    const { system, doors, made, go, done, underWay } = replicas;
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

  it('asks once where the connection breaks while the client is asked', async () => {
    const { proxy, connected, made, go, done, events } = replicas;
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

  it('hears at one replica what it missed since it left the other, and nothing of another stream', async () => {
    const { post, go, begun, standing, events } = replicas;
    const resumed = await events('stream_resumed');
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
    expect(await events('stream_resumed')).toBe(resumed + 1);
  });
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
