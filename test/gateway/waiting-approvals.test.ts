import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { ApprovalFollowers } from '../../apps/gateway/src/stream/approval-stream.js';
import { run as approve } from '../../apps/sluice/src/commands/approvals.js';
import { run as project } from '../../apps/sluice/src/commands/project.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { asked, configured, outcomes } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { localHeaders } from '../harness/local-headers.js';
import { decoded, post, streamed } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-waiting-'));
const keyFile = join(folder, 'issuer.json');
const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const approval = "{ approvers: ['user:ann', 'user:boss'], requester_may_not_approve: true }";

type Headers = Readonly<Record<string, string>>;
interface Listed {
  readonly approval: Readonly<Record<string, unknown>>;
  readonly decisions: readonly string[];
  readonly tool: Readonly<Record<string, unknown>>;
  readonly question: string | null;
}
interface List {
  readonly approvals: readonly Listed[];
  readonly next_cursor: string | null;
}

describe('the list of calls that wait for an approval', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let as: (sub: string, tenant?: string, claims?: Readonly<Record<string, unknown>>) => Promise<Headers>;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    as = async (sub, tenant = 'acme', claims = {}) => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'], ...claims })}`,
    });
    const model = new ScriptedModel(({ history, question }) => {
      if (history.length > 0) return { answer: 'Done.' };
      const first = question === 'Look and reset' ? [calls.analysis] : [];
      return { calls: [...first, calls.reset], thought: 'Begin anew.' };
    });
    system = await startSystem(configured(approval, { limits }), model);
    gateway = await startGateway(system.embedded.runtime);
    for (const [n, who] of (['ann', 'amy', 'amy'] as const).entries()) {
      const body = { question: 'Reset', group: ['*'], state: 'analysis', request_id: `r${n}`, session_id: `s${n}` };
      expect((await post(`${gateway.url}/v1/runs`, body, await as(who))).status).toBe(202);
      await asked(system, n + 1);
    }
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const list = async (who: Headers, query = ''): Promise<List> => {
    const response = await fetch(`${gateway.url}/v1/approvals${query}`, { headers: who });
    expect(response.status).toBe(200);
    return (await response.json()) as List;
  };
  const listed = async (who: Headers, count: number): Promise<List> =>
    eventually(
      () => list(who),
      ({ approvals }) => approvals.length === count,
    );
  const runs = ({ approvals }: List): unknown[] => approvals.map(({ approval }) => approval['request_id']);

  /** The events of the stream, one after another. */
  async function* followed(who: Headers, signal: AbortSignal) {
    const response = await fetch(`${gateway.url}/v1/approvals`, { headers: { ...who, ...streamed }, signal });
    expect(response.status).toBe(200);
    for await (const chunk of decoded(response))
      if (chunk.type === 'data') yield* chunk.data as unknown as readonly Readonly<Record<string, unknown>>[];
  }

  it('has what waits in the tenant, the oldest first, with what the caller may decide', async () => {
    const { approvals, next_cursor } = await listed(await as('boss'), 3);
    expect(next_cursor).toBeNull();
    expect(approvals.map(({ approval, decisions }) => [approval['request_id'], decisions])).toEqual([
      ['r0', ['approve', 'refuse']],
      ['r1', ['approve', 'refuse']],
      ['r2', ['approve', 'refuse']],
    ]);
    const { requested, message } = await asked(system);
    expect(approvals[0]?.approval).toMatchObject({
      ...{ approval_id: requested.approvalId, arguments: requested.arguments, thought: 'Begin anew.' },
      ...{ requested_by: 'user:ann', expires_at: requested.expiresAt },
      ...{ requested_partition: message.partition, requested_offset: message.offset },
    });
    expect(approvals[0]?.tool).toEqual({ key: 'reset-workflow', title: expect.any(String) });
    expect(approvals[0]?.question).toBe('Reset');
    expect(approvals[0]?.approval).not.toHaveProperty('steps');
    const { components } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      readonly components: { readonly schemas: Readonly<Record<string, { readonly required: readonly string[] }>> };
    };
    expect(Object.keys(approvals[0]?.approval ?? {}).sort()).toEqual([...(components.schemas['AskedApproval']?.required ?? [])].sort()); // prettier-ignore
    const anns = await listed(await as('ann'), 3);
    expect(anns.approvals.map(({ decisions }) => decisions.join())).toEqual(['refuse', 'approve,refuse', 'approve,refuse']); // prettier-ignore
  });

  it('is empty for who is no approver, or of another tenant', async () => {
    await listed(await as('boss'), 3);
    for (const who of [await as('amy'), await as('boss', 'other'), await as('ann', 'ACME')])
      expect(await list(who)).toEqual({ approvals: [], next_cursor: null });
    expect((await fetch(`${gateway.url}/v1/approvals`)).status).toBe(401);
  });

  it('is read page by page, and says what a parameter must be', async () => {
    const boss = await as('boss');
    await listed(boss, 3);
    const first = await list(boss, '?limit=2');
    expect(runs(first)).toEqual(['r0', 'r1']);
    const second = await list(boss, `?limit=2&cursor=${first.next_cursor ?? ''}`);
    expect([runs(second), second.next_cursor]).toEqual([['r2'], null]);
    for (const query of ['?limit=0', '?cursor=x', '?curser=x'])
      expect((await fetch(`${gateway.url}/v1/approvals${query}`, { headers: boss })).status).toBe(400);
  });

  it('is not changed by what other clients write to the topic, or by a rebuild of the runs', async () => {
    const boss = await as('boss');
    const before = await listed(boss, 3);
    const { requested } = await asked(system);
    const { approvalId, requestId, sessionId, argumentsHash } = requested;
    const forged = { ...requested, approvalId: 'a-forged', arguments: '{"made":"up"}' };
    const said = { decision: 'refuse', decidedBy: 'user:eve', reason: '', argumentsHash };
    const outcome = make.approvalOutcome({ approvalId, requestId, sessionId, ...said, at: Date.now() });
    await system.bus.publish([
      { topic: topics.approvals, key: sessionId, record: make.approval({ requested: forged }) },
      { topic: topics.approvals, key: sessionId, record: make.approval({ outcome: make.approvalOutcome(outcome) }) },
      // A later run of the same partition: what is listed behind it has seen the others.
      { topic: topics.approvals, key: sessionId, record: make.approval({ requested }) },
    ]);
    const { output } = await inProcess(project, system.embedded.runtime.environment, 'rebuild');
    expect(output).toContain('rebuilt from');
    const again = await startGateway(system.embedded.runtime);
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const response = await fetch(`${again.url}/v1/approvals`, { headers: boss });
      expect(await response.json()).toEqual(before);
      expect(await list(boss)).toEqual(before);
    } finally {
      await again.close();
    }
  });

  it('is a stream for who asks for one: what waits, what comes, and what waits no longer', async () => {
    const leaving = new AbortController();
    const events = followed(await as('boss'), leaving.signal);
    const next = async (): Promise<Readonly<Record<string, unknown>>> => {
      const { value } = await events.next();
      return value ?? {};
    };
    const first = [await next(), await next(), await next()];
    expect(first).toMatchObject(
      ['r0', 'r1', 'r2'].map((id) => ({ type: 'waiting', approval: { request_id: id }, decisions: expect.any(Array) })),
    );
    expect(first).toEqual((await list(await as('boss'))).approvals.map((one) => ({ type: 'waiting', ...one })));
    const body = { question: 'Reset', group: ['*'], state: 'analysis', request_id: 'r3', session_id: 's3' };
    expect((await post(`${gateway.url}/v1/runs`, body, await as('amy'))).status).toBe(202);
    const come = await next();
    expect(come).toMatchObject({ type: 'waiting', approval: { request_id: 'r3' }, decisions: ['approve', 'refuse'] });
    const decision = { ...(come['approval'] as object), decision: 'refuse' };
    expect((await post(`${gateway.url}/v1/approvals`, decision, await as('boss'))).status).toBe(202);
    const { approval_id } = come['approval'] as { readonly approval_id: string };
    expect(await next()).toEqual({ type: 'closed', approval_id });
    leaving.abort();
    await expect(events.next()).rejects.toThrow('aborted');
  });

  it('is no stream for a stranger, and an empty one for who is no approver, which ends with the credential', async () => {
    expect((await fetch(`${gateway.url}/v1/approvals`, { headers: streamed })).status).toBe(401);
    // Clocks may differ by half a minute.
    const exp = Math.floor(Date.now() / 1_000) - 15;
    const expiring = await as('amy', 'acme', { exp });
    const events = followed(expiring, AbortSignal.timeout(120_000));
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('is read once for all who follow it in a tenant, and again half a second later', async () => {
    const followers = new ApprovalFollowers(1);
    const read: string[] = [];
    const from = (tenant: string, now: number) =>
      followers.waiting(tenant, now, async () => {
        read.push(`${tenant} at ${now}`);
        return [];
      });
    for (const now of [0, 499, 500]) await Promise.all([from('acme', now), from('acme', now), from('other', now)]);
    expect(read).toEqual(['acme at 0', 'other at 0', 'acme at 500', 'other at 500']);
  });

  it('refuses a decision that cannot count, with the reason, and publishes nothing of it', async () => {
    const boss = await as('boss');
    const { approvals } = await listed(boss, 3);
    const own = approvals.find(({ approval }) => approval['request_id'] === 'r0')?.approval;
    const before = (await system.all('agent.approvals')).length;
    const refusal = async (changes: object, who = boss) => {
      const response = await post(`${gateway.url}/v1/approvals`, { ...own, decision: 'approve', ...changes }, who);
      const { code, not_taken, detail } = (await response.json()) as Readonly<Record<string, unknown>>;
      expect([code, detail]).toEqual(['decision_not_taken', expect.stringMatching(/\.$/)]);
      return [response.status, not_taken];
    };
    expect(await refusal({ decision: 'maybe' })).toEqual([400, 'invalid_decision']);
    expect(await refusal({ arguments: '[1]' })).toEqual([400, 'invalid_arguments']);
    expect(await refusal({ decision: 'refuse', arguments: { other: 1 } })).toEqual([400, 'invalid_arguments']);
    expect(await refusal({ arguments_hash: '0'.repeat(64) })).toEqual([409, 'other_arguments']);
    expect(await refusal({ approval_id: 'a-none' })).toEqual([404, 'unknown_approval']);
    expect(await refusal({ requested_offset: 4_711 })).toEqual([404, 'unknown_approval']);
    expect(await refusal({ decided_by: 'user:ann' })).toEqual([403, 'not_authenticated']);
    expect(await refusal({}, await as('ann'))).toEqual([403, 'own_call']);
    expect(await refusal({ approval_id: 'a-none' }, await as('amy'))).toEqual([403, 'not_an_approver']);
    expect(await refusal({}, await as('boss', 'other'))).toEqual([404, 'unknown_approval']);
    expect(await system.all('agent.approvals')).toHaveLength(before);
  });

  it('shows one of them to who may decide: the question, the tool, the steps before, and the outcome of the call', async () => {
    const boss = await as('boss');
    // An approver that may not call the first tool itself.
    const narrow = await as('boss', 'acme', { tool_groups: ['admin'] });
    const show = async (id: string, who: Headers) => {
      const response = await fetch(`${gateway.url}/v1/approvals/${id}`, { headers: who });
      return [response.status, (await response.json()) as Readonly<Record<string, unknown>>] as const;
    };
    const body = { question: 'Look and reset', group: ['*'], state: 'analysis', request_id: 'r4', session_id: 's4' };
    expect((await post(`${gateway.url}/v1/runs`, body, await as('ann'))).status).toBe(202);
    const { approvals } = await eventually(
      () => list(boss),
      (found) => runs(found).includes('r4'),
    );
    const listedOne = approvals.find(({ approval: { request_id: id } }) => id === 'r4')?.approval;
    const id = listedOne?.['approval_id'] as string;
    const before = {
      ...{ approval: listedOne, decisions: ['approve', 'refuse'], question: 'Look and reset', arguments: {} },
      tool: { key: 'reset-workflow', description: 'Reset to initial state', input_schema: expect.any(Object) },
      holds: 'once',
      asked_because: { rule: 'effect', message: expect.stringContaining('state_change') },
      ...{ approvers: ['user:ann', 'user:boss'], requester_may_not_approve: true },
      progress: { rules: [], approved_by: [], still_needed: 1, on_expiry: 'refuse' },
      ...{ decision: null, decided_at: null, call: null, run_ended: null },
    };
    const step = {
      ...{ iteration: 1, tool: 'complex-analysis', outcome: 'ok', reason: null },
      ...{ rule: null, edited_arguments: null, edited_by: null },
    };
    expect(await show(id, boss)).toEqual([
      200,
      { ...before, steps_before: [{ ...step, arguments: calls.analysis[1], result: expect.any(String) }] },
    ]);
    const hidden = [{ ...step, arguments: null, result: null }];
    expect(await show(id, narrow)).toEqual([200, { ...before, steps_before: hidden }]);
    // Who asked sees all of it, and may refuse.
    const [, own] = await show(id, await as('ann', 'acme', { tool_groups: ['admin'] }));
    expect(own).toMatchObject({ decisions: ['refuse'], steps_before: [{ arguments: calls.analysis[1] }] });
    for (const who of [await as('amy'), await as('boss', 'other')])
      expect(await show(id, who)).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    expect((await show('a-none', boss))[0]).toBe(404);

    const decision = { ...listedOne, decision: 'approve', reason: 'It may.' };
    expect((await post(`${gateway.url}/v1/approvals`, decision, { ...boss, prefer: 'wait=50' })).status).toBe(200);
    await system.responseOf('r4');
    const after = {
      decisions: [],
      decision: { decision: 'approve', decided_by: 'user:boss', reason: 'It may.' },
      ...{ decided_at: expect.any(Number), run_ended: null },
      call: {
        iteration: 1,
        tool: 'reset-workflow',
        outcome: 'ok',
        reason: null,
        arguments: '{}',
        result: expect.any(String),
      },
    };
    expect((await show(id, narrow))[1]).toMatchObject(after);
    const [, unread] = await show(id, await as('boss', 'acme', { tool_groups: [] }));
    expect(unread).toMatchObject({ ...after, call: { outcome: 'ok', arguments: null, result: null } });
  });

  it('is decided on by the command line with a credential; what cannot count is not written there either', async () => {
    const { environment } = system.embedded.runtime;
    const [first] = (await listed(await as('boss'), 3)).approvals;
    const id = first?.approval['approval_id'] as string;
    const before = (await system.all('agent.approvals')).length;
    const decided = async (who: Headers | null, ...more: readonly string[]) => {
      const token = who?.['authorization']?.replace('Bearer ', '');
      const secret = (name: string) => (name === 'SLUICE_TOKEN' ? token : environment.secret(name));
      const { code, output } = await inProcess(approve, { ...environment, secret }, 'approve', id, ...more);
      expect(code).toBe(1);
      expect(output).toContain('the decision does not count, so it was not written.');
      return output;
    };
    expect(await decided(null)).toContain('SLUICE_TOKEN is not set.');
    expect(await decided({ authorization: 'Bearer e30.e30.e30' })).toContain('SLUICE_TOKEN holds it.');
    expect(await decided(await as('boss'), '--as', 'user:ann')).toContain('is that of user:boss');
    expect(await decided(await as('amy'))).toContain('policy.approval does not name the one who decided');
    expect(await decided(await as('ann'))).toContain('Who asked may not approve it');
    expect(await decided(await as('boss', 'other'))).toContain('No executor asked for this approval');
    expect(await system.all('agent.approvals')).toHaveLength(before);
  });

  it('gives the body of the decision, and loses what was decided', async () => {
    const boss = await as('boss');
    const [first] = (await listed(boss, 3)).approvals;
    const decided = (await outcomes(system)).length;
    const body = { ...first?.approval, decision: 'approve' };
    const outcome = { decision: 'approve', decided_by: 'user:boss', reason: '', still_needed: 0 };
    const waited = await post(`${gateway.url}/v1/approvals`, body, { ...boss, prefer: 'wait=50' });
    const answer = { approval_id: first?.approval['approval_id'], status: 'taken', outcome };
    expect([waited.status, await waited.json()]).toEqual([200, answer]);
    // The same one again is an attempt once more; another one comes too late.
    const again = await post(`${gateway.url}/v1/approvals`, body, boss);
    expect([again.status, await again.json()]).toEqual([200, answer]);
    const other = await post(`${gateway.url}/v1/approvals`, { ...body, decision: 'refuse' }, boss);
    expect([other.status, await other.json()]).toEqual([
      409,
      expect.objectContaining({ not_taken: 'already_decided', detail: expect.stringContaining('by user:boss') }),
    ]);
    expect(runs(await listed(boss, 2))).toEqual(['r1', 'r2']);
    expect((await outcomes(system))[decided]).toMatchObject({ notTaken: null, decidedBy: 'user:boss' });
    expect(await system.responseOf('r0')).toMatchObject({ answer: 'Done.' });
  });

  it('leaves a history of who decided what, for approvers of the tenant', async () => {
    const boss = await as('boss');
    interface History {
      readonly decisions: readonly Readonly<Record<string, unknown>>[];
      readonly next_cursor: string | null;
    }
    const history = async (who: Headers, query = ''): Promise<History> => {
      const response = await fetch(`${gateway.url}/v1/approvals/decided${query}`, { headers: who });
      expect(response.status).toBe(200);
      return (await response.json()) as History;
    };
    const { decisions } = await eventually(
      () => history(boss),
      (found) => found.decisions.some((one) => one['request_id'] === 'r0' && one['tool'] !== null),
    );
    expect(decisions[0]).toMatchObject({
      ...{
        request_id: 'r0',
        session_id: 's0',
        tool: expect.stringContaining('reset-workflow'),
        effect: 'state_change',
      },
      ...{ requested_by: 'user:ann', on_behalf_of: null, decision: 'approve', decided_by: 'user:boss', reason: '' },
      ...{ arguments: '{}', arguments_hash: expect.any(String), config_version: expect.stringMatching(/^c-/) },
      verified: true,
      ...{ requested_at: expect.any(Number), decided_at: expect.any(Number) },
    });
    const times = decisions.map((one) => Number(one['decided_at']));
    expect(times).toEqual([...times].sort((one, other) => other - one));
    // Decisions that did not count are none, nor is one that another client wrote.
    expect(new Set(decisions.map((one) => one['approval_id'])).size).toBe(decisions.length);
    const first = await history(boss, '?limit=1');
    const next = await history(boss, `?limit=1&cursor=${first.next_cursor ?? ''}`);
    expect([...first.decisions, ...next.decisions]).toEqual(decisions.slice(0, 2));
    for (const who of [await as('amy'), await as('boss', 'other')])
      expect(await history(who)).toEqual({ decisions: [], next_cursor: null });
  });
});

describe('the list of waiting calls without an identity', () => {
  it('is for who has the local secret, as decisions are', async () => {
    const model = new ScriptedModel(() => ({ calls: [calls.reset] }));
    const system = await startSystem(configured("{ approvers: ['user:boss'] }"), model);
    const gateway = await startGateway(system.embedded.runtime);
    try {
      await post(`${gateway.url}/v1/runs`, { question: 'Reset', group: ['*'], state: 'analysis' });
      const { approvals } = await eventually(
        async () =>
          (await (
            await fetch(`${gateway.url}/v1/approvals`, { headers: localHeaders(system.embedded.runtime) })
          ).json()) as List,
        (found) => found.approvals.length === 1,
      );
      expect(approvals).toMatchObject([{ decisions: ['approve', 'refuse'] }]);
    } finally {
      await gateway.close();
      await system.close();
    }
  });
});
