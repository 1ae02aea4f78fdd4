import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@sluice/core';
import type { ModelRequest } from '@sluice/core';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../apps/mcp/src/mcp.module.js';
import { startProxy } from '../../apps/proxy/src/proxy.module.js';
import type { Proxy } from '../../apps/proxy/src/proxy.module.js';
import { ScriptedUpstream } from '../../apps/proxy/test/proxying.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { anyone, asked, configured, decide } from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { oldClient } from '../mcp/with-mcp.js';
import { eventually, latest, smuggle } from '../security/forging.js';

/** What a question makes the model do. */
const scripts: Readonly<Record<string, readonly Said[]>> = {
  work: [{ calls: [calls.query] }, { calls: [calls.analysis] }, { answer: 'done' }],
  mistakes: [
    { calls: [[ids.query, 'not JSON'], [ids.query, '{}'], ['core__nobody-has-this', '{}'], calls.analysis] },
    { answer: 'done' },
  ],
  parked: [{ calls: [calls.reset] }, { answer: 'done' }],
};

function said(request: ModelRequest): Said {
  if (request.question === 'unanswerable') throw new Fault('model_refused', 'The key is not valid.', false);
  return inOrder(...(scripts[request.question] ?? []))(request);
}

/** Searches for a tool, then calls one of which the name says nothing about the question. */
function completion(body: string): string {
  const name = body.includes('"role":"tool"') ? 'get_weather' : 'gateway_search_tools';
  const call = { id: `call_${name}`, type: 'function', function: { name, arguments: '{"query":"weather"}' } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return JSON.stringify({
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    ...{ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

/** All services in this process, asked by callers with credentials, with a model that costs something. */
export class Load {
  private approvals = 0;
  private count = 0;

  private constructor(
    readonly system: TestSystem,
    private readonly gateway: Gateway,
    private readonly mcp: McpService,
    private readonly proxy: Proxy,
    private readonly upstream: ScriptedUpstream,
    private readonly users: Issuer,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Load> {
    const users = await newIssuer();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-load-'));
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    // The first model of two is always busy.
    const upstream = await ScriptedUpstream.start(({ body }, response) => {
      response.writeHead(body.toString().includes('busy') ? 503 : 200, { 'content-type': 'application/json' });
      response.end(completion(body.toString()));
    });
    const more = `
identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }
model: { provider: openai-compatible, name: scripted, base_url: "http://127.0.0.1:9/v1", price: { input: 3, output: 15 } }
proxy:
  upstreams: { main: { api: openai, url: '${upstream.url}' } }
  models: { fast: { upstream: main, name: busy, fallback: [steady] }, steady: { upstream: main, name: idle } }
pipes: { tool_discovery: { enabled: true, strategy: tool-search, shadow: ranked, min_tools: 1, max_tools: 1 } }`;
    const system = await startSystem(configured(anyone, { limits: more }), new ScriptedModel(said));
    const { runtime } = system.embedded;
    const parts = [await startGateway(runtime), await startMcp(runtime), await startProxy(runtime)] as const;
    return new Load(system, ...parts, upstream, users, folder);
  }

  /**
   * What an ordinary day is made of: runs that end with an answer, one approval that is given, a look at the tools
   * over HTTP, a call over MCP and a request to a model.
   */
  async healthy(): Promise<void> {
    await Promise.all([this.run('work'), this.run('work'), this.approved('approve'), this.tools()]);
    await Promise.all([this.overMcp(), this.proxied()]);
  }

  /** Everything that can go wrong, once: each in its own way leaves its trace. */
  async trouble(): Promise<void> {
    const { system } = this;
    await Promise.all([
      this.run('mistakes'),
      this.run('unanswerable'),
      this.run('work', { token: null }),
      this.run('work', { group: ['write'], token: await this.token({ sub: 'eve', tool_groups: ['read-only'] }) }),
      this.run('work', { group: ['*'], token: await this.token({ sub: 'eve', tool_groups: ['read-only'] }) }),
      this.run('work', { group: ['nobody-has-this'] }),
    ]);
    await this.approved('refuse');
    // A decision on what has been decided, a request that comes twice, and one that nobody can read.
    await decide(system, await asked(system, this.approvals), 'approve', {}, await this.bearer());
    const again = await this.run('work');
    await this.publish(again, 'work', ['*'], await this.bearer());
    const dead = async (): Promise<number> => (await system.all('agent.dead-letters')).length;
    const before = await dead();
    await system.bus.appendRaw('agent.requests', 'nobody', Buffer.from('not a record'));
    await eventually(async () => ((await dead()) > before ? true : undefined));
    // Somebody who may write to the topics tries to widen a run's groups.
    const { record } = await latest(system, 'agent.steps', again);
    await smuggle(system, 'agent.steps', { ...record, next: { ...record.next, group: ['*', 'write'] } });
  }

  /** Leaves a call waiting. */
  async park(): Promise<void> {
    await this.publish(`parked-${this.count++}`, 'parked', ['*'], await this.bearer(), 'analysis');
    await asked(this.system, ++this.approvals);
  }

  /** So many callers that nobody has seen before, each with a group, a state and a tool that nobody configured. */
  async strangers(many: number): Promise<void> {
    const ask = async (name: string): Promise<void> => {
      await this.run('mistakes', { group: [name], token: await this.token({ sub: name, tool_groups: ['none'] }) });
      await this.run('mistakes', { group: [name], state: name });
    };
    await Promise.all(Array.from({ length: many }, () => ask(`stranger-${this.count++}`)));
  }

  async close(): Promise<void> {
    await Promise.all([this.gateway.close(), this.mcp.close(), this.proxy.close()]);
    await this.upstream.close();
    await this.system.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async run(
    question: string,
    given: { readonly token?: string | null; readonly group?: readonly string[]; readonly state?: string } = {},
  ): Promise<string> {
    const requestId = `load-${this.count++}`;
    const headers = given.token === undefined ? await this.bearer() : bearer(given.token);
    await this.publish(requestId, question, given.group ?? ['*'], headers, given.state);
    await this.system.responseOf(requestId);
    return requestId;
  }

  private async tools(): Promise<void> {
    const response = await fetch(`${this.gateway.url}/v1/tools?group=*`, { headers: await this.bearer() });
    if (!response.ok) throw new Error(`The gateway answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }

  private async overMcp(): Promise<void> {
    const client = await oldClient(this.mcp.url, await this.token({ sub: 'ann', tool_groups: ['*'] }));
    await client.callTool({ name: 'text-completion', arguments: { prompt: 'Say so' } });
    await client.close();
  }

  private async proxied(): Promise<void> {
    const tools = ['get_weather', 'send_mail', 'list_files'].map((name) => ({ type: 'function', function: { name } }));
    const body = JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'Send a mail' }], tools });
    const response = await fetch(`${this.proxy.url}/v1/chat/completions`, { method: 'POST', body });
    if (!response.ok) throw new Error(`The proxy answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }

  private async approved(decision: 'approve' | 'refuse'): Promise<void> {
    const requestId = `load-${this.count++}`;
    await this.publish(requestId, 'parked', ['*'], await this.bearer(), 'analysis');
    await decide(this.system, await asked(this.system, ++this.approvals), decision, {}, await this.bearer());
    await this.system.responseOf(requestId);
  }

  private async publish(
    requestId: string,
    question: string,
    group: readonly string[],
    headers: Readonly<Record<string, string>>,
    state?: string,
  ): Promise<void> {
    const json = { question, request_id: requestId, session_id: requestId, group, state };
    await this.system.bus.appendRaw('agent.requests', requestId, Buffer.from(JSON.stringify(json)), headers);
  }

  private async bearer(): Promise<Readonly<Record<string, string>>> {
    return bearer(await this.token({ sub: 'ann', tool_groups: ['*'] }));
  }

  private token(claims: Readonly<Record<string, unknown>>): Promise<string> {
    return this.users.token(claims);
  }
}

function bearer(token: string | null): Readonly<Record<string, string>> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
