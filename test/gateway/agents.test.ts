import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

/** A model that answers when it is aborted or after a minute, where the question is to wait. */
class Slow extends ScriptedModel {
  override async turn(
    request: Parameters<ScriptedModel['turn']>[0],
    options?: { readonly signal: AbortSignal },
  ): ReturnType<ScriptedModel['turn']> {
    if (request.question === 'Wait') await sleep(60_000, undefined, { ref: false, signal: options?.signal });
    return super.turn(request);
  }
}

describe('agents over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-http-agents-'));
  const keyFile = join(folder, 'issuer.json');
  const configuration = `
tool:
  now: { type: get_current_time, group: [clock] }
  list: { type: list_files, group: [files] }
policy: { allowed_tools: [now, list] }
model: { provider: openai-compatible, name: m, base_url: "http://127.0.0.1:9/v1" }
identity:
  provider: jwt
  key_file: "${keyFile}"
  issuer: "${issuer}"
  audience: ${audience}
  operators: [{ principals: ['user:olga'], tenants: [acme] }]
agents:
  support:
    description: Helps with the time
    groups: [clock]
    may_cancel: { principals: ['user:lead'] }
    answer_schema: { type: object, properties: { time: { type: string } }, required: [time] }
    budgets: { calls_per_run: 2 }
  closed: { may_ask: { principals: ['user:olga'] }, groups: [files, clock] }
`;
  let system: TestSystem;
  let gateway: Gateway;
  /** Of one tenant, and a lead of another; ann may ask for the clock alone. */
  const who: Record<string, Headers> = {};

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    for (const [name, sub, tenant, groups] of [
      ['ann', 'ann', 'acme', ['clock']],
      ['lead', 'lead', 'acme', ['files']],
      ['olga', 'olga', 'acme', ['files']],
      ['other', 'lead', 'globex', ['*']],
    ] as const)
      who[name] = { authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: groups })}` };
    system = await startSystem(configuration, new Slow(() => ({ answer: '{"time":"noon"}' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const get = async (path: string, name: string): Promise<readonly [number, Json]> => {
    const answer = await fetch(`${gateway.url}/v1/${path}`, { headers: who[name] ?? {} });
    return [answer.status, (await answer.json()) as Json];
  };
  const send = async (path: string, body: object, name: string): Promise<readonly [number, Json]> => {
    const answer = await post(`${gateway.url}/v1/${path}`, body, who[name] ?? {});
    return [answer.status, (await answer.json()) as Json];
  };
  const plain = { description: null, groups: null, has_answer_schema: false, may_cancel: false };
  const support = { name: 'support', description: 'Helps with the time', has_answer_schema: true };

  it('are listed, those that the caller may ask, with their groups as far as it may ask for them', async () => {
    expect(await get('agents', 'ann')).toEqual([
      200,
      {
        config_version: expect.stringMatching(/^c-/),
        agents: [
          { name: 'default', ...plain },
          { ...support, groups: ['clock'], may_cancel: false },
        ],
      },
    ]);
    const [, ofLead] = await get('agents', 'lead');
    expect(ofLead['agents']).toEqual([
      { name: 'default', ...plain },
      { ...support, groups: [], may_cancel: true },
    ]);
    const [, ofOlga] = await get('agents', 'olga');
    expect(ofOlga['agents']).toContainEqual({ name: 'closed', ...plain, groups: ['files'] });
    expect((await get('agents', 'nobody'))[0]).toBe(401);
  });

  it('bound what is listed, tried and explained as what a run of them is offered', async () => {
    const keys = ({ tools }: Json): unknown => (tools as readonly Json[]).map(({ key }) => key);
    const [, all] = await get('tools?group=*', 'other');
    expect(keys(all)).toEqual(['now', 'list']);
    const [, listed] = await get('tools?group=*&agent=support', 'other');
    expect([listed['group'], keys(listed)]).toEqual([['clock'], ['now']]);
    const [, tried] = await send('toolsets', { question: 'Q', agent: 'support', group: ['*'] }, 'other');
    expect(keys(tried)).toEqual(['now']);
    expect((await get('tools?agent=closed', 'ann'))[0]).toBe(403);

    const caller = { tenant: 'acme', user: 'user:ann', permitted_groups: ['*'] };
    const [, explained] = await send('explain', { ...caller, agent: 'support', group: ['*'] }, 'olga');
    expect(explained).toMatchObject({
      group: ['clock'],
      refusal: null,
      tools: [
        { key: 'now', offered: true },
        { key: 'list', offered: false, reasons: [{ code: 'group' }] },
      ],
    });
    const [, spent] = await send('explain', { ...caller, agent: 'support', calls: { now: 2 } }, 'olga');
    expect(spent).toMatchObject({ tools: [{ key: 'now', reasons: [{ code: 'budget' }] }, { key: 'list' }] });
    const [, closed] = await send('explain', { ...caller, agent: 'closed' }, 'olga');
    expect(closed['refusal']).toMatch(/“closed” is not one that you may ask|"closed" is not one that you may ask/);
    // Who asks is not known, so neither is whether it may.
    expect(await send('explain', { agent: 'closed' }, 'olga')).toMatchObject([200, { refusal: null }]);
    expect((await send('explain', { agent: 'never' }, 'olga'))[1]['refusal']).toContain('is not one that you may ask');
  });

  describe('whose run another caller cancels', () => {
    const begin = async (id: string, agent: string): Promise<void> => {
      const request = { question: 'Wait', request_id: id, session_id: `s-${id}`, group: ['clock'], agent };
      expect((await send('runs', request, 'ann'))[0]).toBe(202);
      await eventually(
        () => system.all('agent.toolsets'),
        (found) => found.some(({ record }) => record.requestId === id),
      );
    };

    it('ends with a sentence that says who did, and shows nothing of itself to them', async () => {
      await begin('one', 'support');
      for (const name of ['olga', 'other'])
        expect(await send('cancellations', { request_id: 'one' }, name)).toMatchObject([404, { code: 'not_found' }]);
      const asked = await send('cancellations', { request_id: 'one', reason: 'Too long.' }, 'lead');
      expect(asked).toEqual([200, { request_id: 'one', status: 'cancelling' }]);
      const { error } = await system.responseOf('one');
      expect(error).toEqual({ code: 'cancelled', message: 'The run was cancelled by user:lead: Too long.' });
      for (const path of ['runs/one', 'runs/one?session_id=s-one&since=0', 'runs/one/verdicts'])
        expect((await get(path, 'lead'))[0]).toBe(404);
      const again = await send('cancellations', { request_id: 'one' }, 'lead');
      expect(again).toEqual([200, { request_id: 'one', status: 'ended' }]);
    });

    it('is one of an agent whose entry names them, or their own', async () => {
      await begin('two', 'default');
      const unknown = await send('cancellations', { request_id: 'never-was' }, 'lead');
      expect(await send('cancellations', { request_id: 'two' }, 'lead')).toEqual(unknown);
      expect(unknown[0]).toBe(404);
      expect((await send('cancellations', { request_id: 'two' }, 'ann'))[0]).toBe(200);
      expect((await system.responseOf('two')).error?.message).toBe('The run was cancelled by its caller.');
      expect((await send('cancellations', {}, 'ann'))[0]).toBe(400);
      expect((await send('cancellations', { request_id: 'two', why: 'x' }, 'ann'))[0]).toBe(400);
    });
  });
});
