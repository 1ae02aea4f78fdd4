import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ListedGroup, ListedState } from '@sluice/core';
import type { Environment } from '@sluice/host';
import { startGateway } from '../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../apps/gateway/src/gateway.module.js';
import { startProxy } from '../apps/proxy/src/proxy.module.js';
import type { Proxy } from '../apps/proxy/src/proxy.module.js';
import { ScriptedUpstream } from '../apps/proxy/test/proxying.js';
import { run as explain } from '../apps/sluice/src/commands/explain.js';
import { run as groups } from '../apps/sluice/src/commands/groups.js';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import { workflowConfiguration } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { inProcess } from './harness/in-process.js';
import { oldClient, startMcpSystem } from './mcp/with-mcp.js';
import type { McpSystem } from './mcp/with-mcp.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-listings-'));
const keyFile = join(folder, 'issuer.json');
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** Far enough that the tests do not reach it. */
const anotherDay = days[(new Date().getUTCDay() + 3) % 7] ?? '';

const rules = `
rules:
  staff: { tools: [knowledge-query], when: { channels: [http, mcp, proxy], claims: { department: [research] } } }
  english: { tools: [text-completion], when: { languages: [en] } }
  another-day: { tools: [graph-update], time: { zone: UTC, days: [${anotherDay}] } }
  over-http: { tools: [complex-analysis], when: { channels: [http] }, load: { measure: calls_in_flight, close_above: 2 } }
  look-first: { tools: [reset-workflow], history: { after: [knowledge-query] } }
`;

afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Listed {
  readonly key: string;
  readonly depends_on?: readonly string[];
}

const short = (tools: readonly Listed[]): readonly string[] =>
  tools.map(({ key, depends_on: open = [] }) => [key, ...open].join(' '));

describe('lists of tools go by the rules on when tools are available', () => {
  let system: McpSystem;
  let gateway: Gateway;
  let proxy: Proxy;
  let upstream: ScriptedUpstream;
  let alice: string;
  let bob: string;

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    alice = await users.token({ sub: 'alice', tool_groups: ['*'], department: 'research' });
    bob = await users.token({ sub: 'bob', tool_groups: ['*'] });
    upstream = await ScriptedUpstream.start((_, response) => void response.end('{}'));
    const limits = `${rules}
identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }
proxy: { upstreams: { main: { api: openai, url: '${upstream.url}' } } }`;
    system = await startMcpSystem(workflowConfiguration({ limits }));
    gateway = await startGateway(system.embedded.runtime);
    proxy = await startProxy(system.embedded.runtime);
  });
  afterAll(async () => {
    await Promise.all([proxy.close(), gateway.close()]);
    await Promise.all([system.close(), upstream.close()]);
  });

  const get = async <T>(path: string, token: string): Promise<T> => {
    const response = await fetch(`${gateway.url}/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  };
  const tools = async (state: string, token: string) =>
    short((await get<{ tools: readonly Listed[] }>(`tools?group=*&state=${state}`, token)).tools);

  it('over HTTP: the offer of a run’s first turn, and that the question may yet close it', async () => {
    expect(await tools('undefined', alice)).toEqual(['knowledge-query', 'text-completion question']);
    expect(await tools('undefined', bob)).toEqual(['text-completion question']);
  });

  it('over HTTP: by the load that was measured', async () => {
    const { documents } = system.embedded.runtime;
    await eventually(
      () => tools('analysis', alice),
      (found) => found.includes('complex-analysis'),
    );
    const report = JSON.stringify({ other: { inFlight: 3, p95: 1, at: Date.now() } });
    await eventually(
      async () => {
        const { version = 0 } = (await documents.find('load/calls')) ?? {};
        return documents.put('load/calls', version + 1, report, null);
      },
      (isWritten) => isWritten,
    );
    await eventually(
      () => tools('analysis', alice),
      (found) => found.join() === 'text-completion question',
    );
  });

  it('over HTTP: groups and states, as far as a whole run may have them', async () => {
    const listed = async (name: string, token: string) =>
      short((await get<ListedGroup>(`groups/${name}`, token)).tools);
    expect(await listed('knowledge', alice)).toEqual(['knowledge-query']);
    expect(await listed('knowledge', bob)).toEqual([]);
    expect(await listed('text', bob)).toEqual(['text-completion question']);
    expect(await listed('admin', bob)).toEqual(['reset-workflow history']);
    const { states } = await get<{ states: readonly ListedState[] }>('states', bob);
    expect(states.find(({ name }) => name === 'undefined')?.tools).toEqual(['text-completion']);
  });

  it('over MCP: what a call is admitted for', async () => {
    const listed = async (token: string) => {
      const client = await oldClient(system.mcp.url, token);
      const found = (await client.listTools()).tools.map(({ name }) => name);
      return { client, found };
    };
    const [ours, theirs] = await Promise.all([listed(alice), listed(bob)]);
    // What a call over MCP asks is in no language.
    expect([ours.found, theirs.found]).toEqual([['knowledge-query'], []]);
    const called = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
    expect(await ours.client.callTool(called)).toMatchObject({ isError: false });
    expect(await theirs.client.callTool(called)).toMatchObject({ isError: true });
    const completion = { name: 'text-completion', arguments: { prompt: 'Hello' } };
    expect(await theirs.client.callTool(completion)).toMatchObject({ isError: true });
    // Each call is a run of its own, so that nothing is after another.
    expect((await ours.client.listTools()).tools).toEqual([]);
    expect(await ours.client.callTool({ name: 'analysis___reset-workflow' })).toMatchObject({ isError: true });
    await Promise.all([ours.client.close(), theirs.client.close()]);
  });

  it('in the proxy: by what the user asked last', async () => {
    const sent = async (question: string, token: string): Promise<readonly string[]> => {
      const names = ['knowledge-query', 'text-completion', 'graph-update', 'complex-analysis', 'own'];
      const body = {
        model: 'm',
        messages: [{ role: 'user', content: question }],
        tools: names.map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })),
      };
      const headers = { 'content-type': 'application/json', 'x-sluice-authorization': `Bearer ${token}` };
      const address = `${proxy.url}/v1/chat/completions`;
      expect((await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(200);
      const [last] = upstream
        .bodies<{ readonly tools?: readonly { readonly function: { readonly name: string } }[] }>()
        .slice(-1);
      return (last?.tools ?? []).map(({ function: { name } }) => name);
    };
    const english = 'What is the capital of Japan?';
    expect(await sent(english, alice)).toEqual(['knowledge-query', 'text-completion', 'own']);
    expect(await sent('Hm', alice)).toEqual(['knowledge-query', 'own']);
    expect(await sent(english, bob)).toEqual(['text-completion', 'own']);
  });
});

describe('commands that only have the configuration', () => {
  const file = join(folder, 'sluice.yaml');
  const busy = `
  busy: { tools: [text-completion], when: { channels: [http] }, load: { measure: calls_in_flight, close_above: 2 } }`;
  beforeAll(() => {
    writeFileSync(file, workflowConfiguration({ limits: rules + busy }));
  });
  const environment = {} as Environment;
  const explained = (...requests: readonly object[]) => explainedWith([], ...requests);
  const explainedWith = async (options: readonly string[], ...requests: readonly object[]) => {
    const input = Readable.from(requests.map((request) => `${JSON.stringify(request)}\n`));
    const { output } = await inProcess(
      (args, surroundings) => explain(args, { ...surroundings, input }),
      environment,
      '--config',
      file,
      ...options,
    );
    return output
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            readonly hidden: Record<string, object>;
            readonly depends_on?: object;
            readonly fallback_groups?: object;
          },
      );
  };

  it('say why a rule closes a tool, and what only a run would know', async () => {
    const [unasked, asked, english] = await explained(
      { group: ['*'], state: 'analysis' },
      { group: ['*'], state: 'analysis', question: 'Hm' },
      { group: ['*'], state: 'analysis', question: 'What is the capital of Japan?' },
    );
    expect(unasked?.hidden).toMatchObject({
      'graph-update': { time: 'A rule closes it at this time: another-day.' },
      'reset-workflow': { history: expect.any(String) },
    });
    expect(unasked?.depends_on).toEqual({ 'text-completion': ['channel', 'question', 'load'] });
    expect(asked?.hidden).toMatchObject({ 'text-completion': { context: expect.any(String) } });
    expect(asked).not.toHaveProperty('depends_on');
    expect(english?.depends_on).toEqual({ 'text-completion': ['channel', 'load'] });
  });

  it('say which groups stand in, what budgets leave and what an agent may not call', async () => {
    const more = `
group_fallbacks: { write: [text] }
policy:
  allowed_tools: [text-completion, helper]
  budgets: { calls_per_run: 5, tools: { text-completion: { calls_per_run: 2 } } }
  approval: { none: nothing is changed }
`;
    const text = `
tool:
  text-completion: { type: text-completion, group: [text] }
  graph-update: { type: graph-update, group: [write] }
  helper: { type: agent, group: [agents], description: Helps., agent: { group: [text] } }
${more}`;
    writeFileSync(file, text);
    const [standIn] = await explained({ group: ['write'], question: '?' });
    expect(standIn).toMatchObject({ permitted: ['text-completion'], fallback_groups: ['text'] });
    const [own] = await explained({ group: ['text'], question: '?' });
    expect(own).not.toHaveProperty('fallback_groups');
    const [used] = await explainedWith(['--calls', 'text-completion=2'], { group: ['*'], question: '?' });
    expect(used?.hidden).toMatchObject({ 'text-completion': { budget: expect.any(String) } });
    expect(used?.hidden).not.toHaveProperty('helper.depth');
    const [nested] = await explainedWith(['--nested'], { group: ['*'], question: '?' });
    expect(nested?.hidden).toMatchObject({ helper: { depth: expect.any(String) } });
    await expect(explainedWith(['--calls', 'nope=1'], { group: ['*'] })).rejects.toThrow('does not have');
  });

  it('list groups and states by the rules', async () => {
    writeFileSync(file, workflowConfiguration({ limits: rules + busy }));
    const { output } = await inProcess(groups, environment, '--config', file);
    expect(output).toContain('\nwrite\n  no tool that the policy allows and no rule closes now\n');
    expect(output).toMatch(/\n {2}text-completion {2}\(.*; rules: by channel, question, load\)\n/);
    // Without an identity callers have no claims.
    expect(output).not.toContain('knowledge-query');
    const { output: states } = await inProcess(groups, environment, '--config', file, '--states');
    expect(states).not.toContain('graph-update');
  });
});
