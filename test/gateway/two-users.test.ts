import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentResponse } from '@sluice/contracts';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { caughtUp, entries } from '../audit/auditing.js';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-two-users-'));
const keyFile = join(folder, 'issuer.json');
const wait = { prefer: 'wait=20' };

/** Groups within groups, one that stands in for another, and a rule of each kind. */
const features = `
group:
  graph: { look: [knowledge-query], change: [graph-update] }
group_fallbacks: { graph/look: [graph/change] }
rules:
  known-tenants: { groups: [write], when: { tenants: [other], channels: [http] } }
  always-open: { groups: [knowledge], time: { zone: Europe/Berlin, from: "00:00", until: "24:00" } }
  calm: { groups: [write], load: { measure: run_budget_left, close_below: 0.01 } }
  once: { tools: [knowledge-query, graph-update], history: { at_most: 1 } }`;

describe('two users with different tool access and workflow states, over HTTP (§9.3)', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let model: ScriptedModel;
  let a: Readonly<Record<string, string>>;
  let b: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    const as = async (sub: string, claims: object) => ({
      authorization: `Bearer ${await honest.token({ sub, ...claims })}`,
    });
    a = await as('a', { tool_groups: ['read-only', 'knowledge', 'compute', 'admin'] });
    b = await as('b', { tenant: 'other', tool_groups: ['write', 'graph'] });
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
    const flow = inOrder({ calls: [calls.query] }, { calls: [calls.analysis] }, { calls: [calls.reset] });
    model = new ScriptedModel((request) => {
      if (request.question === 'Workflow') return flow(request);
      const offered = request.tools.map(({ id }) => id);
      const call = offered.includes(ids.update) ? calls.update : offered.includes(ids.query) ? calls.query : null;
      return call === null || request.history.length > 0 ? { answer: 'done' } : { calls: [call] };
    });
    system = await startSystem(workflowConfiguration({ limits: `${identity}${features}` }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (id: string, who: Readonly<Record<string, string>>, request: object): Promise<AgentResponse> => {
    const body = { question: 'Knowledge', request_id: id, session_id: `session-${id}`, ...request };
    const response = await post(`${gateway.url}/v1/runs`, body, { ...who, ...wait });
    expect(response.status).toBe(200);
    return system.responseOf(id);
  };
  const toolsets = async (id: string) =>
    (await system.all('agent.toolsets')).map(({ record }) => record).filter(({ requestId }) => requestId === id);
  const offered = async (id: string) => (await toolsets(id)).map(({ tools }) => tools.map(({ key }) => key));

  it('get the tools of their groups in their states, side by side, each with its own transitions (G-149 to G-152)', async () => {
    const [ofA, ofB] = await Promise.all([
      ask('of-a', a, { group: ['read-only'] }),
      ask('of-b', b, { group: ['write'], state: 'analysis' }),
    ]);
    expect(await offered('of-a')).toEqual([['knowledge-query', 'text-completion'], ['text-completion']]);
    // A rule leaves it one call a run.
    expect(await offered('of-b')).toEqual([['graph-update'], []]);
    expect(ofA.run?.stateTransitions).toMatchObject([{ tool: 'knowledge-query', from: 'undefined', to: 'analysis' }]);
    expect([ofB.state, ofB.run?.stateTransitions]).toEqual(['analysis', []]);
  });

  it('go through the whole workflow, and may begin it again (G-153 to G-156)', async () => {
    const end = await ask('flow', a, { question: 'Workflow', group: ['knowledge', 'compute', 'admin'] });
    expect(end.run?.stateTransitions).toMatchObject([
      { tool: 'knowledge-query', from: 'undefined', to: 'analysis', timestamp: expect.any(Number) },
      { tool: 'complex-analysis', from: 'analysis', to: 'results' },
      { tool: 'reset-workflow', from: 'results', to: 'undefined' },
    ]);
    expect(end.state).toBe('undefined');
    // The rule on tenants keeps the update from this one; the rule on histories leaves no second query in the same run.
    expect(await offered('flow')).toEqual([
      ['knowledge-query'],
      ['complex-analysis', 'reset-workflow'],
      ['reset-workflow'],
      [],
    ]);
    const again = await fetch(`${gateway.url}/v1/tools?group=knowledge`, { headers: a });
    expect(((await again.json()) as { tools: { key: string }[] }).tools.map(({ key }) => key)).toEqual([
      'knowledge-query',
    ]);
  });

  it('reach groups within groups, and one that stands in for another (G-173, G-176)', async () => {
    await ask('nested', b, { group: ['graph'] });
    expect((await offered('nested'))[0]).toEqual(['knowledge-query']);
    await ask('fallback', b, { group: ['graph/look'], state: 'analysis' });
    expect((await toolsets('fallback'))[0]).toMatchObject({
      groups: ['graph/look', 'graph/change'],
      fallbackGroups: ['graph/change'],
    });
    const listed = await fetch(`${gateway.url}/v1/tools?group=graph/look&state=analysis`, { headers: b });
    expect(await listed.json()).toMatchObject({
      group: ['graph/look'],
      fallback_groups: ['graph/change'],
      tools: [expect.objectContaining({ key: 'graph-update' })],
    });
  });

  it('are refused what only the other may, and all of it is audited and replayed', async () => {
    const refused = await post(`${gateway.url}/v1/runs`, { question: 'Knowledge', group: ['write'] }, a);
    expect(refused.status).toBe(403);
    await caughtUp(system.bus, system.embedded.runtime.signatures);
    const told = await entries(system.bus);
    const kinds = (kind: string) => told.filter((entry) => entry.kind === kind);
    expect(kinds('access_denied')).toMatchObject([{ details: { actor: 'user:a', refused_groups: ['write'] } }]);
    expect(kinds('tool_call').map(({ details }) => [details['actor'], details['tool'], details['outcome']])).toEqual(
      expect.arrayContaining([
        ['user:a', 'knowledge-query', 'ok'],
        ['user:b', 'graph-update', 'ok'],
      ]),
    );
    expect(kinds('state_transition').length).toBeGreaterThanOrEqual(5);
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
