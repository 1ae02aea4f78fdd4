import { Callers } from '../../apps/gateway/src/caller.js';
import { createAuthenticator } from '@sluice/identity';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Toolset } from '@sluice/contracts';
import { signEnd, withTools } from '@sluice/run';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, decoded, post, restOf, streamed, upTo } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-gateway-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
const approval = "approval: { approvers: ['user:bob'] }";
const wait = { prefer: 'wait=20' };

describe('requests over HTTP', () => {
  let honest: Issuer;
  let system: TestSystem;
  let gateway: Gateway;
  let alice: Readonly<Record<string, string>>;
  let bob: Readonly<Record<string, string>>;
  const as = async (sub: string, claims: object): Promise<Readonly<Record<string, string>>> => ({
    authorization: `Bearer ${await honest.token({ sub, ...claims })}`,
  });
  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    alice = await as('alice', { tool_groups: ['*'] });
    bob = await as('bob', { tool_groups: ['read-only'] });
    const configuration = workflowConfiguration({ limits: identity }).replace(/^policy:$/m, `policy:\n  ${approval}`);
    const scripts: Record<string, ReturnType<typeof inOrder>> = {
      Reset: inOrder({ calls: [calls.reset] }),
      Look: inOrder({ calls: [calls.query] }, { answer: 'Found.' }),
    };
    const model = new ScriptedModel((request) => scripts[request.question]?.(request) ?? { answer: 'done' });
    system = await startSystem(configuration, model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const runs = (): string => `${gateway.url}/v1/runs`;
  const json = async (response: Response): Promise<Record<string, unknown>> =>
    (await response.json()) as Record<string, unknown>;
  const error = async (response: Response) => [response.status, (await json(response))['error']];

  it('are answered with the run’s end where the caller waits for it', async () => {
    const response = await post(runs(), { question: 'Look', group: ['read-only'] }, { ...bob, ...wait });
    expect(response.status).toBe(200);
    expect(await json(response)).toMatchObject({
      status: 'ended',
      kind: 'answer',
      answer: 'Found.',
      error: null,
      state: 'analysis',
      iterations: 2,
      history: [{ action: 'knowledge-query', outcome: 'ok' }],
    });
  });

  it('are taken at once where it does not, and say where the run is to be seen', async () => {
    const response = await post(runs(), { question: 'Look', group: ['read-only'], session_id: 'söme/one' }, bob);
    expect(response.status).toBe(202);
    const { request_id: requestId } = await json(response);
    await system.responseOf(requestId as string);
    const seen = await fetch(`${gateway.url}${response.headers.get('location') ?? ''}`, { headers: bob });
    expect([seen.status, await json(seen)]).toMatchObject([200, { request_id: requestId, answer: 'Found.' }]);
  });

  it('say who asks by their credential, which the filter verifies again and which goes no further', async () => {
    const response = await post(runs(), { question: 'Look', group: ['read-only'] }, { ...bob, ...wait });
    const { request_id: requestId } = await json(response);
    const end = await system.responseOf(requestId as string);
    expect(end.run?.principal).toMatchObject({ actorId: 'user:bob', tenantId: 'acme' });
    const [, token = ''] = (bob['authorization'] ?? '').split(' ');
    for (const topic of ['agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses'] as const)
      expect(JSON.stringify(await system.all(topic))).not.toContain(token);
    const lines = JSON.stringify(await system.lines());
    expect(lines).not.toContain(token);
  });

  it('carry the caller’s trace along', async () => {
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1' };
    const response = await post(runs(), { question: 'Look', group: [] }, { ...bob, ...wait, ...trace });
    const { request_id: requestId } = await json(response);
    for (const topic of ['agent.requests', 'agent.responses'] as const) {
      const own = (await system.all(topic)).find(({ record }) => record.requestId === requestId);
      expect(own?.headers).toMatchObject(trace);
    }
  });

  it('are refused without one, and counted as the filter counts them', async () => {
    const before = await system.metric('sluice_requests_refused_total', { reason: 'credential' });
    const published = (await system.all('agent.requests')).length;
    const refused = await post(runs(), { question: 'Look' });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(await error(refused)).toEqual([
      401,
      { code: 'authz_denied', message: expect.stringContaining('carries no credential') },
    ]);
    expect(await system.metric('sluice_requests_refused_total', { reason: 'credential' })).toBe(before + 1);
    expect((await system.all('agent.requests')).length).toBe(published);
  });

  it('for groups that are not permitted are refused before anything is published, and counted once (G-87, G-98)', async () => {
    const counted = async () => ({
      denied: await system.metric('agent_group_access_denied_total'),
      escalations: await system.metric('agent_privilege_escalation_attempts_total'),
      published: (await system.all('agent.requests')).length,
    });
    const before = await counted();
    const refused = await post(
      runs(),
      { question: 'Look', group: ['*'], request_id: 'not-permitted' },
      { ...bob, ...wait },
    );
    const { detail } = (await refused.clone().json()) as { readonly detail: string };
    expect(detail).toMatch(/^Insufficient permissions for requested tool groups: "\*"\. You may ask for .*"/);
    expect(await error(refused)).toEqual([
      403,
      { code: 'insufficient_permissions', message: 'Insufficient permissions for requested tool groups' },
    ]);
    expect(await counted()).toEqual({ ...before, denied: before.denied + 1, escalations: before.escalations + 1 });
    const line = (await system.lines()).find((one) => one['request_id'] === 'not-permitted');
    expect(line).toMatchObject({ refused_groups: ['*'], escalation: true });

    const listing = await fetch(`${gateway.url}/v1/tools?group=admin,write`, { headers: bob });
    expect(await error(listing)).toMatchObject([403, { code: 'insufficient_permissions' }]);
    const after = await counted();
    expect(after).toMatchObject({ denied: before.denied + 3, published: before.published });

    const other = await post(runs(), { question: 'Look', group: [], user_id: 'root' }, { ...bob, ...wait });
    expect(await error(other)).toMatchObject([403, { code: 'authz_denied' }]);
    expect(await counted()).toEqual({ ...after, escalations: after.escalations + 1 });
  });

  it('come from this machine alone where no identity is configured', async () => {
    const configurations = { current: () => ({ configuration: { identity: { provider: 'none' } } }) };
    const { runtime } = system.embedded;
    const callers = new Callers({ ...runtime, configurations } as never, createAuthenticator());
    const from = (remoteAddress: string) =>
      callers.asking({
        get: (name: string) => (name === 'host' ? 'localhost' : undefined),
        socket: { remoteAddress },
      } as never);
    expect(await from('127.0.0.1')).toMatchObject({ principal: { actorId: 'user:local' } });
    await expect(from('10.0.0.7')).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('Configure an identity'),
    });
  });

  it('show a run only to the caller who made it', async () => {
    const mine = await post(runs(), { question: 'Look', group: ['*'], request_id: 'alices' }, { ...alice, ...wait });
    const place = `${gateway.url}${mine.headers.get('location') ?? ''}`;
    expect((await fetch(place, { headers: alice })).status).toBe(200);
    for (const accept of ['application/json', 'text/event-stream'])
      expect(await error(await fetch(place, { headers: { ...bob, accept } }))).toMatchObject([
        404,
        { code: 'not_found' },
      ]);
    expect((await fetch(place)).status).toBe(401);
    const same = await post(runs(), { question: 'Look', group: [], request_id: 'alices' }, bob);
    expect(await error(same)).toMatchObject([409, { code: 'conflict' }]);
  });

  it('show a run that is over and does not say whose it was to no caller, and make no caller wait for it', async () => {
    const asked = await post(runs(), { question: 'Look', request_id: 'said' }, { ...alice, ...wait });
    expect(asked.status).toBe(200);
    const { run, ...end } = await system.responseOf('said');
    // As a version wrote it that did not put who asks into the run.
    const record = { ...end, requestId: 'unsaid', run: run === null ? null : { ...run, principal: null } };
    const signed = await signEnd(record, 'agent', system.embedded.runtime);
    await system.bus.publish([{ topic: 'agent.responses', key: 'unsaid', record: signed }]);
    for (const headers of [alice, { ...alice, ...wait }, { ...alice, ...streamed }]) {
      const seen = await fetch(`${runs()}/unsaid?since=0`, { headers, signal: AbortSignal.timeout(120_000) });
      expect(await error(seen)).toMatchObject([404, { code: 'not_found' }]);
    }
  });

  it('that come twice at once under one id show the second caller nothing of the first one’s run', async () => {
    // Taken on the log before the second one asks, and not yet in the ledger when it is published: as if both came at
    // one moment.
    const twice = await Promise.all(
      [alice, bob].map((who) =>
        post(runs(), { question: 'Look', group: ['read-only'], request_id: 'both' }, { ...who, ...streamed }),
      ),
    );
    const told = await Promise.all(
      twice.map(async (response) => (response.status === 200 ? chunksOf(response) : error(response))),
    );
    const owner = (await system.responseOf('both')).run?.principal?.actorId === 'user:alice' ? 0 : 1;
    expect(JSON.stringify(told[owner])).toContain('Found.');
    expect(JSON.stringify(told[1 - owner])).not.toContain('Found.');
    expect(JSON.stringify(told[1 - owner])).toContain('"conflict"');
  });

  it('that come twice at once under one id in two sessions tell the second caller so, and do not keep it waiting', async () => {
    const ask = (session: string, headers: object, signal = AbortSignal.timeout(120_000)) => {
      const request = { question: 'Look', group: ['read-only'], request_id: 'two', session_id: session };
      return post(runs(), request, { ...bob, ...headers }, signal);
    };
    expect((await ask('first', wait)).status).toBe(200);
    const { ledger } = system.embedded.runtime;
    const { find } = ledger;
    const again: Response[] = [];
    for (const headers of [streamed, {}, wait]) {
      // What the gateway sees before the filter has taken either.
      ledger.find = () => Promise.resolve(undefined);
      const asked = ask('second', headers);
      await eventually(
        async () => (await system.all('agent.requests')).filter(({ key }) => key === 'second'),
        ({ length }) => length > again.length,
      );
      ledger.find = find;
      again.push(await asked);
    }
    const [stream, atOnce, waited] = again as [Response, Response, Response];
    expect((await chunksOf(stream)).slice(-2)).toMatchObject([
      { type: 'error', code: 'conflict', error: expect.stringContaining('another session') },
      { type: 'message-finish', finishReason: 'error' },
    ]);
    expect(await error(waited)).toMatchObject([409, { message: expect.stringContaining('another session') }]);
    const seen = await fetch(`${gateway.url}${atOnce.headers.get('location') ?? ''}`, { headers: bob });
    expect([atOnce.status, ...(await error(seen))]).toMatchObject([202, 409, { code: 'conflict' }]);
    expect(await system.metric('sluice_followed_runs')).toBe(0);
  });

  it.each([
    ['no question', {}, 400, /question is missing/],
    ['an empty question', { question: ' ' }, 400, /question is empty/],
    ['another shape', { question: 'Q', group: 'read-only' }, 400, /The body\.group must be a list, but is string/],
    ['no object', '[]', 400, /The body must be an object, but is a list/],
    ['a misspelt field', { question: 'Q', groups: ['*'] }, 400, /no field “groups”\. Did you mean group\?/],
    ['a field of no request', { question: 'Q', colour: 1 }, 400, /no field “colour”\. There are question, state/],
    [
      'one inside',
      { question: 'Q', history: [{ outcom: 'ok' }] },
      400,
      /“history\[0\]\.outcom”\. Did you mean outcome\?/,
    ],
    ['a name of every object', '{"question":"Q","__proto__":{}}', 400, /no field “__proto__”/],
    ['a field twice', '{"question":"Q","group":[],"gr\\u006fup":["*"]}', 400, /“group” twice/],
    ['broken JSON', '{"question"', 400, /JSON/],
    ['an id that no address can hold', { question: 'Q', request_id: '..' }, 400, /neither \. nor \.\./],
    [
      'an empty id of a call',
      { question: 'Q', history: [{ action: 'now', tool_call_id: '' }] },
      400,
      /history\[0\]\.tool_call_id is empty/,
    ],
    [
      'arguments that are no JSON',
      { question: 'Q', history: [{ action: 'now', arguments: '{broken' }] },
      400,
      /history\[0\]\.arguments is no JSON/,
    ],
    ['a long id', { question: 'Q', request_id: 'x'.repeat(257) }, 400, /more than 256 characters/],
    ['an id that is half a character', '{"question":"Q","request_id":"a\\ud800"}', 400, /well-formed Unicode/],
    ['a session that is half a character', '{"question":"Q","session_id":"\\udc00"}', 400, /well-formed Unicode/],
    ['a large record', { question: 'Q'.repeat(1_000_000) }, 413, /larger than the \d+ bytes/],
    ['a larger body', { question: 'Q'.repeat(2_000_000) }, 413, /too large/],
  ])('with %s are refused with what to change', async (_, body, status, sentence) => {
    expect(await error(await post(runs(), body, alice))).toEqual([
      status,
      { code: expect.any(String), message: expect.stringMatching(sentence) },
    ]);
  });

  it('in another encoding than UTF-8 are refused, whatever they call it', async () => {
    const send = (body: Buffer<ArrayBuffer>, charset: string) =>
      fetch(runs(), { method: 'POST', body, headers: { ...alice, 'content-type': `application/json${charset}` } });
    const latin = Buffer.from('{"question":"K\xf6ln","group":[]}', 'latin1');
    expect(await error(await send(latin, ''))).toMatchObject([400, { message: expect.stringMatching(/UTF-8/) }]);
    const wide = Buffer.from('{"question":"Köln","group":[]}', 'utf16le');
    expect(await error(await send(wide, '; charset=utf-16le'))).toMatchObject([415, { code: 'invalid_request' }]);
    const plain = Buffer.from('{"question":"Köln","group":[]}');
    for (const charset of ['', '; charset=UTF-8', '; charset="utf-8"; x=1'])
      expect((await send(plain, charset)).status).toBe(202);
  });

  it('must say that they are JSON, which a page of another origin cannot without asking', async () => {
    const response = await fetch(runs(), { method: 'POST', body: '{"question":"Q"}', headers: alice });
    expect(await error(response)).toMatchObject([415, { message: expect.stringContaining('content-type') }]);
  });

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/event-stream;q=0', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['application/json;q=0.5, Text/Event-Stream', 'text/event-stream'],
  ])('with accept: %s are answered as %s', async (accept, type) => {
    const headers = accept === undefined ? alice : { ...alice, accept };
    const response = await post(runs(), { question: 'Q', group: [] }, headers);
    expect(response.headers.get('content-type')?.split(';')[0]).toBe(type);
    await response.text();
  });

  it.each([
    ['/v1/runs/x', 404, /no such run/],
    ['/v1/runs/x?since=yesterday', 400, /since must say/],
    ['/v1/runs/x?since=0&session_id=', 400, /session_id must be/],
    ['/v1/runs/x?since=0', 404, /no such run/],
    ['/v1/tools?state=a&state=b', 400, /Write state once/],
    ['/v1/nothing', 404, /docs\/http\.md/],
  ])('GET %s: says what is wrong', async (path, status, sentence) => {
    const response = await fetch(`${gateway.url}${path}`, { headers: alice });
    expect(await error(response)).toEqual([
      status,
      { code: expect.any(String), message: expect.stringMatching(sentence) },
    ]);
  });

  it.each([
    ['DELETE', '/v1/runs/x', 'GET, HEAD'],
    ['PUT', '/v1/runs', 'POST, GET, HEAD'],
    ['GET', '/v1/runs/x/cancel', 'POST'],
    ['POST', '/v1/groups/a%2Fb', 'GET, HEAD'],
  ])('%s %s: says which methods there are', async (method, path, allow) => {
    const response = await fetch(`${gateway.url}${path}`, { method, headers: alice });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect((await error(response))[1]).toMatchObject({ message: expect.stringContaining(`does not take ${method}`) });
  });

  it('that are no HTTP leave the gateway as it was', async () => {
    await new Promise<void>((resolve) => {
      const broken = httpRequest(runs(), { method: 'POST', headers: { ...alice, 'content-length': '100' } });
      broken.on('error', () => undefined).on('close', () => resolve());
      broken.write('{"question":');
      setTimeout(() => broken.destroy(), 50);
    });
    expect((await post(runs(), { question: 'Look', group: [] }, { ...alice, ...wait })).status).toBe(200);
  });

  it('list the tools that a run of the same caller is offered (K-53)', async () => {
    const whole = async (record: Toolset | undefined): Promise<Toolset['tools']> => {
      if (record === undefined) throw new Error('The run has no Toolset.');
      const { evaluator } = await system.embedded.runtime.configurations.version(record.configVersion);
      return withTools(record, evaluator).tools;
    };
    const listed = async (who: Readonly<Record<string, string>>, query: string) => {
      const response = await fetch(`${gateway.url}/v1/tools${query}`, { headers: who });
      return { status: response.status, body: await json(response) };
    };
    for (const [state, group] of [
      ['undefined', ['read-only']],
      ['analysis', ['read-only', 'knowledge', 'compute', 'admin']],
      ['analysis', []],
    ] as const) {
      const run = await post(runs(), { question: 'Hello', group, state }, { ...alice, ...wait });
      const { request_id: id } = await json(run);
      const toolset = (await system.all('agent.toolsets')).find(({ record }) => record.requestId === id);
      const { status, body } = await listed(alice, `?group=${group.join(',')}&state=${state}`);
      expect(status).toBe(200);
      expect(body).toEqual({
        config_version: toolset?.record.configVersion,
        state,
        group,
        fallback_groups: [],
        tools: (await whole(toolset?.record)).map((tool) => ({
          id: tool.id,
          key: tool.key,
          description: tool.description,
          effect: tool.effect,
          groups: expect.any(Array),
          schema_hash: tool.schemaHash,
          input_schema: JSON.parse(tool.inputSchema) as unknown,
        })),
      });
    }
    expect(await listed(bob, '?group=admin')).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_permissions' } },
    });
    expect((await listed({}, '')).status).toBe(401);
  });

  it('list the groups and states that the caller may use, and no others (G-178, XG-29)', async () => {
    const get = async (who: Readonly<Record<string, string>>, path: string) => {
      const response = await fetch(`${gateway.url}/v1/${path}`, { headers: who });
      return { status: response.status, body: await json(response) };
    };
    const names = ({ body }: { readonly body: unknown }) =>
      (body as { readonly groups: readonly { readonly name: string }[] }).groups.map(({ name }) => name);
    const whole = await get(alice, 'groups');
    expect(whole.status).toBe(200);
    expect(names(whole)).toEqual(expect.arrayContaining(['admin', 'compute', 'knowledge', 'read-only']));
    const part = names(await get(bob, 'groups'));
    expect(part).not.toContain('admin');
    expect(part.length).toBeGreaterThan(0);
    expect(await get(bob, `groups/${part[0]}`)).toMatchObject({ status: 200, body: { name: part[0] } });
    for (const name of ['admin', 'nothing', '%00', 'a/b'])
      expect(await get(bob, `groups/${name}`)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const states = await get(alice, 'states');
    expect(states).toMatchObject({ status: 200, body: { states: expect.any(Array) } });
    const stateNames = (states.body as { readonly states: readonly { readonly name: string }[] }).states;
    expect(stateNames.map(({ name }) => name).slice(0, 2)).toEqual(['undefined', 'analysis']);
    const diagram = await fetch(`${gateway.url}/v1/states`, { headers: { ...alice, accept: 'text/vnd.mermaid' } });
    expect(diagram.headers.get('content-type')).toContain('text/vnd.mermaid');
    expect(await diagram.text()).toMatch(/^stateDiagram-v2\n/);
    for (const path of ['groups', 'groups/admin', 'states']) expect((await get({}, path)).status).toBe(401);
  });

  it('recommend groups for a question, within the caller’s own (G-174, XG-29)', async () => {
    const get = async (who: Readonly<Record<string, string>>, query: string) => {
      const response = await fetch(`${gateway.url}/v1/groups/recommended${query}`, { headers: who });
      return { status: response.status, body: await json(response) };
    };
    const question = '?question=Add+entities+to+the+knowledge+graph';
    const { status, body } = await get(alice, question);
    expect([status, body]).toMatchObject([200, { config_version: expect.any(String), groups: expect.any(Array) }]);
    const [first] = body['groups'] as readonly Record<string, unknown>[];
    expect(first).toMatchObject({ name: 'write', tools: [{ key: 'graph-update', called: 0 }] });
    const own = await get(bob, question);
    expect(own.body['groups']).toMatchObject([{ name: 'read-only' }]);
    expect(JSON.stringify(own.body)).not.toContain('graph-update');
    for (const query of ['', '?question=', '?question=a&question=b'])
      expect(await get(alice, query)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect((await get({}, question)).status).toBe(401);
  });

  it('warn of groups and states that there are not, with what is probably meant (G-177)', async () => {
    const warnings = [
      expect.objectContaining({ code: 'unknown_group', name: 'Read-Only', suggestion: 'read-only' }),
      expect.objectContaining({ code: 'unknown_state', name: 'anlysis', suggestion: 'analysis' }),
    ];
    const asked = { question: 'Hello', group: ['Read-Only', 'read-only'], state: 'anlysis' };
    const ended = await post(runs(), asked, { ...alice, ...wait });
    expect([ended.status, await json(ended)]).toMatchObject([200, { status: 'ended', answer: 'done', warnings }]);
    const taken = await post(runs(), asked, alice);
    expect([taken.status, await json(taken)]).toMatchObject([202, { status: 'running', warnings }]);
    const seen = await fetch(`${gateway.url}${taken.headers.get('location') ?? ''}`, { headers: alice });
    expect(await json(seen)).not.toHaveProperty('warnings');
    const listed = await fetch(`${gateway.url}/v1/tools?group=Read-Only,read-only&state=anlysis`, { headers: alice });
    expect([listed.status, await json(listed)]).toMatchObject([200, { state: 'anlysis', warnings }]);
    const known = await post(runs(), { ...asked, group: ['read-only'], state: 'analysis' }, { ...alice, ...wait });
    expect(await json(known)).not.toHaveProperty('warnings');
    expect(await error(await fetch(`${gateway.url}/v1/groups/Read-Only`, { headers: bob }))).toEqual([
      404,
      { code: 'not_found', message: expect.stringContaining('If “read-only” is meant, write that.') },
    ]);
    const others = await error(await fetch(`${gateway.url}/v1/groups/advancd`, { headers: bob }));
    expect(JSON.stringify(others)).not.toContain('advanced');
  });

  it('decide on a call that waits, by those who may, and the stream says so (K-67)', async () => {
    const asking = await post(
      runs(),
      { question: 'Reset', group: ['*'], state: 'analysis' },
      { ...alice, ...streamed },
    );
    const told = decoded(asking)[Symbol.asyncIterator]();
    const asked = await upTo('approval_requested', told);
    expect(asked).toMatchObject({ tool: ids.reset, requested_by: 'user:alice' });
    const decision = { ...asked, decision: 'approve' };
    const approvals = `${gateway.url}/v1/approvals`;
    expect(await error(await post(approvals, decision))).toMatchObject([401, { code: 'authz_denied' }]);
    expect(await error(await post(approvals, {}, bob))).toMatchObject([400, { code: 'invalid_request' }]);
    const misspelt = await post(approvals, { ...decision, reasn: 'Fine.' }, bob);
    expect(await error(misspelt)).toMatchObject([400, { message: expect.stringContaining('Did you mean reason?') }]);
    const decided = await post(approvals, decision, bob);
    expect([decided.status, await json(decided)]).toEqual([
      202,
      { approval_id: asked['approval_id'], status: 'published', outcome: null },
    ]);
    expect(await upTo('approval_outcome', told)).toMatchObject({
      decision: 'approve',
      decided_by: 'user:bob',
      not_taken: null,
    });
    const rest = await restOf(told);
    expect(rest).toContainEqual(expect.objectContaining({ type: 'result', isError: false }));
    expect(rest.at(-1)).toMatchObject({ type: 'message-finish', finishReason: 'stop' });
  });
});
