import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { entriesOfOne } from '../../apps/sluice/src/audit/owners.js';
import { sessionEntries } from '../../apps/sluice/src/audit/session.js';
import { readRuns } from '../../apps/sluice/src/runs.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { caughtUp } from '../audit/auditing.js';
import { asked, decide } from '../harness/approving.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';
import { chunksOf, post, streamed } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-tenants-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const approval = "approval: { approvers: ['*'], effects: [state_change] }";
const wait = { prefer: 'wait=20' };

type Headers = Readonly<Record<string, string>>;

describe('two tenants that choose the same ids', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let bob: Headers;
  /** Lets the runs whose model waits go on. */
  let release: () => void;
  let released: Promise<void>;
  const hold = (): void => void (released = new Promise((go) => (release = go)));

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const as = async (sub: string, tenant: string): Promise<Headers> => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
    });
    [ann, bob] = await Promise.all([as('ann', 'acme'), as('bob', 'other')]);
    const scripts: Record<string, ReturnType<typeof inOrder>> = {
      'Reset of Ann': inOrder({ calls: [calls.reset] }, { answer: 'Ann’s is reset.' }),
      'Reset of Bob': inOrder({ calls: [calls.reset] }, { answer: 'Bob’s is reset.' }),
      Analyse: inOrder({ calls: [calls.analysis] }, { answer: 'Analysed.' }),
      'Fails in the end': ({ history }) => {
        if (history.length === 0) return { calls: [calls.query] };
        throw new Fault('model_refused', 'Not this one.', false);
      },
    };
    const model = new ScriptedModel(async (request) => {
      if (request.question.startsWith('Slow')) await released;
      return scripts[request.question]?.(request) ?? { answer: `To “${request.question}”.` };
    });
    const configuration = workflowConfiguration({ limits: identity }).replace(/^policy:$/m, `policy:\n  ${approval}`);
    system = await startSystem(configuration, model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    release?.();
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (who: Headers, body: object, headers: Headers = wait): Promise<Response> =>
    post(`${gateway.url}/v1/runs`, { group: ['*'], ...body }, { ...who, ...headers }, AbortSignal.timeout(120_000));
  const json = async (response: Response): Promise<Record<string, unknown>> =>
    (await response.json()) as Record<string, unknown>;
  const see = (who: Headers, id: string, session: string, headers: Headers = wait): Promise<Response> =>
    fetch(`${gateway.url}/v1/runs/${id}?session_id=${session}&since=0`, { headers: { ...who, ...headers } });

  it('do not hold each other up in a session of the same name', async () => {
    hold();
    const slow = ask(bob, { question: 'Slow', session_id: 'shared' });
    await eventually(
      () => system.all('agent.toolsets'),
      (found) => found.some(({ key }) => key === 'shared'),
    );
    const quick = await ask(ann, { question: 'Quick', session_id: 'shared' });
    expect([quick.status, await json(quick)]).toMatchObject([200, { answer: 'To “Quick”.' }]);
    const own = ask(bob, { question: 'Mine, behind', session_id: 'shared' }, { prefer: 'wait=1' });
    expect((await own).status).toBe(202);
    release();
    expect(await json(await slow)).toMatchObject({ answer: 'To “Slow”.' });
  });

  it('have each a run of the same request_id, whose answer the other does not see', async () => {
    hold();
    const ids = { request_id: 'order-1', session_id: 'orders' };
    const bobs = ask(bob, { question: 'Slow of Bob', ...ids }, streamed);
    await eventually(
      () => system.all('agent.toolsets'),
      (found) => found.some(({ key }) => key === 'orders'),
    );
    // As it is while only another’s run has that id.
    expect((await see(ann, 'order-1', 'orders')).status).toBe(404);
    const anns = await ask(ann, { question: 'Of Ann', ...ids });
    expect([anns.status, await json(anns)]).toMatchObject([200, { answer: 'To “Of Ann”.' }]);
    expect((await ask(ann, { question: 'Again', ...ids })).status).toBe(409);
    expect((await see(bob, 'order-1', 'orders', { prefer: 'wait=1' })).status).toBe(202);
    release();
    const told = JSON.stringify(await chunksOf(await bobs));
    expect(told).toContain('To “Slow of Bob”.');
    expect(told).not.toContain('Of Ann');
    for (const [who, answer, others] of [
      [ann, 'To “Of Ann”.', 'Bob'],
      [bob, 'To “Slow of Bob”.', 'Ann'],
    ] as const) {
      expect(await json(await see(who, 'order-1', 'orders'))).toMatchObject({ status: 'ended', answer });
      expect(JSON.stringify(await chunksOf(await see(who, 'order-1', 'orders', streamed)))).not.toContain(others);
    }
  });

  it('have each the effect of the same call in the same run', async () => {
    const ids = { request_id: 'analyse-1', session_id: 'analyses', state: 'analysis' };
    for (const who of [bob, ann]) expect((await ask(who, { question: 'Analyse', ...ids })).status).toBe(200);
    const steps = (await system.all('agent.steps')).filter(({ key }) => key === 'analyses');
    expect(steps.flatMap(({ record }) => record.steps.map(({ outcome }) => outcome))).toEqual(['ok', 'ok']);
    // What is claimed is kept under two names, so neither takes the other’s outcome for its own.
    const starts = steps.map(({ record }) => record.steps[0]?.startedAt ?? 0);
    expect(starts[1]).toBeGreaterThan(starts[0] ?? 0);
  });

  it('cannot take an id from each other, nor can anybody whose credential does not hold', async () => {
    const squatter = { question: 'Mine now', request_id: 'order-2', session_id: 'orders-2' };
    const forged = { authorization: 'Bearer nonsense' };
    await system.bus.appendRaw(topics.requests, 'orders-2', Buffer.from(JSON.stringify(squatter)), forged);
    const refused = await system.responseOf('order-2');
    expect([refused.run, refused.tenantId, refused.error?.code]).toEqual([null, null, 'authz_denied']);
    const ids = { request_id: 'order-2', session_id: 'orders-2' };
    expect(await json(await ask(ann, { question: 'Of Ann', ...ids }))).toMatchObject({ answer: 'To “Of Ann”.' });
    await system.bus.appendRaw(topics.requests, 'orders-2', Buffer.from(JSON.stringify(squatter)), forged);
    expect(await json(await see(ann, 'order-2', 'orders-2'))).toMatchObject({ answer: 'To “Of Ann”.' });
  });

  it('are asked about their own calls, and decide on these alone', async () => {
    const before = (await system.all('agent.approvals')).filter(({ record }) => record.requested !== null).length;
    const ids = { request_id: 'reset-1', session_id: 'resets', state: 'analysis' };
    const bobs = ask(bob, { question: 'Reset of Bob', ...ids });
    const first = await asked(system, before + 1);
    const anns = ask(ann, { question: 'Reset of Ann', ...ids });
    const second = await asked(system, before + 2);
    expect(second.requested.approvalId).not.toBe(first.requested.approvalId);
    const owner = ({ requestedBy, tenantId }: ApprovalRequested) => [requestedBy, tenantId];
    expect([first, second].map(({ requested }) => owner(requested))).toEqual([
      ['user:bob', 'other'],
      ['user:ann', 'acme'],
    ]);
    expect(await decide(system, second, 'approve', { decidedBy: '' }, bob)).toMatchObject({
      notTaken: expect.any(String),
    });
    expect(await decide(system, second, 'approve', { decidedBy: '' }, ann)).toMatchObject({ notTaken: null });
    expect(await json(await anns)).toMatchObject({ answer: 'Ann’s is reset.' });
    const told = JSON.stringify(await chunksOf(await see(ann, 'reset-1', 'resets', streamed)));
    expect([told.includes(second.requested.approvalId), told.includes(first.requested.approvalId)]).toEqual([
      true,
      false,
    ]);
    expect(await decide(system, first, 'approve', { decidedBy: '' }, bob)).toMatchObject({ notTaken: null });
    expect(await json(await bobs)).toMatchObject({ answer: 'Bob’s is reset.' });
  });

  it('lose no run to a dead letter of the other’s', async () => {
    hold();
    const ids = { request_id: 'fails-1', session_id: 'fails' };
    const bobs = ask(bob, { question: 'Slow but well', ...ids });
    await eventually(
      () => system.all('agent.toolsets'),
      (found) => found.some(({ key }) => key === 'fails'),
    );
    const anns = await ask(ann, { question: 'Fails in the end', ...ids });
    expect(await json(anns)).toMatchObject({ kind: 'error', error: { code: 'model_failed' } });
    release();
    expect(await json(await bobs)).toMatchObject({ answer: 'To “Slow but well”.' });
    // A request that nobody could begin says for which tenant it was.
    const empty = { question: ' ', request_id: 'fails-2', session_id: 'fails' };
    await system.bus.appendRaw(topics.requests, 'fails', Buffer.from(JSON.stringify(empty)), ann);
    expect(await system.responseOf('fails-2')).toMatchObject({ run: null, tenantId: 'acme' });
  });

  it('have each a story of their own', async () => {
    await caughtUp(system.bus, system.embedded.runtime.signatures);
    const session = 'orders';
    const { entries } = await sessionEntries(system.bus, session);
    expect(() => entriesOfOne(entries, session, {})).toThrow(/user:ann of acme.*--tenant and --user/);
    for (const [tenant, user, others] of [
      ['acme', 'ann', 'Bob'],
      ['other', 'bob', 'Ann'],
    ] as const) {
      const own = entriesOfOne(entries, session, { tenant, user }).entries;
      expect(own.map(({ kind }) => kind)).toEqual(['request', 'tools_granted', 'run_ended']);
      expect(JSON.stringify(own)).not.toContain(others);
      expect(entriesOfOne(entries, session, { tenant }).entries).toEqual(own);
    }
    expect(entriesOfOne(entries, session, { tenant: 'acme', user: 'bob' }).entries).toEqual([]);
    const resets = await sessionEntries(system.bus, 'resets');
    const anns = entriesOfOne(resets.entries, 'resets', { tenant: 'acme' }).entries;
    expect(anns.map(({ kind }) => kind).filter((kind) => kind.startsWith('approval_'))).toEqual([
      'approval_requested',
      'approval_decided',
      'approval_outcome',
      'approval_decided',
      'approval_outcome',
    ]);
    const filter = { since: null, user: null, tenant: null, tool: null, outcome: null, most: 100 };
    const runs = (await readRuns(system.bus, filter)).filter(({ requestId }) => requestId === 'order-1');
    expect(runs.map(({ tenant, outcome }) => [tenant, outcome])).toEqual([
      ['other', 'answer'],
      ['acme', 'answer'],
    ]);
  });

  it('are replayed each by their own records', async () => {
    const decisions = await replayed(system.bus, null);
    const unequal = decisions.filter(({ outcome }) => outcome.kind === 'different');
    expect(unequal.map(({ kind, requestId, outcome }) => [kind, requestId, outcome])).toEqual([]);
    const without = decisions.filter(({ outcome }) => outcome.kind === 'not_replayable');
    // What hung on a credential, which no log keeps.
    expect(without.map(({ kind, requestId }) => `${kind} of ${requestId}`).toSorted()).toEqual([
      'approval judged of reset-1',
      'end of order-2',
    ]);
  });
});
