import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@sluice/core';
import type { ModelRequest } from '@sluice/core';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { anyone, asked, configured, decide } from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
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

/** All services in this process, asked by callers with credentials, with a model that costs something. */
export class Load {
  private approvals = 0;
  private count = 0;

  private constructor(
    readonly system: TestSystem,
    private readonly gateway: Gateway,
    private readonly users: Issuer,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Load> {
    const users = await newIssuer();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-load-'));
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const more = `
identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }
model: { provider: openai-compatible, name: scripted, base_url: "http://127.0.0.1:9/v1", price: { input: 3, output: 15 } }`;
    const system = await startSystem(configured(anyone, { limits: more }), new ScriptedModel(said));
    return new Load(system, await startGateway(system.embedded.runtime), users, folder);
  }

  /** What an ordinary day is made of: runs that end with an answer, one approval that is given, and a look at the tools over HTTP. */
  async healthy(): Promise<void> {
    await Promise.all([this.run('work'), this.run('work'), this.approved('approve'), this.tools()]);
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
    await this.gateway.close();
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
