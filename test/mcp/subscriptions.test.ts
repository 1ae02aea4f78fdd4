import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client as NewClient } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../apps/mcp/src/mcp.module.js';
import { WatchedResources } from '../../apps/executor/src/watched-resources.js';
import { serveOverStdio } from '../../apps/mcp/src/stdio.js';
import { applyTo, versioned } from '../harness/applied.js';
import { eventually } from '../harness/eventually.js';
import { projectRoot } from '../harness/configurations.js';
import { roundRobin } from './round-robin.js';
import type { RoundRobin } from './round-robin.js';
import { clientInfo, newClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = (name: string): string => join(projectRoot, 'libs/hub/test/mcp-servers', name);
const configuration = `
tool:
  touch: { type: mcp-tool, group: [g] }
  leave: { type: mcp-tool, group: [g], state: later }
  change: { type: mcp-tool, group: [g] }
  notes: { type: mcp-tool, group: [g] }
  early: { type: mcp-tool, group: [g], available_in_states: [undefined] }
  late: { type: mcp-tool, group: [g], available_in_states: [later] }
  recent: { type: mcp-tool, group: [g] }
  silent: { type: mcp-tool, group: [g] }
  own: { type: mcp-tool, group: [g] }
connections: { vault: { adapter: environment, variable: NOT_THERE, tenants: ['*'] } }
mcp:
  servers:
    watched: { command: node, args: ["${server('watched.mjs')}"] }
    newest: { command: node, args: ["${server('watched.mjs')}", "--modern"] }
    talking: { command: node, args: ["${server('talking.mjs')}"] }
    vault: { command: node, args: ["${server('watched.mjs')}"], connection: vault, connection_env: VAULT_TOKEN }
  tools:
    touch: { server: watched, tool: touch, redaction: whole }
    leave: { server: watched, tool: move, redaction: whole }
    change: { server: newest, tool: touch, redaction: whole }
    notes: { server: watched, resource: 'watch://a', redaction: whole }
    early: { server: watched, resource: 'watch://b', redaction: whole }
    late: { server: watched, resource: 'watch://late', redaction: whole }
    recent: { server: newest, resource: 'recent://*', redaction: whole }
    silent: { server: talking, resource: 'talk://*', redaction: whole }
    own: { server: vault, resource: 'own://*', redaction: whole }
policy:
  allowed_tools: [touch, leave, change, notes, early, late, recent, silent, own]
`;

describe('subscriptions to resources of upstream servers', () => {
  let system: McpSystem;
  let doors: McpService[];
  let proxy: RoundRobin;
  beforeAll(async () => {
    system = await startMcpSystem(configuration);
    doors = [system.mcp, await startMcp(system.embedded.runtime)];
    proxy = await roundRobin(doors.map(({ url }) => url));
  });
  afterAll(async () => {
    await proxy.close();
    await doors[1]?.close();
    await system.close();
  });

  /** A client of the older era whose requests and stream go to each door in turn, and what it hears. */
  async function connected(url = proxy.url) {
    const client = new OldClient(clientInfo);
    const heard: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri));
    const standing = proxy.seen.filter(({ name }) => name === 'GET').length;
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
    if (url === proxy.url)
      await eventually(
        () => proxy.seen.filter(({ name }) => name === 'GET').length,
        (count) => count > standing,
      );
    return { client, heard };
  }
  const touch = (client: OldClient | NewClient, uri: string, name = 'watched___touch') =>
    client.callTool({ name, arguments: { uri } });
  const until = (heard: readonly string[], count: number) =>
    eventually(
      () => heard.length,
      (length) => length >= count,
    );

  it('are offered where a server has them, and a session hears of its own, at whichever door (M-51)', async () => {
    const [one, other] = [await connected(), await connected()];
    expect(one.client.getServerCapabilities()?.resources).toEqual({ listChanged: true, subscribe: true });
    await one.client.subscribeResource({ uri: 'watch://a' });
    await other.client.subscribeResource({ uri: 'recent://b' });
    await touch(other.client, 'watch://a');
    await until(one.heard, 1);
    await touch(one.client, 'recent://b', 'newest___touch');
    await until(other.heard, 1);
    expect([one.heard, other.heard]).toEqual([['watch://a'], ['recent://b']]);
    // Those that were subscribed to are read as they are now.
    expect(JSON.stringify(await one.client.readResource({ uri: 'watch://a' }))).toContain('touched 1 times');
    await one.client.unsubscribeResource({ uri: 'watch://a' });
    await sleep(1_200);
    await touch(one.client, 'watch://a');
    await sleep(1_500);
    expect(one.heard).toHaveLength(1);
    // Each subscription was a call, with its policy and on the log.
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.map(({ arguments: given }) => given)).toContain('{"uri":"watch://a","subscribe":true}');
    await Promise.all([one.client.close(), other.client.close()]);
  });

  it('are those of what the caller may read, at a server that has them', async () => {
    const { client } = await connected();
    for (const [uri, message] of [
      ['watch://late', 'There is no such resource.'],
      ['nothing://there', 'There is no such resource.'],
      ['talk://text', 'lets no client subscribe'],
      ['own://a', 'with each caller’s own credential, and such a resource cannot be subscribed to'],
      ['sluice://tools/watched___touch', 'A page about a tool changes with the list'],
      [`watch://${'a'.repeat(3_000)}`, 'may have 2048 characters'],
    ] as const)
      await expect(client.subscribeResource({ uri })).rejects.toThrow(message);
    await client.close();
  });

  it('bring nothing more where the session’s state no longer lets its caller read the resource', async () => {
    const [{ client, heard }, other] = [await connected(), await connected()];
    for (const one of [client, other.client]) await one.subscribeResource({ uri: 'watch://b' });
    await touch(client, 'watch://b');
    await until(heard, 1);
    await client.callTool({ name: 'watched___move', arguments: {} });
    await sleep(1_100);
    await touch(other.client, 'watch://b');
    await until(other.heard, 2);
    expect(heard).toHaveLength(1);
    await Promise.all([client.close(), other.client.close()]);
  });

  it('outlive the door that has the stream', async () => {
    const third = await startMcp(system.embedded.runtime);
    const others = await roundRobin([third.url, doors[1]?.url ?? '']);
    others.only = 0;
    const { client, heard } = await connected(others.url);
    await eventually(
      () => others.seen.filter(({ name }) => name === 'GET').length,
      (count) => count > 0,
    );
    await client.subscribeResource({ uri: 'watch://a' });
    others.only = 1;
    await third.close();
    // What happened while there was no stream is unknown, so that the client hears of it.
    await until(heard, 1);
    const before = heard.length;
    await touch(client, 'watch://a');
    await until(heard, before + 1);
    expect(new Set(heard)).toEqual(new Set(['watch://a']));
    await client.close();
    await others.close();
  });

  it('are those of a stream in the newest revision, which leaves out what may not be heard', async () => {
    const [client, other] = [await newClient(doors[0]?.url ?? ''), await newClient(doors[1]?.url ?? '')];
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true, subscribe: true });
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const resourceSubscriptions = ['watch://a', 'watch://late', 'recent://a', 'talk://text'];
    const { honoredFilter, close } = await client.listen({ resourceSubscriptions, toolsListChanged: true });
    expect(honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['watch://a', 'recent://a'] });
    await touch(other, 'watch://a');
    await touch(other, 'recent://a', 'newest___touch');
    await touch(other, 'watch://b');
    await until(heard, 2);
    expect(heard.toSorted()).toEqual(['recent://a', 'watch://a']);
    await expect(client.listen({ resourceSubscriptions: ['talk://text'] })).rejects.toThrow('lets no client subscribe');
    const many = Array.from({ length: 51 }, (_, at) => `recent://${at}`);
    await expect(client.listen({ resourceSubscriptions: many })).rejects.toThrow('for 50 resources');
    await close();
    await Promise.all([client.close(), other.close()]);
  });

  it('are made again by an executor that starts, and end where no door renews them', async () => {
    const { client } = await connected();
    await client.subscribeResource({ uri: 'watch://a' });
    const { runtime } = system.embedded;
    const followed: [string, readonly string[], boolean][] = [];
    const follow = (id: string, uris: ReadonlySet<string>, isLate: boolean): void =>
      void followed.push([id, [...uris], isLate]);
    for (const [later, there] of [
      [0, true],
      [100_000, false],
    ] as const) {
      const clock = { now: () => runtime.clock.now() + later };
      const watched = new WatchedResources({ ...runtime, clock }, { follow });
      await eventually(
        () => followed,
        ({ length }) => length === 2,
      );
      watched.close();
      const [, uris, isLate] = followed.find(([id]) => id === 'watched') ?? [];
      expect([uris?.includes('watch://a'), isLate]).toEqual([there, true]);
      followed.splice(0);
    }
    await client.close();
  });

  it.each(['legacy', 'modern'])('are served over standard input and output, of the era %s', async (era) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const said: string[] = [];
    createInterface(output).on('line', (line) => void said.push(line));
    const service = await serveOverStdio(system.embedded.runtime, undefined, new StdioServerTransport(input, output));
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': clientInfo,
    };
    const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const says = (text: string) =>
      eventually(
        () => said,
        (lines) => lines.some((line) => line.includes(text)),
      );
    if (era === 'legacy') {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      send({ id: 1, method: 'initialize', params });
      await says('"subscribe":true');
      send({ method: 'notifications/initialized' });
      send({ id: 2, method: 'resources/subscribe', params: { uri: 'watch://a' } });
      await says('"id":2');
    } else {
      send({ id: 1, method: 'server/discover', params: { _meta } });
      await says('"subscribe":true');
      const notifications = { resourceSubscriptions: ['watch://late'] };
      send({ id: 2, method: 'subscriptions/listen', params: { _meta, notifications } });
      await says('There is no such resource.');
      const resourceSubscriptions = ['watch://late', 'watch://a'];
      send({ id: 3, method: 'subscriptions/listen', params: { _meta, notifications: { resourceSubscriptions } } });
      await says('"notifications":{"resourceSubscriptions":["watch://a"]}');
    }
    const other = await newClient(system.mcp.url);
    await touch(other, 'watch://a');
    await says('"method":"notifications/resources/updated"');
    await other.close();
    await service.close();
  });

  it('bring nothing that a new configuration no longer passes on', async () => {
    const { runtime } = system.embedded;
    const { configuration: before } = runtime.configurations.current();
    const { client, heard } = await connected();
    const recent = await newClient(doors[0]?.url ?? '');
    const listened: string[] = [];
    recent.setNotificationHandler('notifications/resources/updated', ({ params }) => void listened.push(params.uri));
    await recent.listen({ resourceSubscriptions: ['watch://a', 'recent://a'] });
    for (const uri of ['watch://a', 'recent://a']) await client.subscribeResource({ uri });
    const notes = before.tools.find(({ key }) => key === 'notes')?.id;
    const allowedTools = before.policy.allowedTools.filter((id) => id !== notes);
    await applyTo(runtime, versioned({ ...before, policy: { ...before.policy, allowedTools } }));
    await touch(client, 'watch://a');
    await touch(client, 'recent://a', 'newest___touch');
    await until(heard, 1);
    await until(listened, 1);
    expect([heard, listened]).toEqual([['recent://a'], ['recent://a']]);
    await applyTo(runtime, versioned(before));
    await Promise.all([client.close(), recent.close()]);
  });
});
