import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { forgeries } from '../../libs/identity/test/forgeries.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { asked, outcomes } from '../harness/approving.js';
import type { Asked } from '../harness/approving.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post, streamed } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-strangers-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const approval = "approval: { approvers: ['user:ann', 'user:boss'], requester_may_not_approve: true }";

type Headers = Readonly<Record<string, string>>;
/** What only Ann may read. */
const secret = 'The vault opens at noon.';

describe('what a stranger tries over HTTP on another’s runs', () => {
  let honest: Issuer;
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let waiting: Asked;
  const as = async (sub: string, tenant = 'acme'): Promise<Headers> => ({
    authorization: `Bearer ${await honest.token({ sub, tenant, tool_groups: ['*'] })}`,
  });
  const within = (): AbortSignal => AbortSignal.timeout(120_000);
  const runs = (): string => `${gateway.url}/v1/runs`;
  const decisionBy = (headers: Headers, decision = 'approve'): Promise<Response> => {
    const { requested, message } = waiting;
    const body = {
      ...{ approval_id: requested.approvalId, request_id: requested.requestId, session_id: requested.sessionId },
      ...{ arguments_hash: requested.argumentsHash, decision },
      ...{ requested_partition: message.partition, requested_offset: message.offset },
    };
    return post(`${gateway.url}/v1/approvals`, body, headers, within());
  };

  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    ann = await as('ann');
    const scripts: Record<string, ReturnType<typeof inOrder>> = {
      Reset: inOrder({ calls: [calls.reset], thought: secret }, { answer: secret }),
      Look: inOrder({ calls: [calls.query], thought: secret }, { answer: secret }),
    };
    const model = new ScriptedModel((request) => scripts[request.question]?.(request) ?? { answer: 'Nothing.' });
    const configuration = workflowConfiguration({ limits: identity }).replace(/^policy:$/m, `policy:\n  ${approval}`);
    system = await startSystem(configuration, model);
    gateway = await startGateway(system.embedded.runtime);
    const body = { group: ['*'], session_id: 'anns' };
    const ended = await post(runs(), { ...body, question: 'Look', request_id: 'ended' }, { ...ann, prefer: 'wait=20' });
    expect(await ended.json()).toMatchObject({ answer: secret });
    await post(
      runs(),
      { ...body, question: 'Reset', request_id: 'waiting', state: 'analysis', session_id: 'anns-2' },
      ann,
    );
    waiting = await asked(system);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ways: readonly (readonly [string, Headers])[] = [
    ['at once', {}],
    ['waiting for its end', { prefer: 'wait=2' }],
    ['as a stream', streamed],
  ];
  const those = [
    ['an ended run', 'ended', 'anns'],
    ['a run that waits for an approval', 'waiting', 'anns-2'],
  ] as const;

  it.each(
    those.flatMap(([what, id, session]) => ways.map(([way, headers]) => [what, way, id, session, headers] as const)),
  )(
    'cannot see %s %s, whatever the tenant calls itself, and does not learn that there is one',
    async (_, __, id, session, headers) => {
      const see = async (who: Headers, request: string = id): Promise<[number, string]> => {
        const address = `${runs()}/${request}?session_id=${session}&since=0`;
        const response = await fetch(address, { headers: { ...who, ...headers }, signal: within() });
        return [response.status, await response.text()];
      };
      for (const tenant of ['other', 'ACME', 'acme ', 'acme/anns']) {
        const stranger = await as('ann', tenant);
        const seen = await see(stranger);
        expect(seen).toEqual(await see(stranger, 'never-was'));
        expect(seen).toEqual([404, expect.not.stringContaining(secret)]);
      }
    },
  );

  it('begins a run of its own under the same ids, and learns nothing of the other', async () => {
    for (const [, id, session] of those)
      for (const [, headers] of ways) {
        const stranger = await as('ann', `other-${id}-${Object.keys(headers).join()}`);
        const body = { question: 'What?', request_id: id, session_id: session, group: ['*'] };
        const response = await post(runs(), body, { ...stranger, ...headers }, within());
        expect([response.status < 300, await response.text()]).toEqual([true, expect.not.stringContaining(secret)]);
      }
  });

  it.each<[string, string, () => Promise<Headers>]>([
    ['an approver’s name in another tenant', 'unknown_approval', () => as('boss', 'other')],
    ['somebody who is no approver', 'not_an_approver', () => as('bob')],
    ['the requester', 'own_call', () => as('ann')],
  ])('decides nothing as %s', async (_, notTaken, who) => {
    const before = (await outcomes(system)).length;
    // Who asks may refuse the own call.
    const decisions = notTaken === 'own_call' ? ['approve'] : ['approve', 'refuse'];
    for (const decision of decisions) {
      const refused = await decisionBy(await who(), decision);
      expect([refused.status, await refused.json()]).toEqual([
        notTaken === 'unknown_approval' ? 404 : 403,
        expect.objectContaining({ code: 'decision_not_taken', not_taken: notTaken }),
      ]);
    }
    // Nothing of it is on the log but what the audit is told.
    expect(await outcomes(system)).toHaveLength(before);
    if (notTaken !== 'unknown_approval')
      expect((await system.all('agent.denials')).at(-1)?.record).toMatchObject({
        ...{ route: 'POST /v1/approvals', code: 'decision_not_taken', kind: 'approval', requestId: 'waiting' },
      });
    const ended = (await system.all('agent.responses')).filter(
      ({ record }) => record.run?.principal?.tenantId === 'acme',
    );
    expect(ended.map(({ record }) => record.requestId)).toEqual(['ended']);
  });

  it.each(forgeries)('has no way in with %s, over any route', async (_, forge) => {
    const before = (await system.all('agent.requests', 'agent.approvals')).length;
    const forged = { authorization: `Bearer ${await forge(honest)}` };
    const answers = await Promise.all([
      post(runs(), { question: 'What?' }, forged, within()),
      ...ways.map(([, headers]) =>
        fetch(`${runs()}/ended?session_id=anns&since=0`, { headers: { ...forged, ...headers }, signal: within() }),
      ),
      fetch(`${gateway.url}/v1/tools?group=*`, { headers: forged, signal: within() }),
      post(`${gateway.url}/v1/toolsets`, { question: 'What?' }, forged, within()),
      fetch(`${gateway.url}/v1/approvals`, { headers: forged, signal: within() }),
      decisionBy(forged),
    ]);
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await answer.text()).not.toContain(secret);
    }
    expect((await system.all('agent.requests', 'agent.approvals')).length).toBe(before);
  });
});
