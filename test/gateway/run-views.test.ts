import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { readLocalSecret } from '@sluice/host';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { eventually } from '../harness/eventually.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;
interface Iteration extends Json {
  readonly iteration: number;
  readonly tools: readonly (Json & { readonly key: string; readonly reasons: readonly Json[] })[] | null;
}

describe('what a run had, over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-run-views-'));
  const keyFile = join(folder, 'issuer.json');
  let system: TestSystem;
  let gateway: Gateway;
  /** ann may ask for knowledge alone; amy is of her tenant; olga is an operator of it; bob is of another tenant. */
  const who: Record<string, Headers> = {};

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    for (const [sub, tenant, groups] of [
      ['ann', 'acme', ['knowledge']],
      ['amy', 'acme', ['*']],
      ['olga', 'acme', ['text']],
      ['bob', 'globex', ['*']],
    ] as const)
      who[sub] = { authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: groups })}` };
    const operators = "operators: [{ principals: ['user:olga'], tenants: [acme] }]";
    const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}, ${operators} }`;
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    system = await startSystem(workflowConfiguration({ limits }), new ScriptedModel(look));
    gateway = await startGateway(system.embedded.runtime);
    for (const [name, id] of [
      ['ann', 'of-ann'],
      ['bob', 'of-bob'],
    ] as const) {
      const request = { question: 'Look', group: ['knowledge'], request_id: id };
      const run = await post(`${gateway.url}/v1/runs`, request, { ...who[name], prefer: 'wait=30' });
      expect(run.status).toBe(200);
    }
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const get = async (path: string, name: string): Promise<readonly [number, Json]> => {
    const answer = await fetch(`${gateway.url}/v1/runs/${path}`, { headers: who[name] ?? {} });
    return [answer.status, (await answer.json()) as Json];
  };
  const iterations = async (path: string, name: string): Promise<readonly Iteration[]> => {
    const [status, body] = await get(path, name);
    expect([status, body]).toMatchObject([200, { iterations: expect.any(Array) }]);
    return body['iterations'] as readonly Iteration[];
  };

  it('shows who began it the verdict on every tool that it may ask for, and what would open it', async () => {
    const [first, second, ...others] = await iterations('of-ann/verdicts', 'ann');
    expect(others).toEqual([]);
    expect(first).toMatchObject({ iteration: 1, state: 'undefined', group: ['knowledge'], same_as: null, left_out: 0 });
    expect(first?.tools?.map(({ key, offered }) => [key, offered])).toEqual([
      ['knowledge-query', true],
      ['graph-update', false],
    ]);
    expect(first?.tools?.[1]?.reasons).toEqual([
      {
        code: 'state',
        text: 'It is not available in this state.',
        opens: 'It is available in the states analysis, modification. knowledge-query leads to analysis.',
      },
    ]);
    expect(second).toMatchObject({ iteration: 2, state: 'analysis', budgets: { calls: { used: 1 } } });
    expect(second?.tools?.map(({ key, offered }) => [key, offered])).toEqual([
      ['knowledge-query', false],
      ['graph-update', true],
    ]);
  });

  it('names no tool of groups that its caller may not ask for', async () => {
    const said = JSON.stringify(await iterations('of-ann/verdicts', 'ann'));
    for (const name of ['complex-analysis', 'reset-workflow', 'text-completion', 'expensive', 'write', 'admin'])
      expect(said).not.toContain(name);
  });

  it('shows an operator all tools, of every tenant that it names', async () => {
    const [first] = await iterations('of-ann/verdicts?iteration=1', 'olga');
    expect(first?.tools).toHaveLength(5);
    const hidden = first?.tools?.find(({ key }) => key === 'complex-analysis');
    expect(hidden?.reasons).toMatchObject([
      { code: 'group', opens: expect.stringContaining('one of the groups advanced, compute, expensive') },
      { code: 'state' },
    ]);
    expect(await iterations('of-bob/verdicts?tenant=globex', 'olga')).toHaveLength(2);
    expect((await get('of-bob/verdicts', 'olga'))[0]).toBe(404);
    expect((await get('of-ann?tenant=acme', 'olga'))[1]).toMatchObject({ status: 'ended', answer: 'Found.' });
    expect((await get('of-bob?tenant=globex', 'olga'))[1]).toMatchObject({ status: 'ended', answer: 'Found.' });
  });

  it('shows of a call that its request makes itself the same, though its record names its tool alone', async () => {
    const call = { tool: 'knowledge-query', arguments: '{"sparql":"SELECT ?s WHERE { ?s ?p ?o }"}', order: null };
    const end = { requestId: 'call-ann', sessionId: 'call-ann', call, group: ['knowledge'] };
    const { authorization = '' } = who['ann'] ?? {};
    await system.bus.publish([
      {
        ...{ topic: 'agent.requests', key: 'call-ann', headers: { authorization } },
        record: { ...newRequest('Call it', end), ...end },
      },
    ]);
    await system.responseOf('call-ann');
    expect(await system.all('agent.toolsets')).toHaveLength(4);
    const [only, ...others] = await iterations('call-ann/verdicts', 'ann');
    expect(others).toEqual([]);
    const [model] = await iterations('of-ann/verdicts?iteration=1', 'ann');
    expect({ ...only, decided_at: 0, deadline: 0 }).toEqual({ ...model, decided_at: 0, deadline: 0 });
  });

  it('lists such a call with its tool and state, and each entry that the audit has of it for its tenant', async () => {
    const list = async (path: string): Promise<readonly Json[]> => {
      const answer = await fetch(`${gateway.url}/v1/${path}`, { headers: who['ann'] ?? {} });
      return Object.values((await answer.json()) as Json).find(Array.isArray) as readonly Json[];
    };
    const runs = await eventually(
      () => list('runs?tool=knowledge-query&group=knowledge&text=call'),
      ({ length }) => length > 0,
    );
    expect(runs).toMatchObject([{ request_id: 'call-ann', outcome: 'answer', state: 'analysis', iterations: 1 }]);
    const entries = await eventually(
      () => list('audit?request_id=call-ann'),
      ({ length }) => length >= 4,
    );
    // The request came on the topic of all, and the filter passed it on.
    const kinds = ['request', 'request', 'run_ended', 'state_transition', 'tool_call'];
    expect(entries.map(({ kind }) => kind).sort()).toEqual(kinds);
  });

  it('is hidden from all others', async () => {
    for (const path of ['of-ann', 'of-ann/verdicts']) {
      expect((await get(path, 'amy'))[0]).toBe(404);
      expect((await get(path, 'bob'))[0]).toBe(404);
      expect((await get(`${path}?session_id=of-ann&since=0`, 'amy'))[0]).toBe(404);
      expect((await get(`${path}?tenant=acme`, 'bob'))[0]).toBe(403);
      expect((await get(`${path}?tenant=globex`, 'amy'))[0]).toBe(403);
      expect((await get(path, 'nobody'))[0]).toBe(401);
    }
  });

  it('has the records of a run for an operator to download, without credentials and signatures', async () => {
    const path = `${gateway.url}/v1/runs/of-bob/records?tenant=globex`;
    const answer = await fetch(path, { headers: who['olga'] ?? {} });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    const text = await answer.text();
    const records = text.trim().split('\n').map((line) => JSON.parse(line) as Json); // prettier-ignore
    expect(records.map(({ topic }) => topic)).toEqual([
      ...['agent.requests', 'agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.toolsets', 'agent.responses'],
    ]);
    expect(records[0]).toMatchObject({ record: { question: 'Look', request_id: 'of-bob' } });
    expect(text).not.toMatch(/Bearer eyJ|"eyJ/);
    expect((await get('of-bob/records', 'olga'))[0]).toBe(404);
    expect((await get('of-ann/records', 'ann'))[0]).toBe(403);
  });

  it('says what a parameter must be', async () => {
    for (const query of [
      'iteration=0',
      'iteration=x',
      'iteratio=1',
      'since=soon',
      'tenant=',
      'iteration=1&iteration=2',
    ])
      expect(await get(`of-ann/verdicts?${query}`, 'ann')).toMatchObject([400, { code: 'invalid_request' }]);
    expect((await get('of-ann/verdicts?iteration=9', 'ann'))[0]).toBe(404);
  });
});

describe('what a run of a named agent had, over HTTP', () => {
  const configuration = `
tool:
  now: { type: get_current_time, group: [clock] }
  list: { type: list_files, group: [files] }
policy: { allowed_tools: [now, list], budgets: { calls_per_run: 9 } }
agents:
  support:
    groups: [clock]
    budgets: { calls_per_run: 3, tools: { now: { calls_per_run: 1 } } }
`;
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const look = inOrder({ calls: [['core__now', '{}']] }, { answer: 'Now.' });
    system = await startSystem(configuration, new ScriptedModel(look));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  /** The verdicts on the second turn of a run, behind a call of `now`. */
  const second = async (agent: string): Promise<Iteration | undefined> => {
    const request = { question: 'When?', group: ['*'], request_id: `of-${agent}`, agent };
    expect((await post(`${gateway.url}/v1/runs`, request, { prefer: 'wait=30' })).status).toBe(200);
    const headers = { authorization: `Bearer ${readLocalSecret(system.embedded.runtime.environment)}` };
    const answer = await fetch(`${gateway.url}/v1/runs/of-${agent}/verdicts`, { headers });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { readonly iterations: readonly Iteration[] }).iterations[1];
  };
  const shown = (iteration: Iteration | undefined) => ({
    budgets: iteration?.['budgets'],
    tools: iteration?.tools?.map(({ key, offered, reasons }) => [key, offered, reasons.map(({ code }) => code)]),
  });

  it('is shown by the settings of its agent, and any other by those of all', async () => {
    expect(shown(await second('support'))).toMatchObject({
      budgets: { calls: { used: 1, limit: 3 }, tools: [{ tool: 'now', used: 1, limit: 1 }] },
      tools: [
        ['now', false, ['budget']],
        ['list', false, ['group']],
      ],
    });
    expect(shown(await second('default'))).toMatchObject({
      budgets: { calls: { used: 1, limit: 9 }, tools: [] },
    });
  });
});
