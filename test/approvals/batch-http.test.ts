import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { post } from '../gateway/over-http.js';
import { asked, begun, configured } from '../harness/approving.js';
import { ids } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-batch-'));
const keyFile = join(folder, 'issuer.json');
const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const update = (subject: string) =>
  [ids.update, `{"add":[{"subject":"${subject}","predicate":"is","object":"one"}]}`] as const;

type Headers = Readonly<Record<string, string>>;
interface Waiting {
  readonly approval: { readonly approval_id: string; readonly index: number; readonly others: readonly string[] };
}

describe('decisions on the calls of a turn, over HTTP with credentials', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let as: (sub: string) => Promise<Headers>;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    as = async (sub) => ({ authorization: `Bearer ${await users.token({ sub, tenant: 'acme', tool_groups: ['*'] })}` });
    const model = new ScriptedModel(inOrder({ calls: [update('A'), update('B'), update('C')] }));
    const approval = "{ approvers: ['user:ann', 'user:boss'], requester_may_not_approve: true }";
    system = await startSystem(configured(approval, { limits }), model);
    gateway = await startGateway(system.embedded.runtime);
    const body = { question: 'Write', group: ['*'], state: 'analysis', request_id: 'r1', session_id: 's1' };
    expect((await post(`${gateway.url}/v1/runs`, body, await as('ann'))).status).toBe(202);
    await asked(system, 3);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const list = async (who: Headers): Promise<readonly Waiting[]> => {
    const answer = await fetch(`${gateway.url}/v1/approvals`, { headers: who });
    return ((await answer.json()) as { approvals: readonly Waiting[] }).approvals;
  };
  const decideAll = async (decisions: readonly object[], who: Headers) => {
    const answer = await post(`${gateway.url}/v1/approvals/decisions`, { decisions }, who);
    return [answer.status, await answer.json()] as const;
  };

  it('are taken at once, each for itself, and run each call once in its order', async () => {
    const boss = await as('boss');
    const waiting = await eventually(
      () => list(boss),
      (found) => found.length === 3,
    );
    const approvals = waiting.map(({ approval }) => approval).sort((one, other) => one.index - other.index);
    expect(new Set(approvals.flatMap(({ others }) => others)).size).toBe(3);
    const [first, second, third] = approvals.map((approval) => ({ ...approval, decision: 'approve' }));

    // Who asked may not approve; a list with one that cannot be read writes none.
    expect(await decideAll([first as object], await as('ann'))).toMatchObject([
      200,
      { decisions: [{ status: 'refused', not_taken: 'own_call' }] },
    ]);
    expect((await decideAll([first as object, { decision: 'approve' }], boss))[0]).toBe(400);
    expect((await decideAll([], boss))[0]).toBe(400);
    expect(
      (
        await decideAll(
          Array.from({ length: 101 }, () => first as object),
          boss,
        )
      )[0],
    ).toBe(400);
    expect(await begun(system)).toEqual({});

    const other = { ...second, approval_id: 'a-0', requested_offset: 0 };
    const sent = [{ ...third, decision: 'refuse', reason: 'Not C.' }, other, second, first] as object[];
    expect(await decideAll(sent, boss)).toMatchObject([
      200,
      {
        decisions: [
          { approval_id: third?.approval_id, status: 'published', not_taken: null },
          { approval_id: 'a-0', status: 'refused', not_taken: 'unknown_approval' },
          { approval_id: second?.approval_id, status: 'published' },
          { approval_id: first?.approval_id, status: 'published' },
        ],
      },
    ]);
    const { history } = await system.responseOf('r1');
    expect(history.map(({ index, outcome, reason }) => [index, outcome, reason])).toEqual([
      [0, 'ok', null],
      [1, 'ok', null],
      [2, 'policy_denied', 'approval_refused'],
    ]);
    expect(await begun(system)).toEqual({ 'graph-update': 2 });
    expect(await decideAll([first as object], boss)).toMatchObject([200, { decisions: [{ status: 'taken' }] }]);
    const unlike = (await replayed(system.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');
    expect(unlike).toEqual([]);
  }, 60_000);
});
