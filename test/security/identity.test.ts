import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allTopics, recordFromJson } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { sluice } from '../harness/program.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-identity-'));
const keyFile = join(folder, 'issuer.json');
const identity = (file: string): string =>
  `identity: { provider: jwt, key_file: "${file}", issuer: "${issuer}", audience: ${audience}, claims: { subject: for } }`;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('who asks', () => {
  const model = new ScriptedModel(inOrder({ calls: [calls.query] }));
  let honest: Issuer;
  let system: TestSystem;
  let count = 0;
  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    system = await startSystem(workflowConfiguration({ limits: identity(keyFile) }), model);
  });
  afterAll(() => system.close());

  /** A request as an upstream system writes it: JSON, with its credential in the header. */
  async function ask(request: object, token: string | null, header = 'authorization'): Promise<AgentResponse> {
    const requestId = `r-${count++}`;
    const json = { question: 'Q', request_id: requestId, session_id: requestId, ...request };
    const headers: Record<string, string> = token === null ? {} : { [header]: `Bearer ${token}` };
    await system.bus.appendRaw('agent.requests', requestId, Buffer.from(JSON.stringify(json)), headers);
    return system.responseOf(requestId);
  }

  const counters = async () => ({
    denied: await system.metric('agent_group_access_denied_total'),
    escalations: await system.metric('agent_privilege_escalation_attempts_total'),
  });

  it('is read from the credential and travels with the run to its end (XG-5, XB-24, G-88)', async () => {
    const token = await honest.token({ tool_groups: ['read-only'], for: 'bob' });
    const response = await ask({ group: ['read-only'] }, token, 'Authorization');
    const principal = {
      actorId: 'user:alice',
      tenantId: 'acme',
      subjectId: 'user:bob',
      groups: ['read-only'],
      connections: [],
    };
    expect(response).toMatchObject({ kind: 'answer', run: { principal }, history: [{ outcome: 'ok' }] });
    for (const topic of ['agent.toolsets', 'agent.tool-calls', 'agent.steps'] as const) {
      const own = (await system.all(topic)).filter(({ record }) => record.requestId === response.requestId);
      expect(own.length).toBeGreaterThan(0);
      for (const { record } of own) expect(record.run.principal).toEqual(principal);
    }
  });

  it('ends a run at once if it cannot be known, under a code of its own (XB-10)', async () => {
    const before = await counters();
    for (const token of [null, 'hunter2', await (await newIssuer()).token({ tool_groups: ['*'] })]) {
      const response = await ask({ group: ['read-only'] }, token);
      expect(response).toMatchObject({ kind: 'error', error: { code: 'authz_denied' }, iterations: 0, run: null });
    }
    expect(await counters()).toEqual(before);
  });

  it('may ask for permitted groups only, and is refused whole (G-89, G-148, G-92, G-94, G-95, G-98, G-114)', async () => {
    const before = await counters();
    const toolsets = (await system.all('agent.toolsets')).length;
    const response = await ask(
      { group: ['read-only', 'write', 'admin'] },
      await honest.token({ tool_groups: ['read-only'] }),
    );
    expect(response).toMatchObject({
      kind: 'error',
      error: { code: 'authz_denied', message: 'Insufficient permissions for requested tool groups' },
      iterations: 0,
      run: { requestedGroups: ['read-only', 'write', 'admin'], principal: { groups: ['read-only'] } },
    });
    expect((await system.all('agent.toolsets')).length).toBe(toolsets);
    expect(await counters()).toEqual({ denied: before.denied + 2, escalations: before.escalations });
    expect(await system.metric('agent_group_access_denied_total', { group: 'write' })).toBeGreaterThan(0);
    const line = (await system.lines()).find(
      (one) => one['request_id'] === response.requestId && 'refused_groups' in one,
    );
    expect(line).toMatchObject({ actor: 'user:alice', tenant: 'acme', refused_groups: ['write', 'admin'] });
  });

  it('is checked for default where no group is named, and never for none (G-90, G-91)', async () => {
    const none = await honest.token({ tool_groups: [] });
    expect(await ask({}, none)).toMatchObject({ error: { code: 'authz_denied' } });
    expect(await ask({ group: [] }, none)).toMatchObject({ kind: 'answer' });
    expect(await ask({}, await honest.token({ tool_groups: 'default other' }))).toMatchObject({ kind: 'answer' });
  });

  it('may ask for * only with the right to *; without it that is an attempt to widen rights (G-91, G-116, G-146, XG-26)', async () => {
    const before = await counters();
    expect(await ask({ group: ['*'] }, await honest.token({ tool_groups: ['read-only', 'write'] }))).toMatchObject({
      error: { code: 'authz_denied' },
    });
    expect(await counters()).toEqual({ denied: before.denied + 1, escalations: before.escalations + 1 });
    expect(await ask({ group: ['*'] }, await honest.token({ tool_groups: ['*'] }))).toMatchObject({ kind: 'answer' });
    expect(await counters()).toEqual({ denied: before.denied + 1, escalations: before.escalations + 1 });
  });

  it('is not what the body says: another identity there is refused and counted (G-92, XG-26)', async () => {
    const before = await counters();
    const token = await honest.token({ tool_groups: ['read-only'] });
    const response = await ask({ group: ['read-only'], user_id: 'root' }, token);
    expect(response).toMatchObject({ error: { code: 'authz_denied', message: expect.stringContaining('user_id') } });
    expect(await counters()).toEqual({ denied: before.denied, escalations: before.escalations + 1 });
    const own = await ask(
      { group: ['read-only'], user_id: 'alice', principal: { actor_id: 'user:root' }, run: { principal: null } },
      token,
    );
    expect(own).toMatchObject({ kind: 'answer', run: { principal: { actorId: 'user:alice' } } });
    expect(await counters()).toEqual({ denied: before.denied, escalations: before.escalations + 1 });
  });

  it('acts for the principal of the credential and for no other, whatever the request and its headers say of it (T-F2b)', async () => {
    const forged = { actor_id: 'user:root', tenant_id: 'acme', subject_id: 'user:bob', groups: ['*'], connections: [] };
    const bodies = [
      { subject_id: 'user:bob', subjectId: 'user:bob', for: 'bob' },
      { principal: forged, run: { principal: forged }, context: { subject_id: 'user:bob' } },
    ];
    const alone = await honest.token({ tool_groups: ['read-only'] });
    const forCarol = await honest.token({ tool_groups: ['read-only'], for: 'carol' });
    for (const body of bodies)
      for (const [token, subjectId] of [
        [alone, null],
        [forCarol, 'user:carol'],
      ] as const) {
        const response = await ask({ group: ['read-only'], ...body }, token);
        expect(response).toMatchObject({ kind: 'answer', run: { principal: { actorId: 'user:alice', subjectId } } });
        const calls = (await system.all('agent.tool-calls')).filter(
          ({ record }) => record.requestId === response.requestId,
        );
        expect(calls.map(({ record }) => record.run.principal?.subjectId)).toEqual([subjectId]);
      }
  });

  it('starts in any state, which gives no right (XB-39)', async () => {
    const token = await honest.token({ tool_groups: ['read-only'] });
    expect(await ask({ group: ['read-only'], state: 'modification' }, token)).toMatchObject({ kind: 'answer' });
  });

  it('counts groups that are not configured under other (G-118)', async () => {
    const before = await system.metric('agent_group_access_denied_total', { group: 'other' });
    await ask({ group: ['made-up-1', 'made-up-2'] }, await honest.token());
    expect(await system.metric('agent_group_access_denied_total', { group: 'other' })).toBe(before + 2);
  });

  it('is a fault, no denial, while the keys cannot be had; the run ends once they stay away (G-93)', async () => {
    const before = await counters();
    // A configuration whose key file cannot be used is refused, so the file goes once it is in force.
    writeFileSync(join(folder, 'gone.json'), JSON.stringify(honest.jwks));
    writeFileSync(system.configFile, workflowConfiguration({ limits: identity(join(folder, 'gone.json')) }));
    const { configurations } = system.embedded.runtime;
    const there = configurations.current().configuration.version;
    while (configurations.current().configuration.version === there) await new Promise((go) => setTimeout(go, 20));
    unlinkSync(join(folder, 'gone.json'));
    const asked = ask({ group: ['read-only'] }, await honest.token({ tool_groups: ['read-only'] }));
    await new Promise((go) => setTimeout(go, 300));
    writeFileSync(join(folder, 'gone.json'), JSON.stringify(honest.jwks));
    expect(await asked).toMatchObject({ kind: 'answer' });
    expect(await counters()).toEqual(before);
  });

  it('sends a credential that goes nowhere: no record, no dead letter, no line and no export holds it', async () => {
    const marker = await honest.token({ tool_groups: ['read-only'], jti: 'planted' });
    const headers = { Authorization: `Bearer ${marker}`, 'x-trace': 'kept' };
    await ask({ group: ['read-only'] }, marker);
    await ask({ group: ['write'] }, marker);
    const bad = { request_id: 'bad-with-marker', session_id: 'bad-with-marker' };
    for (const body of [JSON.stringify({ ...bad, question: ' ' }), JSON.stringify({ ...bad, question: 7 }), 'no JSON'])
      await system.bus.appendRaw('agent.requests', 'bad-with-marker', Buffer.from(body), headers);
    const dead = async () => (await system.all('agent.dead-letters')).length;
    while ((await dead()) < 3) await new Promise((go) => setTimeout(go, 20));

    // Of the request itself too, once it was handled.
    const all = await system.all(...allTopics);
    expect(all.length).toBeGreaterThan(10);
    const left = all.map((message) => JSON.stringify(message) + rawText(message.record)).join('\n');
    expect(left).toContain('kept');
    expect(left).not.toContain(marker);
    expect(JSON.stringify(await system.lines())).not.toContain(marker);
    expect(await system.embedded.runtime.metrics.registry.metrics()).not.toContain(marker);
    const exported = await sluice(['tail', '--from', 'start', '--once', '--json'], { SLUICE_DATA: system.folder })
      .ended;
    expect(exported.output).toContain('bad-with-marker');
    expect(exported.output).not.toContain(marker);
  });
});

/** The bytes that a dead letter holds, as text. */
function rawText(record: object): string {
  return 'value' in record ? Buffer.from(record.value as Uint8Array).toString('utf8') : '';
}

describe('while no identity is configured', () => {
  it('everybody is one local principal, which is said at start, and a credential is ignored (XG-12)', async () => {
    const system = await startSystem(workflowConfiguration(), new ScriptedModel(inOrder()));
    try {
      const request = recordFromJson('AgentRequest', {
        question: 'Q',
        user_id: 'anybody',
        group: ['*'],
      }) as AgentRequest;
      expect(await system.ask(request)).toMatchObject({
        kind: 'answer',
        run: { principal: { actorId: 'user:local', tenantId: 'local', groups: ['*'] } },
      });
      const said = (await system.lines()).filter((line) => line['principal'] === 'user:local');
      expect(said).toHaveLength(1);
      expect(await system.metric('agent_privilege_escalation_attempts_total')).toBe(0);
    } finally {
      await system.close();
    }
  });
});
