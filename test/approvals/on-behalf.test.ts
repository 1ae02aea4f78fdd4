import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { ApiKeys } from '@sluice/identity';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { post } from '../gateway/over-http.js';
import { asked, begun, configured, decide, outcomes } from '../harness/approving.js';
import { ids } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-on-behalf-'));
const keyFile = join(folder, 'issuer.json');
const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const update = [ids.update, '{"add":[{"subject":"A","predicate":"is","object":"one"}]}'] as const;
const approval = `
    approvers: ['user:ann', 'user:bob', 'user:cem']
    requester_may_not_approve: true
    on_behalf: { 'service:desk': ['user:ann', 'user:b*', 'user:zoe'], 'service:asker': ['user:*'] }
    rules: { both: { tools: [graph-update], quorum: 2 } }`;

type Headers = Readonly<Record<string, string>>;

describe('a decision that a service brings for a person', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let as: (name: string, tenant?: string) => Promise<Headers>;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    system = await startSystem(configured(approval, { limits }), new ScriptedModel(inOrder({ calls: [update] })));
    const keys = new ApiKeys(system.embedded.runtime.documents);
    const scope = { groups: ['*'], connections: [], expiresAt: Date.now() + 3_600_000 };
    as = async (name, tenant = 'acme') => {
      const token = name.startsWith('service:')
        ? (await keys.create({ ...scope, name: name.slice('service:'.length), tenant }, Date.now())).token
        : await users.token({ sub: name.slice('user:'.length), tenant, tool_groups: ['*'] });
      return { authorization: `Bearer ${token}` };
    };
    gateway = await startGateway(system.embedded.runtime);
    const body = { question: 'Write', group: ['*'], state: 'analysis', request_id: 'r1', session_id: 's1' };
    expect((await post(`${gateway.url}/v1/runs`, body, await as('service:asker'))).status).toBe(202);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('counts as the person’s own, once, and is recorded with the service', async () => {
    const waiting = await asked(system);
    const { approvalId, argumentsHash: arguments_hash } = waiting.requested;
    const url = `${gateway.url}/v1/approvals/${approvalId}/decision`;
    const given = { decision: 'approve', arguments_hash, reason: 'Ticket 7' };
    const decideFor = async (who: Headers, person: string | null, more: object = {}) => {
      const answer = await post(url, { ...given, decided_for: person, ...more }, who);
      const { not_taken, status } = (await answer.json()) as Record<string, unknown>;
      return [answer.status, not_taken ?? status];
    };
    const desk = await as('service:desk');
    const shown = await as('user:ann');
    await eventually(
      () => fetch(`${gateway.url}/v1/approvals/${approvalId}`, { headers: shown }),
      ({ status }) => status === 200,
    );
    // A service decides for no one that it may not, and is no approver itself; nor does a person decide for another.
    expect(await decideFor(desk, 'user:cem')).toEqual([403, 'not_for_person']);
    expect(await decideFor(desk, 'service:desk')).toEqual([403, 'not_for_person']);
    expect(await decideFor(desk, null)).toEqual([403, 'not_an_approver']);
    expect(await decideFor(desk, 'user:zoe')).toEqual([403, 'not_an_approver']);
    expect(await decideFor(await as('user:ann'), 'user:bob')).toEqual([403, 'not_for_person']);
    const sentence = async (who: Headers) =>
      ((await (await post(url, { ...given, decided_for: 'user:cem' }, who)).json()) as { error: { message: string } })
        .error.message;
    expect(await sentence(desk)).toContain('does not let this service decide for this person');
    expect(await sentence(await as('user:ann'))).toContain('Only a service decides for another person');
    expect(await decideFor(await as('service:desk', 'other'), 'user:ann')).toEqual([404, 'unknown_approval']);
    expect(await decideFor(await as('service:asker'), 'user:ann')).toEqual([403, 'own_call']);
    expect(await decideFor(desk, 'user:ann', { arguments_hash: '00' })).toEqual([409, 'other_arguments']);

    // The executor holds what reaches the log past the gateway to the same.
    const forged = await decide(system, waiting, 'approve', { decidedBy: '', decidedFor: 'user:cem' }, desk);
    expect(forged).toMatchObject({ notTaken: 'not_for_person', decidedBy: 'user:cem' });

    expect(await decideFor(desk, 'user:ann')).toEqual([202, 'published']);
    const taken = async (count: number) => {
      for (;;) {
        const found = (await outcomes(system)).filter(({ notTaken }) => notTaken === null);
        if (found.length >= count) return found;
      }
    };
    expect(await taken(1)).toMatchObject([
      { decidedBy: 'user:ann', decidedThrough: 'service:desk', decidedFor: null, stillNeeded: 1 },
    ]);
    // The same person is no second one, by whichever way; and the same decision again is that one.
    expect(await decideFor(desk, 'user:ann')).toEqual([200, 'taken']);
    expect(await decideFor(await as('user:ann'), null, { reason: 'Again' })).toEqual([409, 'already_decided']);
    expect(await begun(system)).toEqual({});
    expect(await decideFor(desk, 'user:bob')).toEqual([202, 'published']);
    await system.responseOf('r1');
    expect((await taken(2))[1]).toMatchObject({
      ...{ decidedBy: 'user:bob', decidedThrough: 'service:desk', stillNeeded: 0 },
      approvedBy: ['user:ann', 'user:bob'],
    });
    expect(await begun(system)).toEqual({ 'graph-update': 1 });
    const unlike = (await replayed(system.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');
    expect(unlike).toEqual([]);
  }, 60_000);
});

describe('without an identity', () => {
  it('a decision counts for a person where it names the service itself', async () => {
    const onBehalf = "{ approvers: ['user:ann'], on_behalf: { 'service:desk': ['user:ann'] } }";
    const system = await startSystem(configured(onBehalf), new ScriptedModel(inOrder({ calls: [update] })));
    try {
      const end = system.ask({ group: ['*'], state: 'analysis', requestId: 'open', sessionId: 'open' });
      const waiting = await asked(system);
      const by = (decidedBy: string) => decide(system, waiting, 'approve', { decidedBy, decidedFor: 'user:ann' });
      for (const other of ['', 'user:local', 'service:other'])
        expect(await by(other)).toMatchObject({ notTaken: 'not_for_person' });
      const counted = { notTaken: null, decidedBy: 'user:ann', decidedThrough: 'service:desk' };
      expect(await by('service:desk')).toMatchObject(counted);
      await end;
      expect(await begun(system)).toEqual({ 'graph-update': 1 });
    } finally {
      await system.close();
    }
  }, 60_000);
});
