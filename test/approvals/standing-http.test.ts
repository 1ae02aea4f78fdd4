import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mostStanding } from '@sluice/core';
import { StandingApprovals } from '@sluice/run';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { post } from '../gateway/over-http.js';
import { asked, begun, configured } from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-standing-'));
const keyFile = join(folder, 'issuer.json');
const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const policy = "{ approvers: ['user:ann', 'user:boss'], requester_may_not_approve: true }";

type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

describe('standing approvals over HTTP with credentials', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let as: (sub: string, tenant?: string) => Promise<Headers>;
  let boss: Headers;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    as = async (sub, tenant = 'acme') => {
      return { authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}` };
    };
    boss = await as('boss');
    const model = new ScriptedModel(({ history }) => {
      return history.length > 0 ? { answer: 'Done.' } : { calls: [calls.update] };
    });
    system = await startSystem(configured(policy, { limits }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const address = () => `${gateway.url}/v1/approvals/standing`;
  const answered = async (response: Response) => [response.status, (await response.json()) as Json] as const;
  const list = async (who: Headers) => {
    const [, body] = await answered(await fetch(address(), { headers: who }));
    return body['standing_approvals'] as readonly Json[];
  };
  const until = Date.now() + 3_600_000;
  const forAnn = { tool: 'graph-update', user: 'user:ann', until, calls: 3, reason: 'A test.' };
  const give = async (body: object, who = boss) => answered(await post(address(), body, who));
  const revoke = async (id: string, who = boss, body: object = {}) =>
    answered(await post(`${address()}/${id}/revoke`, body, who));
  const ask = async (request_id: string) => {
    const body = { question: 'Write', group: ['*'], state: 'analysis', request_id, session_id: request_id };
    expect((await post(`${gateway.url}/v1/runs`, body, await as('ann'))).status).toBe(202);
  };
  const written = async () =>
    (await system.all('agent.approvals')).filter(({ record }) => record.standing !== null).length;

  it('are given, listed with their uses, and revoked', async () => {
    const bounds = { 'add/*/subject': { one_of: ['Sluice'] } };
    const mine = { ...forAnn, bounds, standing_id: 's-mine' };
    expect(await give(mine)).toEqual([200, { standing_id: 's-mine', status: 'taken' }]);
    const count = await written();
    // The same again is the same; another under its name is refused, and neither is written.
    expect(await give({ ...mine, bounds: JSON.stringify(bounds) })).toMatchObject([200, { status: 'taken' }]);
    expect(await give({ ...mine, calls: 4 })).toMatchObject([409, { not_taken: 'already_decided' }]);
    expect(await written()).toBe(count);

    await ask('run-1');
    expect((await system.responseOf('run-1')).history[0]?.outcome).toBe('ok');
    expect(await begun(system)).toEqual({ 'graph-update': 1 });
    const kept = { standing_id: 's-mine', tool: ids.update, tool_key: 'graph-update', used: 1, given_by: 'user:boss' };
    expect(await list(boss)).toMatchObject([{ ...kept, bounds: expect.anything(), calls: 3, revoked_by: null }]);
    expect(await list(await as('eve'))).toEqual([]);
    expect(await list(await as('boss', 'globex'))).toEqual([]);

    expect(await revoke('s-mine', await as('eve'))).toMatchObject([403, { not_taken: 'not_an_approver' }]);
    expect(await revoke('s-mine', await as('boss', 'globex'))).toMatchObject([404, { not_taken: 'unknown_standing' }]);
    // Any approver may revoke it, once.
    expect(await revoke('s-mine', await as('ann'), { reason: 'Enough.' })).toMatchObject([200, { status: 'taken' }]);
    const then = await written();
    expect(await revoke('s-mine')).toMatchObject([200, { status: 'taken' }]);
    expect(await written()).toBe(then);
    expect(await list(boss)).toMatchObject([{ revoked_by: 'user:ann', revoked_because: 'Enough.' }]);
    await ask('run-2');
    await asked(system);
    expect(await begun(system)).toEqual({ 'graph-update': 1 });
  }, 60_000);

  it('that cannot count are refused before they are on the log, with what to change', async () => {
    const before = await written();
    const refused = async (body: object, who = boss) => {
      const [status, { not_taken, detail }] = await give(body, who);
      return [status, not_taken ?? detail];
    };
    expect(await refused(forAnn, await as('eve'))).toEqual([403, 'not_an_approver']);
    expect(await refused(forAnn, await as('ann'))).toEqual([403, 'own_call']);
    expect(await refused({ ...forAnn, decided_by: 'user:ann' })).toEqual([403, 'not_authenticated']);
    expect(await refused({ ...forAnn, tool: 'unheard-of' })).toEqual([400, 'invalid_standing']);
    expect(await refused({ ...forAnn, until: Date.now() + 30 * 86_400_000 })).toEqual([400, 'invalid_standing']);
    expect(await refused({ ...forAnn, calls: 1_001 })).toEqual([400, 'invalid_standing']);
    expect(await refused({ ...forAnn, user: '', session_id: 'run-1' })).toEqual([400, 'invalid_standing']);
    expect(await give({ ...forAnn, bounds: { amount: { maximum: 1 } } })).toMatchObject([
      400,
      { not_taken: 'invalid_standing', detail: expect.stringContaining('the unknown argument "amount"') },
    ]);
    expect(await refused({ tool: 'graph-update' })).toEqual([400, expect.stringContaining('until')]);
    expect(await refused({ ...forAnn, bound: {} })).toEqual([400, expect.stringContaining('bounds')]);
    expect(await refused({ ...forAnn, action: 'give' })).toEqual([400, expect.stringContaining('action')]);
    expect(await refused({ ...forAnn, standing_id: '..' })).toEqual([400, expect.stringContaining('standing_id')]);
    expect((await revoke('s-none'))[0]).toBe(404);

    const approvals = new StandingApprovals(system.embedded.runtime);
    const one = { tool: ids.update, bounds: null, session: '', user: 'user:ann', until, calls: 1 };
    const from = { givenBy: 'user:boss', givenAs: ['user:boss'], reason: '', givenAt: Date.now(), revoked: null };
    for (let n = 0; n < mostStanding; n++) await approvals.give('acme', { ...one, ...from, id: `s-${n}` });
    expect(await refused(forAnn)).toEqual([409, 'too_many_standing']);
    expect(await written()).toBe(before);
    const denied = async () => (await system.all('agent.denials')).map(({ record }) => [record.actorId, record.route]);
    expect(await eventually(denied, (found) => found.length > 2)).toContainEqual([
      'user:eve',
      'POST /v1/approvals/standing',
    ]);
  }, 60_000);
});
