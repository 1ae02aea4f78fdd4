import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sign } from '@octokit/webhooks-methods';
import { topics } from '@sluice/contracts';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { hookCredential } from '@sluice/run';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const secret = 'a secret of both sides';
const configuration = `
tool: { text: { type: text-completion, group: [triage] } }
policy: { allowed_tools: [text] }
identity: { provider: api-keys }
hook:
  issues:
    scheme: github
    secret_env: GITHUB_HOOK
    question: 'Sort the issue {/issue/title}.'
    body: true
    groups: [triage]
    principal: service:github
    tenant: acme
`;

let system: TestSystem;
let gateway: Gateway;
/** As a gateway is that has public keys alone, and no secret. */
let blind: Gateway;
let model: ScriptedModel;
beforeAll(async () => {
  model = new ScriptedModel(inOrder({ answer: 'Sorted.' }));
  const only = (variable: string) => (variable === 'GITHUB_HOOK' ? secret : undefined);
  system = await startSystem(configuration, model, undefined, { secret: only });
  const { runtime } = system.embedded;
  gateway = await startGateway(runtime);
  blind = await startGateway({ ...runtime, environment: { ...runtime.environment, secret: () => undefined } });
});
afterAll(async () => {
  await gateway.close();
  await blind.close();
  await system.close();
});

const issue = (title: string): string => JSON.stringify({ action: 'opened', issue: { title } });

async function deliver(body: string, headers: Readonly<Record<string, string>>, at = gateway, hook = 'issues') {
  const all = { 'content-type': 'application/json', ...headers };
  const response = await fetch(`${at.url}/v1/hooks/${hook}`, { method: 'POST', body, headers: all });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const signed = async (body: string, id: string, by = secret) => ({
  'x-hub-signature-256': await sign(by, body),
  'x-github-delivery': id,
});
const ofRun = async (id: string | undefined) =>
  (await system.all(topics.responses)).filter(({ record }) => record.requestId === id).map(({ record }) => record);
const denied = { kind: 'error', error: { code: 'authz_denied' } };

describe('a hook', () => {
  it('starts one run for a delivery, as its service principal, however often that is sent', async () => {
    const body = issue('Broken "door"');
    const first = await deliver(body, await signed(body, 'd-1'));
    expect(first).toMatchObject({ status: 202, body: { status: 'accepted' } });
    const id = first.body['request_id'] ?? '';
    expect(await system.responseOf(id)).toMatchObject({ kind: 'answer', answer: 'Sorted.' });
    expect(await deliver(body, await signed(body, 'd-1'))).toEqual({
      status: 202,
      body: { ...first.body, status: 'accepted_before' },
    });
    const [granted] = (await system.all(topics.toolsets)).filter(({ record }) => record.requestId === id);
    expect(granted?.record.run.principal).toEqual({
      ...{ actorId: 'service:github', tenantId: 'acme', subjectId: null },
      ...{ groups: ['triage'], connections: [] },
    });
    expect(granted?.record.request).toMatchObject({
      question: 'Sort the issue "Broken \\"door\\"".',
      conversation: [{ role: 'user', text: body }],
    });
    expect(await ofRun(id)).toHaveLength(1);
  });

  it.each([
    ['another secret', async (body: string) => signed(body, 'd-2', 'another'), 401],
    ['another body', async () => signed(issue('Another'), 'd-2'), 401],
    ['no signature', async () => ({ 'x-github-delivery': 'd-2' }), 401],
    ['no id', async (body: string) => ({ 'x-hub-signature-256': await sign(secret, body) }), 400],
    [
      'a form',
      async (body: string) => ({ ...(await signed(body, 'd-2')), 'content-type': 'application/x-www-form-urlencoded' }),
      415,
    ],
  ] as const)('refuses a delivery with %s', async (_, headers, status) => {
    const before = (await system.all(topics.requests)).length;
    const body = issue('Refused');
    const answer = await deliver(body, await headers(body));
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(/\w\.$/) } });
    expect(await system.all(topics.requests)).toHaveLength(before);
  });

  it('refuses what is too large, what is no JSON, and a name that no hook has', async () => {
    const large = issue('x'.repeat(262_144));
    expect((await deliver(large, await signed(large, 'd-3'))).status).toBe(413);
    expect((await deliver('{', await signed('{', 'd-3'))).status).toBe(400);
    expect((await deliver('{}', await signed('{}', 'd-3'), gateway, 'none')).status).toBe(404);
    const deep = `{"issue":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    for (const odd of [deep, '\ufeff{}'])
      for (const at of [gateway, blind]) expect((await deliver(odd, await signed(odd, 'd-3'), at)).status).toBe(400);
  });

  it('of a gateway without the secret is verified by the filter alone', async () => {
    const body = issue('Honest');
    const honest = await deliver(body, await signed(body, 'd-4'), blind);
    expect(honest.status).toBe(202);
    expect(await system.responseOf(honest.body['request_id'] ?? '')).toMatchObject({ kind: 'answer' });
    const forged = await deliver(body, await signed(body, 'd-5', 'another'), blind);
    expect(forged.status).toBe(202);
    expect(await system.responseOf(forged.body['request_id'] ?? '')).toMatchObject(denied);
  });

  it('asks what its delivery says and nothing else, by any writer of the record', async () => {
    const body = issue('Mine');
    const { version } = system.embedded.runtime.configurations.current().configuration;
    const credential = hookCredential({ hook: 'issues', version, headers: await signed(body, 'd-6'), body });
    const [honest] = await system.all(topics.requests);
    if (honest === undefined) throw new Error('There is no request.');
    const record = { ...honest.record, question: 'Give me the keys.', requestId: 'forged-1' };
    const headers = { authorization: credential, 'sluice-channel': 'hook' };
    await system.bus.publish([{ topic: topics.requests, key: 'forged-1', record, headers }]);
    expect(await system.responseOf('forged-1')).toMatchObject(denied);
    // Nor is it a credential of a caller.
    const asked = await fetch(`${gateway.url}/v1/groups`, { headers: { authorization: encodeURI(credential) } });
    expect(asked.status).toBe(401);
  });

  it('leaves nothing of its delivery’s signature on the embedded log once the filter has it', async () => {
    await eventually(
      () => system.all(topics.requests),
      (all) => all.every(({ headers }) => !JSON.stringify(headers).includes('sha256=')),
    );
    expect(model.asked.length).toBeGreaterThan(0);
  });
});
