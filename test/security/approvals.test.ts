import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allTopics } from '@sluice/contracts';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { asked, decide } from '../harness/approving.js';
import type { Asked } from '../harness/approving.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-approvers-'));
const keyFile = join(folder, 'issuer.json');
const configuration = workflowConfiguration({
  limits: `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}, claims: { subject: for } }`,
}).replace(
  /^policy:$/m,
  "policy:\n  approval: { approvers: ['user:alice', 'user:bob', 'user:carol'], requester_may_not_approve: true }",
);

describe('who decides on an approval, where an identity is configured (XB-14, XB-24)', () => {
  let honest: Issuer;
  let system: TestSystem;
  let waiting: Asked;
  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    system = await startSystem(configuration, new ScriptedModel(inOrder({ calls: [calls.reset] })));
    const request = { question: 'Q', request_id: 'run-1', session_id: 'run-1', group: ['admin'], state: 'analysis' };
    const token = await honest.token({ tool_groups: ['admin'], for: 'carol' });
    const headers = { authorization: `Bearer ${token}` };
    await system.bus.appendRaw('agent.requests', 'run-1', Buffer.from(JSON.stringify(request)), headers);
    waiting = await asked(system);
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const decideAs = async (token: string | null, decidedBy: string) =>
    decide(
      system,
      waiting,
      'approve',
      { decidedBy },
      token === null ? {} : ({ Authorization: `Bearer ${token}` } as Record<string, string>),
    );

  it('sees who asked, and on whose behalf', () => {
    expect(waiting.requested).toMatchObject({
      requestedBy: 'user:alice',
      onBehalfOf: 'user:carol',
      tenantId: 'acme',
    });
  });

  it.each<[string, string, () => Promise<string | null>, string]>([
    ['no credential', 'not_authenticated', async () => null, 'user:bob'],
    ['one of another issuer', 'not_authenticated', async () => (await newIssuer()).token({ sub: 'bob' }), 'user:bob'],
    ['one of somebody else', 'not_authenticated', () => honest.token({ sub: 'eve' }), 'user:bob'],
    ['one of no approver', 'not_an_approver', () => honest.token({ sub: 'eve' }), ''],
    ['one of another tenant', 'not_an_approver', () => honest.token({ sub: 'bob', tenant: 'other' }), 'user:bob'],
    ['the requester’s own', 'own_call', () => honest.token({ sub: 'alice' }), 'user:alice'],
    ['that of whom the requester acts for', 'own_call', () => honest.token({ sub: 'carol' }), ''],
  ])('does not count with %s: %s', async (_, notTaken, token, decidedBy) => {
    expect(await decideAs(await token(), decidedBy)).toMatchObject({ notTaken });
    expect(await system.all('agent.steps')).toEqual([]);
  });

  it('is who the credential names; the credential goes no further', async () => {
    const token = await honest.token({ sub: 'bob' });
    expect(await decideAs(token, '')).toMatchObject({ notTaken: null, decidedBy: 'user:bob' });
    const response = await system.responseOf('run-1');
    expect(response.history).toMatchObject([{ action: 'reset-workflow', outcome: 'ok' }]);
    const records = await system.all(...allTopics);
    const holding = records.filter((message) => JSON.stringify(message).includes(token));
    expect(holding.map(({ topic }) => topic)).toEqual([]);
    expect(JSON.stringify(await system.lines())).not.toContain(token);
  });
});
