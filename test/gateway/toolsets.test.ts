import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withTools } from '@sluice/run';
import { runTopics } from '@sluice/contracts';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-toolsets-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;

type Headers = Readonly<Record<string, string>>;
interface Tried {
  readonly tools: readonly Record<string, unknown>[];
  readonly hidden_counts: Readonly<Record<string, number>>;
  readonly call?: Readonly<Record<string, unknown>>;
}

describe('a dry run of the filter over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let root: Headers;
  let bob: Headers;
  let ann: Headers;
  beforeAll(async () => {
    const honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    const as = async (sub: string, groups: readonly string[], claims: object = {}): Promise<Headers> => ({
      authorization: `Bearer ${await honest.token({ sub, tenant: 'acme', tool_groups: [...groups], ...claims })}`,
    });
    [root, bob, ann] = await Promise.all([
      as('root', ['*']),
      as('bob', ['read-only']),
      as('ann', ['read-only'], { desk: 'mail', prompts: ['Say A.', 'Say B.'] }),
    ]);
    const approval = `policy:\n  approval: { approvers: ['user:root'], effects: [state_change] }`;
    const configuration = `${workflowConfiguration({ limits: identity }).replace('policy:', approval)}
rules:
  short: { tools: [text-completion], when: { question_bytes: 20 } }
  few:
    tools: [text-completion]
    totals: [{ of: calls, at_most: 5, per: user, within: 1h }, { of: calls, at_most: 9, per: tenant, within: 1d }]
  narrow:
    tools: [text-completion]
    for: { claims: { desk: [mail] } }
    arguments: { prompt: { one_of: { claim: prompts } } }
`;
    system = await startSystem(configuration, new ScriptedModel(() => ({ answer: 'done' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const trying = (body: unknown, who: Headers = {}) => post(`${gateway.url}/v1/toolsets`, body, who);
  const tried = async (body: object, who: Headers): Promise<Tried> => {
    const response = await trying({ question: 'Q', ...body }, who);
    expect(response.status).toBe(200);
    return (await response.json()) as Tried;
  };
  const keys = ({ tools }: Tried): unknown[] => tools.map(({ key }) => key);

  it('says what a run of the same request is offered, with schemas and their hashes, and publishes nothing', async () => {
    const request = {
      question: 'Q',
      group: ['*'],
      state: 'analysis',
      request_id: 'the-run',
      session_id: 'the-session',
    };
    const foretold = await tried(request, root);
    expect(await system.all(...runTopics, 'agent.progress', 'agent.denials')).toEqual([]);

    // The id is still free.
    expect((await post(`${gateway.url}/v1/runs`, request, { ...root, prefer: 'wait=20' })).status).toBe(200);
    const [toolset] = await system.all('agent.toolsets');
    if (toolset === undefined) throw new Error('The run has no Toolset.');
    const { hiddenCounts, configVersion, state, groups } = toolset.record;
    const { evaluator } = await system.embedded.runtime.configurations.version(configVersion);
    const { tools } = withTools(toolset.record, evaluator);
    expect(foretold).toMatchObject({
      ...{ config_version: configVersion, state, group: groups, tool_choice: null, fallback_groups: [] },
      hidden_counts: hiddenCounts,
    });
    expect(foretold.tools.map(({ groups: _, ...tool }) => tool)).toEqual(
      tools.map(({ id, key, description, effect, inputSchema, schemaHash }) => ({
        ...{ id, key, description, effect, schema_hash: schemaHash, input_schema: JSON.parse(inputSchema) as unknown },
      })),
    );
    const listing = await fetch(`${gateway.url}/v1/tools?group=*&state=analysis`, { headers: root });
    const { tools: listed } = (await listing.json()) as Tried;
    expect(listed.map(({ depends_on: _, ...tool }) => tool)).toEqual(foretold.tools);
  });

  it('says what a tool takes by the hash that its record names, to those who may ask for it', async () => {
    const [toolset] = await system.all('agent.toolsets');
    const { tools = [], configVersion } = toolset?.record ?? {};
    const [named] = tools;
    expect(named).toMatchObject({ description: '', inputSchema: '', schemaHash: expect.stringMatching(/.{20}/) });
    const read = async (hash: string, who: Headers, query = ''): Promise<readonly [number, unknown]> => {
      const response = await fetch(`${gateway.url}/v1/specifications/${hash}${query}`, { headers: who });
      return [response.status, await response.json()];
    };
    const hash = named?.schemaHash ?? '';
    const spec = system.embedded.runtime.configurations.current().evaluator.byId(named?.id ?? '')?.spec;
    const found = {
      ...{ config_version: configVersion, schema_hash: hash, input_schema: spec?.inputSchema },
      tools: expect.arrayContaining([expect.objectContaining({ id: named?.id, description: spec?.description })]),
    };
    expect(await read(hash, root)).toMatchObject([200, found]);
    expect(await read(hash, root, `?config_version=${configVersion}`)).toMatchObject([200, found]);
    expect((await read(hash, root, '?config_version=c-none'))[0]).toBe(404);
    expect((await read('none', root))[0]).toBe(404);
    const hidden = spec === undefined ? [] : tools.filter(({ key }) => key === 'graph-update');
    for (const { schemaHash } of hidden) expect((await read(schemaHash, bob))[0]).toBe(404);
  });

  it('says what a tool takes whose bounds go by the caller of a run, to those who may read the run', async () => {
    const request = { question: 'Q', group: ['read-only'], state: 'analysis', request_id: 'anns' };
    const begun = await post(`${gateway.url}/v1/runs`, request, { ...ann, prefer: 'wait=20' });
    expect(begun.status).toBe(200);
    const toolset = (await system.all('agent.toolsets')).find(({ record }) => record.requestId === 'anns');
    const { tools = [], configVersion } = toolset?.record ?? {};
    const hash = tools.find(({ key }) => key === 'text-completion')?.schemaHash ?? '';
    const read = async (who: Headers, query: string) => {
      const response = await fetch(`${gateway.url}/v1/specifications/${hash}${query}`, { headers: who });
      return [response.status, await response.json()];
    };
    const found = {
      ...{ config_version: configVersion, schema_hash: hash },
      input_schema: { properties: { prompt: { enum: ['Say A.', 'Say B.'] } } },
      tools: [{ key: 'text-completion', schema_hash: hash }],
    };
    const link = new URL(begun.headers.get('location') ?? '', gateway.url).searchParams;
    const queries = ['', `&config_version=${configVersion}`, `&${link.toString()}`];
    for (const more of queries) expect(await read(ann, `?request_id=anns${more}`)).toMatchObject([200, found]);
    const missing = { code: 'not_found', detail: expect.stringContaining('request_id of a run') };
    for (const query of ['', `?config_version=${configVersion}`, '?request_id=anns&config_version=c-none'])
      expect(await read(ann, query)).toMatchObject([404, missing]);
    // Others learn nothing of the run, and the run of another caller has not this schema.
    for (const who of [bob, root]) expect((await read(who, '?request_id=anns'))[0]).toBe(404);
    expect(await read(root, '?request_id=the-run')).toMatchObject([404, missing]);
    expect((await read(ann, '?request_id=anns&tenant=other'))[0]).toBe(403);
    for (const query of ['?request=anns', '?request_id=anns&request_id=anns', '?request_id=anns&since=soon'])
      expect((await read(ann, query))[0]).toBe(400);
  });

  it('says the same of a run that makes one call itself', async () => {
    const call = { tool: 'text-completion', arguments: '{"prompt":"Say A."}' };
    const request = { question: 'Q', group: ['read-only'], state: 'analysis', request_id: 'anns-call', call };
    const begun = await post(`${gateway.url}/v1/runs`, request, { ...ann, prefer: 'wait=20' });
    expect(begun.status).toBe(200);
    const toolset = (await system.all('agent.toolsets')).find(({ record }) => record.requestId === 'anns');
    const hash = toolset?.record.tools.find(({ key }) => key === 'text-completion')?.schemaHash ?? '';
    const read = async (who: Headers) => {
      const url = `${gateway.url}/v1/specifications/${hash}?request_id=anns-call`;
      const response = await fetch(url, { headers: who });
      return [response.status, await response.json()];
    };
    const found = { schema_hash: hash, tools: [{ key: 'text-completion', schema_hash: hash }] };
    expect(await read(ann)).toMatchObject([200, found]);
    expect((await read(bob))[0]).toBe(404);
  });

  it('knows the question, the choice and the history that the request brings', async () => {
    const base = { group: ['read-only'], state: 'analysis' };
    expect(keys(await tried(base, root))).toEqual(['text-completion']);
    const long = await tried({ ...base, question: 'A question of more than 20 bytes?' }, root);
    expect([keys(long), long.hidden_counts]).toEqual([[], expect.objectContaining({ context: 1 })]);
    expect(await tried({ ...base, tool_choice: 'required' }, root)).toMatchObject({ tool_choice: 'required' });
    const named = await trying({ ...base, question: 'Q', tool_choice: 'no-such-tool' }, root);
    expect([named.status, await named.json()]).toMatchObject([400, { code: 'invalid_request' }]);
  });

  it('counts and names nothing of groups that the caller may not ask for', async () => {
    const bobs = await tried({ group: ['read-only'], state: 'analysis' }, bob);
    expect([keys(bobs), bobs.hidden_counts]).toEqual([['text-completion'], { state: 1 }]);
    expect(bobs.tools[0]).toMatchObject({ groups: ['read-only'] });
    expect(JSON.stringify(bobs)).not.toMatch(/basic|admin|graph-update/);
    const none = await tried({ group: [] }, bob);
    expect([none.tools, none.hidden_counts]).toEqual([[], { group: 2 }]);
    const roots = await tried({ group: ['read-only'], state: 'analysis' }, root);
    expect(roots.hidden_counts).toEqual({ state: 1, group: 3 });
  });

  const calling = async (tool: string, args: string, body: object, who: Headers) => {
    const { call } = await tried({ group: ['read-only'], ...body, call: { tool, arguments: args } }, who);
    return call;
  };

  it('says what a call would come to, by the stages of the executor, and makes none of it', async () => {
    const root_ = { group: ['*'], state: 'analysis' };
    const before = (await system.all(...runTopics, 'agent.approvals')).length;
    expect((await tried({ group: ['read-only'] }, bob)).call).toBeUndefined();
    const few = { rule: 'few', argument: null };
    const own = (used: string) => ({ ...few, per: 'user', within: '1h', used, limit: '5' });
    // What others of the tenant used is for operators to know.
    const tenants = { ...few, per: 'tenant', within: '1d', used: null, limit: '9' };
    const good = { outcome: 'runs', offered: true, arguments_valid: true, problems: [], authorized: true };
    expect(await calling('text-completion', '{"prompt":"Say A."}', {}, bob)).toEqual({
      ...{ ...good, tool: 'core__text-completion', effect: 'read_only', needs_approval: false },
      ...{ code: null, reason: null, rule: null, message: null, lists: [] },
      counted: [own('0'), tenants],
    });
    expect(await calling('text-completion', '{"promt":"A"}', {}, bob)).toMatchObject({
      ...{ ...good, outcome: 'refused', arguments_valid: false, code: 'validation', needs_approval: false },
      problems: [
        { path: '/prompt', message: 'is required and missing' },
        { path: '/promt', message: expect.any(String) },
      ],
    });
    expect(await calling('text-completion', '{"prompt"', {}, bob)).toMatchObject({
      ...{ outcome: 'refused', arguments_valid: false, code: 'invalid_json' },
      problems: [{ path: '', message: 'Invalid tool arguments JSON' }],
    });
    expect(await calling('complex-analysis', '{"unknown":1}', root_, root)).toMatchObject({
      ...{ outcome: 'refused', arguments_valid: false, code: 'validation' },
      problems: expect.arrayContaining([{ path: expect.stringMatching(/^\//), message: expect.any(String) }]),
    });
    const update = '{"operation":"insert","triples":[]}';
    const waiting = await calling('graph-update', update, root_, root);
    expect(waiting).toMatchObject({ tool: 'core__graph-update', effect: 'state_change', needs_approval: true });
    expect(waiting).toMatchObject({ approvers: ['user:root'] });
    const reset = { ...good, outcome: 'waits', needs_approval: true, effect: 'state_change', approvers: ['user:root'] };
    expect(await calling('reset-workflow', '{}', root_, root)).toMatchObject(reset);
    expect(await system.all(...runTopics, 'agent.approvals')).toHaveLength(before);

    const made = { question: 'Q', group: ['read-only'], state: 'analysis' };
    const call = { tool: 'text-completion', arguments: '{"prompt":"Say A."}' };
    expect((await post(`${gateway.url}/v1/runs`, { ...made, call }, { ...bob, prefer: 'wait=20' })).status).toBe(200);
    expect(await calling('text-completion', call.arguments, {}, bob)).toMatchObject({ counted: [own('1'), tenants] });
    // A call that is refused before says it, too.
    expect(await calling('text-completion', '{}', {}, bob)).toMatchObject({ counted: [own('1'), tenants] });
    expect(await calling('text-completion', call.arguments, {}, root)).toMatchObject({ counted: [own('0'), tenants] });
    expect(await calling('reset-workflow', '{}', {}, bob)).toMatchObject({ effect: null, counted: [] });
  });

  it('says why a call would be refused, and of a tool that the caller may not know nothing but that', async () => {
    expect(await calling('knowledge-query', '{}', { state: 'analysis' }, bob)).toMatchObject({
      ...{ tool: 'core__knowledge-query', offered: false, outcome: 'refused', arguments_valid: null, problems: [] },
      ...{ code: 'policy_denied', reason: 'not_eligible_state', needs_approval: null, authorized: null },
      message: expect.stringContaining('not available in the state analysis'),
    });
    const [hidden, none] = [await calling('reset-workflow', '{}', {}, bob), await calling('nothing', '{}', {}, bob)];
    expect(none).toMatchObject({ outcome: 'refused', effect: null, code: 'unavailable', reason: 'unknown_tool' });
    expect(hidden).toEqual({ ...none, tool: 'reset-workflow' });
  });

  it('is refused for groups that are not permitted, as a run is, with its own route on the log', async () => {
    const refused = await trying({ question: 'Q', group: ['admin'], request_id: 'wanted' }, bob);
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'insufficient_permissions' }]);
    const denial = (await system.all('agent.denials')).at(-1);
    expect(denial?.record).toMatchObject({
      ...{ route: 'POST /v1/toolsets', actorId: 'user:bob', refusedGroups: ['admin'], requestId: '', sessionId: '' },
    });
    expect((await trying({ question: 'Q' })).status).toBe(401);
  });

  it.each([
    ['no question', {}, /question/],
    ['a misspelt field', { question: 'Q', groups: [] }, /Did you mean group\?/],
    ['a field twice', '{"question":"Q","question":"R"}', /twice/],
  ])('refuses %s', async (_, body, message) => {
    const response = await trying(body, root);
    const { detail } = (await response.json()) as { readonly detail: string };
    expect([response.status, detail]).toEqual([400, expect.stringMatching(message)]);
  });
});
