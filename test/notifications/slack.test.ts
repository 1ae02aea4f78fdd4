import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiKeys } from '@sluice/identity';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { post } from '../gateway/over-http.js';
import { asked, configured, outcomes } from '../harness/approving.js';
import { ids } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { botToken, buttonsOf, interact, press, signingSecret, startSlack, submit, workspace } from './slack-server.js';
import type { Acting, Slack } from './slack-server.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-slack-'));
const keyFile = join(folder, 'issuer.json');
const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const update = [ids.update, '{"add":[{"subject":"A","predicate":"is","object":"<!channel>"}]}'] as const;
const approval = `
    approvers: ['user:bob', 'user:cem']
    requester_may_not_approve: true
    on_behalf: { 'service:slack': ['user:*'] }`;

describe('approvals in Slack', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let slack: Slack;
  let as: (sub: string) => Promise<Readonly<Record<string, string>>>;
  const secrets: Record<string, string> = { SLACK_TOKEN: botToken, SLACK_SECRET: signingSecret };
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    slack = await startSlack();
    const notify = `notify:
  base_url: https://sluice.example.org
  private_hosts: ['${slack.host}']
  slack:
    ops:
      channel: C1
      api_url: '${slack.url}'
      token_env: SLACK_TOKEN
      signing_secret_env: SLACK_SECRET
      credential_env: SLACK_KEY
      team: ${workspace}
      users: { U1: 'user:bob', U2: 'user:ann', U3: 'user:zoe', E7/W1: 'user:cem' }
`;
    const model = new ScriptedModel((request) =>
      request.history.length === 0 ? { calls: [update] } : { answer: 'Done' },
    );
    const secret = (variable: string): string | undefined => secrets[variable];
    system = await startSystem(`${configured(approval, { limits })}\n${notify}`, model, undefined, { secret });
    const scope = { name: 'slack', tenant: 'acme', groups: [], connections: [], expiresAt: Date.now() + 3_600_000 };
    const keys = new ApiKeys(system.embedded.runtime.documents);
    secrets['SLACK_KEY'] = (await keys.create(scope, Date.now())).token;
    gateway = await startGateway(system.embedded.runtime);
    as = async (sub) => ({ authorization: `Bearer ${await users.token({ sub, tenant: 'acme', tool_groups: ['*'] })}` });
  });
  beforeEach(() => {
    slack.state.trouble = () => null;
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    await slack.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (request_id: string): Promise<void> => {
    const body = { question: `Write for ${request_id}?`, group: ['*'], state: 'analysis', request_id };
    expect((await post(`${gateway.url}/v1/runs`, body, await as('ann'))).status).toBe(202);
  };
  const messageOf = async (request: string, is: (text: string) => boolean = () => true) => {
    const found = await slack.until((all) =>
      all.some(({ blocks, text }) => JSON.stringify(blocks).includes(`Write for ${request}?`) && is(text)),
    );
    return found.filter(({ blocks }) => JSON.stringify(blocks).includes(`Write for ${request}?`));
  };

  it('are asked for in a message, and decided on in its dialog by the person that the user is', async () => {
    await ask('r1');
    const [message] = await messageOf('r1');
    if (message === undefined) throw new Error('There is no message.');
    const shown = JSON.stringify(message.blocks);
    for (const part of ['graph-update', 'user:ann', '<!channel>', 'user:bob', 'state_change'])
      expect(shown).toContain(part);
    const approve = buttonsOf(message).get('sluice_approve') ?? {};
    const said = async (user: string | Acting) => {
      expect(await interact(gateway.url, press(user, approve))).toEqual({ status: 200, body: {} });
      const view = slack.views.at(-1) ?? {};
      return view['callback_id'] === undefined ? view : (await interact(gateway.url, submit(user, view, 'Fine'))).body;
    };

    // Neither an unknown user nor who asked nor who is no approver approves; a signature is of its secret and fresh.
    expect(JSON.stringify(await said('U9'))).toContain('mapped to no person');
    expect(JSON.stringify(await said('U2'))).toContain('approver');
    // Nor a user with a known id of another workspace, in whichever way Slack says which.
    for (const other of [
      { user: 'U1', home: 'T2' },
      { user: 'U1', home: 'T2', team: { id: 'T2', domain: 'other' } },
      { user: 'U1', home: null, team: { id: 'T2', domain: 'other' } },
      { user: 'U1', home: 'E8', team: { id: workspace, enterprise_id: 'E7' } },
      { user: 'U1', home: null, team: null },
      { user: 'W1', home: workspace },
      { user: `${workspace}/U1`, home: null, team: null },
    ])
      expect(JSON.stringify(await said(other))).toMatch(/Your Slack user \((T2\/U1|E8\/U1|T1\/W1|of no workspace)\)/);
    expect(await said('U3')).toMatchObject({ response_action: 'errors', errors: { reason: expect.any(String) } });
    expect((await interact(gateway.url, press('U1', approve), { secret: 'another' })).status).toBe(401);
    expect((await interact(gateway.url, press('U1', approve), { at: Date.now() - 400_000 })).status).toBe(401);
    const bare = await fetch(`${gateway.url}/v1/slack/interactions`, { method: 'POST', body: 'payload={}' });
    expect(bare.status).toBe(401);
    const counted = (result: string) => system.metric('sluice_slack_interactions_total', { result });
    const results = ['unknown_user', 'dialog', 'not_counted', 'unsigned', 'decided'];
    expect(await Promise.all(results.map(counted))).toEqual([8, 2, 2, 3, 0]);
    expect(await outcomes(system)).toEqual([]);

    expect(await said('U1')).toEqual({ response_action: 'clear' });
    await system.responseOf('r1');
    expect(await counted('decided')).toBe(1);
    expect(await outcomes(system)).toMatchObject([
      { decision: 'approve', decidedBy: 'user:bob', decidedThrough: 'service:slack', reason: 'Fine', notTaken: null },
    ]);
    const [ended] = await messageOf('r1', (text) => text.startsWith('Approved'));
    expect(ended?.text).toContain('user:bob through service:slack');
    expect(buttonsOf(ended as NonNullable<typeof ended>).size).toBe(0);
    // The same once more changes nothing; another one comes too late, here one of an Enterprise organization.
    expect(await said('U1')).toEqual({ response_action: 'clear' });
    const late = await said({ user: 'W1', home: 'E7', team: { id: workspace, enterprise_id: 'E7' } });
    expect(late).toMatchObject({ response_action: 'errors', errors: { reason: expect.stringMatching(/decision/) } });
    expect(slack.problems).toEqual([]);
  }, 60_000);

  it('are one message, though Slack limits, and though its answer is lost', async () => {
    let limits = 1;
    let losses = 1;
    slack.state.trouble = (method) => {
      if (method !== 'chat.postMessage') return null;
      return limits-- > 0 ? 'limited' : losses-- > 0 ? 'lost' : null;
    };
    await ask('r2');
    await messageOf('r2');
    // It is found again by its metadata, and changed.
    await eventually(
      () => slack.calls.filter(({ method }) => method === 'conversations.history').length,
      (count) => count > 0,
    );
    // Decided elsewhere, the message says so.
    const waiting = await asked(system, 2);
    const { approvalId, argumentsHash } = waiting.requested;
    const decision = { decision: 'refuse', arguments_hash: argumentsHash, reason: 'Not now' };
    const url = `${gateway.url}/v1/approvals/${approvalId}/decision`;
    expect((await post(url, decision, await as('cem'))).status).toBe(202);
    const found = await messageOf('r2', (text) => text.startsWith('Refused'));
    expect(found).toHaveLength(1);
    expect(found[0]?.text).toContain('by user:cem');
    expect(slack.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(2);
    expect(slack.problems).toEqual([]);
  }, 60_000);

  it('are changed when their run is cancelled', async () => {
    await ask('r3');
    await messageOf('r3');
    const cancelled = await post(`${gateway.url}/v1/runs/r3/cancel`, { reason: 'Enough' }, await as('ann'));
    expect(cancelled.status).toBe(202);
    const [message] = await messageOf('r3', (text) => !text.includes('waits'));
    expect(message?.text).toMatch(/^No longer needed/);
  }, 60_000);
});
