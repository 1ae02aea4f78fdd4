import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Task } from '@modelcontextprotocol/sdk/types.js';
import type { Principal } from '@sluice/core';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../apps/mcp/src/mcp.module.js';
import { mostTasks, TaskRecords } from '../../apps/mcp/src/task-records.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { asked, decide } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { roundRobin } from './round-robin.js';
import type { RoundRobin } from './round-robin.js';
import { clientInfo, newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const week = 7 * 24 * 3_600_000;
const anyTime = expect.stringMatching(/^\d{4}-.*Z$/);
const notFound = { code: -32_602, message: expect.stringContaining('no such task') };

describe('calls as tasks, of clients whose requests go to each of two replicas in its turn', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tasks-'));
  let system: McpSystem;
  let doors: McpService[];
  let proxy: RoundRobin;
  const configuration = (): string => `
tool_folders: ["${folder}"]
tool:
  slow: { type: slow, group: [g] }
  move: { type: slow, group: [g], state: later }
  write: { type: write, group: [g] }
policy: { allowed_tools: ['*'], approval: { effects: [external_side_effect], approvers: ['*'] } }
`;
  const toolOf = (type: string, effect: string): string => `import { existsSync } from 'node:fs';
    import { join } from 'node:path';
    export default ({ defineTool, z }) => defineTool({
      type: '${type}', description: 'Waits for a file.', input: z.object({ on: z.string() }), output: z.string(),
      effect: '${effect}', redaction: { whole: true }, capabilities: [], repeatable: false, requiresConnection: false,
      execute: async ({ on }) => {
        if (on === 'broken') throw new Error('It broke.');
        while (!existsSync(join(import.meta.dirname, on))) await new Promise((go) => setTimeout(go, 20));
        if (on.endsWith('broken')) throw new Error('It broke.');
        return 'Done: ' + on;
      },
    });\n`;
  const go = (on: string): void => writeFileSync(join(folder, on), '');
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

  /** A client of its own session; with `forms` one whose person answers them. */
  async function connected(
    options: { forms?: () => void; headers?: Record<string, string>; url?: string } = {},
  ): Promise<Client> {
    const { forms, headers = localHeaders(system.embedded.runtime), url = proxy.url } = options;
    const client = new Client(clientInfo, forms === undefined ? {} : { capabilities: { elicitation: {} } });
    if (forms !== undefined)
      client.setRequestHandler(ElicitRequestSchema, () => (forms(), { action: 'accept', content: {} }));
    const standing = proxy.seen.filter(({ name }) => name === 'GET').length;
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport);
    if (url === proxy.url)
      await eventually(
        () => proxy.seen.filter(({ name }) => name === 'GET').length,
        (count) => count > standing,
      );
    return client;
  }

  async function begun(client: Client, name: string, on: string, ttl?: number): Promise<Task> {
    const params = { name, arguments: { on }, task: ttl === undefined ? {} : { ttl } };
    return (await client.request({ method: 'tools/call', params }, CreateTaskResultSchema)).task;
  }
  const state = (client: Client, { taskId }: Task): Promise<Task> => client.experimental.tasks.getTask(taskId);
  const result = (client: Client, { taskId }: Task) =>
    client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  const until = (client: Client, task: Task, status: Task['status']): Promise<Task> =>
    eventually(
      () => state(client, task),
      (now) => now.status === status,
    );

  it('are offered for tools that move no state, and say how they stand until they are completed', async () => {
    const client = await connected();
    const heard: Task[] = [];
    client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void heard.push(params));
    expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const offered = (await client.listTools()).tools.map(({ name, execution }) => [name, execution?.taskSupport]);
    expect(offered).toEqual([
      ['slow', 'optional'],
      ['move', undefined],
      ['write', 'optional'],
    ]);
    await expect(begun(client, 'move', 'x')).rejects.toMatchObject({ code: -32_601 });
    const task = await begun(client, 'slow', 'one', 60_000);
    expect(task).toMatchObject({ status: 'working', ttl: 60_000, pollInterval: 1_000 });
    // At the other door, and back.
    for (let n = 0; n < 2; n++) expect(await state(client, task)).toMatchObject({ ...task, lastUpdatedAt: anyTime });
    const waited = result(client, task);
    go('one');
    expect(await waited).toMatchObject({
      ...done('one'),
      _meta: { 'sluice/request_id': task.taskId, 'io.modelcontextprotocol/related-task': { taskId: task.taskId } },
    });
    expect(await state(client, task)).toMatchObject({ status: 'completed', createdAt: task.createdAt });
    await eventually(
      () => heard.map(({ taskId, status }) => [taskId, status]),
      (all) => all.length === 1,
    );
    expect(heard).toEqual([expect.objectContaining({ taskId: task.taskId, status: 'completed' })]);
    await client.close();
  });

  it('give their result after a reconnect, at a door that began later, and where the one that had them stopped', async () => {
    const third = await startMcp(system.embedded.runtime);
    const first = await connected({ url: third.url });
    const [one, two] = [await begun(first, 'slow', 'reconnect'), await begun(first, 'slow', 'later')];
    await first.close();
    await third.close();
    go('reconnect');
    const fourth = await startMcp(system.embedded.runtime);
    const again = await connected({ url: fourth.url });
    expect(await result(again, one)).toMatchObject(done('reconnect'));
    expect(await state(again, two)).toMatchObject({ status: 'working' });
    go('later');
    expect(await result(again, two)).toMatchObject(done('later'));
    const { tasks } = await again.experimental.tasks.listTasks();
    const listed = Object.fromEntries(tasks.map(({ taskId, status }) => [taskId, status]));
    expect(listed).toMatchObject({ [one.taskId]: 'completed', [two.taskId]: 'completed' });
    await again.close();
    await fourth.close();
  });

  it('wait for an approval and go on by themselves after the decision', async () => {
    const client = await connected();
    const task = await begun(client, 'write', 'approved');
    const waiting = await asked(system, 1);
    const now = await eventually(
      () => state(client, task),
      ({ statusMessage }) => statusMessage !== undefined,
    );
    expect(now).toMatchObject({ status: 'working', pollInterval: 5_000 });
    expect(now.statusMessage).toContain(waiting.requested.approvalId);
    go('approved');
    await decide(system, waiting, 'approve');
    await until(client, task, 'completed');
    expect(await result(client, task)).toMatchObject(done('approved'));
    await client.close();
  });

  it('ask the person before a client with forms, when it asks for the result', async () => {
    let forms = 0;
    const client = await connected({ forms: () => void forms++ });
    const task = await begun(client, 'write', 'form');
    await until(client, task, 'input_required');
    expect(forms).toBe(0);
    go('form');
    expect(await result(client, task)).toMatchObject(done('form'));
    expect(forms).toBe(1);
    await client.close();
  });

  it('fail with their result, and are cancelled once', async () => {
    const client = await connected();
    const broken = await begun(client, 'slow', 'broken');
    await until(client, broken, 'failed');
    expect(await result(client, broken)).toMatchObject({ isError: true });
    const task = await begun(client, 'slow', 'never');
    expect(await client.experimental.tasks.cancelTask(task.taskId)).toMatchObject({ status: 'cancelled' });
    expect(await result(client, task)).toMatchObject({ isError: true, _meta: { 'sluice/error': {} } });
    expect(await state(client, task)).toMatchObject({ status: 'cancelled' });
    for (const { taskId } of [task, broken])
      await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toMatchObject({ code: -32_602 });
    await client.close();
  });

  it('are kept as long as was asked, within bounds; an unknown id says nothing, nor does a list of strangers', async () => {
    const client = await connected();
    const [brief, long] = [await begun(client, 'slow', 'one', 1), await begun(client, 'slow', 'one', 1e12)];
    expect([brief.ttl, long.ttl]).toEqual([1_000, week]);
    await eventually(
      () => state(client, brief).catch(({ code }: { code: number }) => code),
      (now) => now === -32_602,
    );
    const unknown = { ...long, taskId: 'mcp-nothing' };
    await expect(state(client, unknown)).rejects.toMatchObject(notFound);
    await expect(result(client, unknown)).rejects.toMatchObject(notFound);
    await expect(client.experimental.tasks.cancelTask(unknown.taskId)).rejects.toMatchObject(notFound);
    await expect(client.experimental.tasks.listTasks('other')).rejects.toMatchObject({ code: -32_602 });
    // Without the local secret a client sees the tasks of its own session, and another one’s by its id.
    const stranger = await connected({ headers: {} });
    expect((await stranger.experimental.tasks.listTasks()).tasks).toEqual([]);
    const own = await begun(stranger, 'slow', 'one');
    expect((await stranger.experimental.tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toEqual([own.taskId]);
    await client.close();
    await stranger.close();
  });

  it('of one message are one task, whichever door it comes to', async () => {
    const post = (door: number, message: object, session = ''): Promise<Response> =>
      fetch(doors[door]?.url ?? '', {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          ...(session === '' ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
    const opened = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const begin = await post(0, { id: 1, method: 'initialize', params: opened });
    await begin.text();
    const session = begin.headers.get('mcp-session-id') ?? '';
    const params = { name: 'slow', arguments: { on: 'twice' }, task: {} };
    const ids: (string | undefined)[] = [];
    for (const door of [0, 1, 0]) {
      const text = await (await post(door, { id: 2, method: 'tools/call', params }, session)).text();
      // A task and nothing else: no result of a call.
      expect(text).not.toContain('"content"');
      ids.push(/"taskId":"([^"]+)"/.exec(text)?.[1]);
    }
    expect(ids[0]).toMatch(/^mcp-[0-9a-f]{40}$/);
    expect(new Set(ids).size).toBe(1);
    go('twice');
    expect((await system.all('agent.calls')).filter(({ record }) => record.requestId === ids[0])).toHaveLength(1);
    const malformed = { ...params, task: { ttl: 'long' } };
    expect(await (await post(0, { id: 3, method: 'tools/call', params: malformed }, session)).text()).toContain(
      '-32602',
    );
  });

  it('are none of a client of 2026-07-28 that has no extension for them', async () => {
    const client = await newClient(proxy.url);
    go('newer');
    expect(client.getServerCapabilities()).not.toHaveProperty('tasks');
    expect((await client.listTools()).tools.some((tool) => 'execution' in tool)).toBe(false);
    const call = { name: 'slow', arguments: { on: 'newer' }, task: {} };
    expect(await client.callTool(call)).toMatchObject(done('newer'));
    await client.close();
  });

  describe('by the extension of revision 2026-07-28', () => {
    const extensions = { 'io.modelcontextprotocol/tasks': {} };

    /** The answer to a request that stands alone, at whichever door is next; the extension is declared with it. */
    async function answerTo(
      method: string,
      params: Readonly<Record<string, unknown>>,
      capabilities: object = { extensions },
    ): Promise<{ result?: Record<string, unknown>; error?: Record<string, unknown> }> {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': clientInfo,
        'io.modelcontextprotocol/clientCapabilities': capabilities,
      };
      const named = params['name'] ?? params['taskId'];
      const answered = await fetch(proxy.url, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
          ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
          ...localHeaders(system.embedded.runtime),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
      });
      const last = (await answered.text()).trim().split('\n').at(-1) ?? '';
      return JSON.parse(last.replace(/^data: /, '')) as { result?: Record<string, unknown> };
    }
    const called = async (name: string, on: string, capabilities?: object): Promise<Record<string, unknown>> =>
      (await answerTo('tools/call', { name, arguments: { on } }, capabilities)).result ?? {};
    const standing = async (taskId: unknown, capabilities?: object): Promise<Record<string, unknown>> =>
      (await answerTo('tasks/get', { taskId }, capabilities)).result ?? {};
    const stands = (taskId: unknown, status: string, capabilities?: object): Promise<Record<string, unknown>> =>
      eventually(
        () => standing(taskId, capabilities),
        (now) => now['status'] === status,
      );

    it('a call that takes long goes on as one, and is read and cancelled at either door', async () => {
      const { capabilities } = (await answerTo('server/discover', {})).result ?? {};
      expect(capabilities).toMatchObject({ extensions });
      expect(capabilities).not.toHaveProperty('tasks');
      go('short');
      expect(await called('slow', 'short')).toMatchObject({ resultType: 'complete', ...done('short') });
      const task = await called('slow', 'long');
      expect(task).toEqual({
        ...{ resultType: 'task', taskId: expect.stringMatching(/^mcp-/), status: 'working' },
        ...{ createdAt: anyTime, lastUpdatedAt: anyTime, ttlMs: 24 * 3_600_000, pollIntervalMs: 1_000 },
        _meta: expect.anything(),
      });
      const { taskId } = task;
      for (let n = 0; n < 2; n++) expect(await standing(taskId)).toMatchObject({ status: 'working', taskId });
      go('long');
      const ended = await stands(taskId, 'completed');
      expect(ended).toMatchObject({ resultType: 'complete', result: { resultType: 'complete', ...done('long') } });
      expect((ended['result'] as { _meta: object })._meta).not.toHaveProperty('io.modelcontextprotocol/related-task');
      // One that waits for an approval: no process of a tool is killed, which would have to start again.
      const given = await called('write', 'never');
      for (let n = 0; n < 2; n++)
        expect((await answerTo('tasks/cancel', { taskId: given['taskId'] })).result).toMatchObject({
          resultType: 'complete',
        });
      expect(await standing(given['taskId'])).toMatchObject({ status: 'cancelled' });
    });

    it('goes on by itself after a decision elsewhere; the same call after that is another', async () => {
      const before = (await system.all('agent.approvals')).filter(({ record }) => record.requested !== null).length;
      const { taskId } = await called('write', 'elsewhere');
      const waiting = await asked(system, before + 1);
      expect((await standing(taskId))['statusMessage']).toContain(waiting.requested.approvalId);
      go('elsewhere');
      await decide(system, waiting, 'approve');
      expect(await stands(taskId, 'completed')).toMatchObject({ result: done('elsewhere') });
      const another = await called('write', 'elsewhere');
      expect(another).toMatchObject({ resultType: 'task', status: 'working' });
      expect(another['taskId']).not.toBe(taskId);
    });

    it('asks the person before a client with forms, whose answer comes with an update', async () => {
      const withForms = { extensions, elicitation: { form: {} } };
      const { taskId } = await called('write', 'updated', withForms);
      const { inputRequests } = await stands(taskId, 'input_required', withForms);
      const [[id = '', request] = []] = Object.entries(inputRequests as Record<string, object>);
      expect(request).toMatchObject({ method: 'elicitation/create', params: { requestedSchema: { type: 'object' } } });
      go('updated');
      const update = (inputResponses: object) => answerTo('tasks/update', { taskId, inputResponses }, withForms);
      expect((await update({ other: { action: 'accept' } })).result).toMatchObject({ resultType: 'complete' });
      expect(await standing(taskId, withForms)).toMatchObject({ status: 'input_required' });
      expect((await update({ [id]: { action: 'accept', content: {} } })).result).toMatchObject({
        resultType: 'complete',
      });
      expect(await stands(taskId, 'completed', withForms)).toMatchObject({ result: done('updated') });
    });

    it('a tool that failed has completed its task; other methods, tasks and clients are refused', async () => {
      go('without');
      expect(await called('slow', 'without', {})).toMatchObject({ resultType: 'complete', ...done('without') });
      const { taskId } = await called('slow', 'later broken');
      go('later broken');
      expect(await stands(taskId, 'completed')).toMatchObject({ result: { isError: true } });
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await answerTo(method, { taskId, inputResponses: {} }, {})).error).toMatchObject({
          ...{ code: -32_021, data: { requiredCapabilities: { extensions } } },
        });
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await answerTo(method, { taskId: 'mcp-nothing', inputResponses: {} })).error).toMatchObject(notFound);
      for (const method of ['tasks/result', 'tasks/list'])
        expect((await answerTo(method, { taskId })).error).toMatchObject({ code: -32_601 });
    });
  });

  it('are so many of one caller: one that has ended makes room, and no other caller finds them', async () => {
    const records = new TaskRecords(system.embedded.runtime);
    const caller = (actorId: string): Principal => ({
      ...{ tenantId: 'acme', actorId, subjectId: null },
      ...{ groups: [], connections: [] },
    });
    const ann = caller('user:ann');
    const begin = (n: number) => {
      const of = {
        requestId: `t-${n}`,
        sessionId: 's',
        since: 0,
        session: 's',
        toolId: 't',
        name: 't',
        hasForms: false,
      };
      return records.begin(`t-${n}`, ann, 60_000, () => Promise.resolve(of));
    };
    const made = await Promise.all(Array.from({ length: mostTasks + 3 }, (_, n) => begin(n)));
    expect(made.filter((task) => task !== null)).toHaveLength(mostTasks);
    const [first] = made;
    if (first === undefined || first === null) throw new Error('No task began.');
    const end = { status: 'completed', message: '', at: 1 } as const;
    expect(await records.end(first, ann, end)).toEqual(end);
    // The first end stays.
    expect(await records.end(first, ann, { ...end, status: 'failed' })).toEqual(end);
    expect(await records.find(first.id, caller('user:bob'))).toBeNull();
    expect((await records.all(caller('user:bob'))).length).toBe(0);
    expect(await begin(1_000)).not.toBeNull();
    expect(await records.find(first.id, ann)).toBeNull();
    expect(await records.all(ann)).toHaveLength(mostTasks);
  });
});

describe('tasks of callers who are known', () => {
  it('are their caller’s, which for another one of its tenant, or of another one, do not exist', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-tasks-'));
    const users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const tokenOf = (sub: string, tenant: string): Promise<string> => users.token({ sub, tenant, tool_groups: ['g'] });
    const system = await startMcpSystem(`
identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }
tool: { now: { type: get_current_time, group: [g] } }
policy: { allowed_tools: ['*'] }
`);
    const client = await oldClient(system.mcp.url, await tokenOf('ann', 'acme'));
    const params = { name: 'now', arguments: {}, task: {} };
    const { task } = await client.request({ method: 'tools/call', params }, CreateTaskResultSchema);
    for (const token of [await tokenOf('bob', 'acme'), await tokenOf('ann', 'other')]) {
      const other = await oldClient(system.mcp.url, token);
      const { tasks } = other.experimental;
      expect((await tasks.listTasks()).tasks).toEqual([]);
      await expect(tasks.getTask(task.taskId)).rejects.toMatchObject(notFound);
      await expect(tasks.getTaskResult(task.taskId, CallToolResultSchema)).rejects.toMatchObject(notFound);
      await expect(tasks.cancelTask(task.taskId)).rejects.toMatchObject(notFound);
      await other.close();
    }
    // Its caller has it in another session.
    const again = await oldClient(system.mcp.url, await tokenOf('ann', 'acme'));
    const { tasks } = again.experimental;
    expect(await tasks.getTaskResult(task.taskId, CallToolResultSchema)).toMatchObject({ isError: false });
    expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toEqual([task.taskId]);
    await again.close();
    await client.close();
    await system.close();
    rmSync(folder, { recursive: true });
  });
});
