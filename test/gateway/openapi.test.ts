import { setImmediate } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { httpErrors } from '@sluice/core';
import { RunWatch } from '@sluice/host';
import { problemOf } from '../../apps/gateway/src/problem.js';
import { doorOperations } from '../../apps/gateway/src/doors/operations.js';
import { GatewayModule, startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { Lists } from '../../apps/gateway/src/lists/lists.js';
import { ApprovalFollowers } from '../../apps/gateway/src/stream/approval-stream.js';
import { RunListFollowers } from '../../apps/gateway/src/stream/run-list-stream.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { localHeaders } from '../harness/local-headers.js';
import { atBounds } from './boundaries.js';
import type { Described, Document as Described3 } from './from-openapi.js';
import { post } from './over-http.js';

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: Json }>> }>
  >;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
}
interface Document extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

describe('the gateway’s description of itself', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let document: Document;
  let ajv: Ajv2020;

  beforeAll(async () => {
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    const model = new ScriptedModel((request) => (request.question === 'Look' ? look(request) : { answer: 'done' }));
    system = await startSystem(workflowConfiguration({}), model);
    gateway = await startGateway(system.embedded.runtime);
    const response = await fetch(`${gateway.url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    document = (await response.json()) as Document;
    const formats = { int32: true, int64: true, double: true } as const;
    ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, formats });
    ajv.addVocabulary(['components']);
    ajv.addSchema({ $id: 'described', components: closed(document.components) as object });
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  /** As who has the local secret. */
  const see = (url: string, { headers, ...init }: RequestInit = {}): Promise<Response> =>
    fetch(url, { ...init, headers: { ...localHeaders(system.embedded.runtime), ...(headers as object) } });
  const send = (path: string, body: unknown): Promise<Response> =>
    post(`${gateway.url}/v1/${path}`, body, localHeaders(system.embedded.runtime));
  const errorsOf = (schema: Json, value: unknown): unknown => {
    const name = String(schema['$ref']).replace('#', 'described#');
    return ajv.validate({ $ref: name }, value) ? [] : ajv.errors;
  };
  const operation = (id: string): Operation => {
    const found = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .find(({ operationId }) => operationId === id);
    if (found === undefined) throw new Error(`There is no operation ${id}.`);
    return found;
  };

  it('is OpenAPI 3.1, by the schema of its own', () => {
    const text = readFileSync(join(import.meta.dirname, 'openapi-3.1.schema.json'), 'utf8');
    const ofDocuments = new Ajv2020({ strict: false, formats: { uri: true, 'uri-reference': true, regex: true, email: true, 'media-range': true } }); // prettier-ignore
    const validate = ofDocuments.compile(JSON.parse(text) as object);
    expect([validate(document), validate.errors]).toEqual([true, null]);
    expect(validate({ ...document, paths: { 'no-slash': {} } })).toBe(false);
    expect(validate({ ...document, openapi: '3.0.0' })).toBe(false);
  });

  it('has every route that there is, and no other', async () => {
    const { runtime } = system.embedded;
    const app = await NestFactory.create(
      GatewayModule.with(
        runtime,
        new RunWatch(runtime),
        new Lists(runtime),
        new ApprovalFollowers(1),
        new RunListFollowers(1),
      ),
      { logger: false },
    );
    await app.init();
    interface Layer {
      readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
    }
    const { router } = app.getHttpAdapter().getInstance() as { readonly router: { readonly stack: readonly Layer[] } };
    const routes = router.stack.flatMap(({ route }) =>
      route === undefined ? [] : Object.keys(route.methods).map((method) => `${method} ${route.path}`),
    );
    await app.close();
    const inDocument = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    // Their wires are described by those who made them.
    const doors = doorOperations.map(({ method, path }) => `${method} ${path}`);
    const named = (path: string): string => path.replaceAll(/\{\w+\}|[:*]\w+/g, '{}');
    const mail = ['get /v1/mail-links/{token}', 'post /v1/mail-links/{token}'];
    const others = ['post /v1/slack/interactions', ...mail];
    expect([...inDocument, ...doors, ...others].map(named).sort()).toEqual(routes.map(named).sort());
    expect(routes.length).toBeGreaterThan(10);
  });

  it('describes the answers as they are', async () => {
    const body = { question: 'Look', group: ['*'], request_id: 'described', session_id: 'one' };
    const ended = await post(`${gateway.url}/v1/runs`, body, { prefer: 'wait=20' });
    const begun = await post(`${gateway.url}/v1/runs`, { question: 'Hello', group: [] });
    const warned = await post(`${gateway.url}/v1/runs`, { question: 'Hello', group: ['Admin'] }, { prefer: 'wait=20' });
    await system.bus.appendRaw('agent.steps', 'forged', Buffer.from('\u0000no record'));
    await eventually(
      async () => (await (await see(`${gateway.url}/v1/dead-letters`)).json()) as { dead_letters: readonly unknown[] },
      ({ dead_letters: letters }) => letters.length === 1,
    );
    await eventually(
      async () =>
        (await (await see(`${gateway.url}/v1/audit?kind=run_ended`)).json()) as { entries: readonly unknown[] },
      ({ entries }) => entries.length === 3,
    );
    await eventually(
      async () => (await (await see(`${gateway.url}/v1/runs?outcome=answer`)).json()) as { runs: readonly unknown[] },
      ({ runs }) => runs.length === 3,
    );
    const answers: readonly (readonly [string, number, Response])[] = [
      ['startRun', 200, ended],
      ['startRun', 202, begun],
      ['startRun', 200, warned],
      ['readRun', 200, await fetch(`${gateway.url}${ended.headers.get('location') ?? ''}`)],
      ['readRun', 404, await see(`${gateway.url}/v1/runs/x?since=0`)],
      ['readVerdicts', 200, await see(`${gateway.url}/v1/runs/described/verdicts`)],
      ['readVerdicts', 400, await see(`${gateway.url}/v1/runs/described/verdicts?iteration=0`)],
      ['listRuns', 200, await see(`${gateway.url}/v1/runs`)],
      ['listRuns', 400, await see(`${gateway.url}/v1/runs?limt=1`)],
      ['readUsage', 200, await see(`${gateway.url}/v1/usage?by=model`)],
      ['readUsage', 200, await see(`${gateway.url}/v1/usage?by=tool`)],
      ['readStatus', 200, await see(`${gateway.url}/v1/status`)],
      ['listServers', 200, await see(`${gateway.url}/v1/servers`)],
      ['listConnections', 200, await see(`${gateway.url}/v1/connections`)],
      ['readUsage', 400, await see(`${gateway.url}/v1/usage?by=moon`)],
      ['listSessions', 200, await see(`${gateway.url}/v1/sessions`)],
      ['listSteps', 200, await see(`${gateway.url}/v1/sessions/one/steps`)],
      ['listTools', 200, await fetch(`${gateway.url}/v1/tools?group=*&state=analysis`)],
      ['listAgents', 200, await fetch(`${gateway.url}/v1/agents`)],
      ['requestCancellation', 404, await send('cancellations', { request_id: 'none' })],
      ['listGroups', 200, await fetch(`${gateway.url}/v1/groups`)],
      ['readSpecification', 404, await fetch(`${gateway.url}/v1/specifications/none`)],
      ['readGroup', 200, await fetch(`${gateway.url}/v1/groups/admin`)],
      ['listTools', 200, await fetch(`${gateway.url}/v1/tools?group=Admin&state=anlysis`)],
      ['recommendGroups', 200, await fetch(`${gateway.url}/v1/groups/recommended?question=graph+entities`)],
      ['recommendGroups', 400, await fetch(`${gateway.url}/v1/groups/recommended`)],
      ['listStates', 200, await fetch(`${gateway.url}/v1/states`)],
      ['tryToolset', 200, await post(`${gateway.url}/v1/toolsets`, { question: 'Q', group: ['Admin'] })],
      [
        'tryToolset',
        200,
        await post(`${gateway.url}/v1/toolsets`, { question: 'Q', call: { tool: 'text-completion', arguments: '{}' } }),
      ],
      ['tryToolset', 400, await post(`${gateway.url}/v1/toolsets`, {})],
      ['listApprovals', 200, await see(`${gateway.url}/v1/approvals`)],
      ['listApprovals', 400, await see(`${gateway.url}/v1/approvals?limit=0`)],
      ['listAudit', 200, await see(`${gateway.url}/v1/audit`)],
      ['listAudit', 400, await see(`${gateway.url}/v1/audit?kind=x`)],
      ['listDeadLetters', 200, await see(`${gateway.url}/v1/dead-letters`)],
      ['listDeadLetters', 400, await see(`${gateway.url}/v1/dead-letters?limit=x`)],
      ['readDeadLetter', 200, await see(`${gateway.url}/v1/dead-letters/0-0`)],
      ['readDeadLetter', 404, await see(`${gateway.url}/v1/dead-letters/0-9`)],
      [
        'redrive',
        409,
        await post(`${gateway.url}/v1/dead-letters/0-0/redrive`, {}, localHeaders(system.embedded.runtime)),
      ],
      ['listConfigurations', 200, await see(`${gateway.url}/v1/configurations`)],
      ['listConfigurations', 400, await see(`${gateway.url}/v1/configurations?limt=1`)],
      ['readConfiguration', 200, await see(`${gateway.url}/v1/configurations/current?document=true`)],
      ['readConfiguration', 404, await see(`${gateway.url}/v1/configurations/c-0`)],
      ['compareConfigurations', 200, await see(`${gateway.url}/v1/configurations/current/diff`)],
      ['readMatrix', 200, await see(`${gateway.url}/v1/configurations/current/matrix`)],
      ['listFindings', 200, await see(`${gateway.url}/v1/configurations/current/findings`)],
      ['checkConfiguration', 200, await send('configurations/check', { text: 'tol: {}' })],
      ['checkConfiguration', 200, await send('configurations/check', { text: workflowConfiguration({}) })],
      ['explain', 200, await send('explain', { group: ['admin'], state: 'anlysis' })],
      ['explain', 422, await send('explain', { text: 'tol: {}' })],
      ['whatIf', 200, await send('what-if', { text: workflowConfiguration({ allowed: 'graph-update' }) })],
      ['applyConfiguration', 200, await send('configurations', { text: workflowConfiguration({}) })],
      ['applyConfiguration', 409, await send('configurations', { text: workflowConfiguration({}), replaces: 'c-0' })],
      ['acceptServerChanges', 404, await send('servers/none/accept', { tools: [{ tool: 'echo', pin: 'x' }] })],
      ['whatIf', 422, await send('what-if', { text: 'tol: {}' })],
      ['decide', 415, await see(`${gateway.url}/v1/approvals`, { method: 'POST', body: '{}' })],
    ];
    for (const [id, status, response] of answers) {
      const json = await response.json();
      expect([id, response.status]).toEqual([id, status]);
      const type = response.headers.get('content-type')?.split(';')[0] ?? '';
      const schema = operation(id).responses[status]?.content[type]?.schema ?? {};
      expect([id, status, errorsOf(schema, json)]).toEqual([id, status, []]);
      if (id === 'listSteps') expect(json).toMatchObject({ steps: [{ request_id: 'described' }] });
    }
  });

  const methodsOf = (): readonly (readonly [string, string, Described])[] =>
    Object.entries((document as unknown as Described3).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => [path, method, described] as const),
    );
  // A schema that is the same object is compiled once.
  const readSchemas = new Map<string, object>();
  /** By the schema as it is, wherever it stands. */
  const isValid = (schema: Json, value: unknown): boolean => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"described#/');
    const read = readSchemas.get(text) ?? (JSON.parse(text) as object);
    readSchemas.set(text, read);
    return ajv.validate(read, value);
  };

  it('has an example of the request and of every JSON answer of each operation, valid by its schema', () => {
    const shown: string[] = [];
    for (const [, , { operationId: id, parameters = [], requestBody, responses }] of methodsOf()) {
      const body = requestBody?.content['application/json'];
      if (body !== undefined) expect([id, isValid(body.schema, body.example), ajv.errors]).toEqual([id, true, null]);
      for (const { name, schema, example, in: place } of parameters) {
        if (place === 'path') expect([id, name, typeof example]).toEqual([id, name, 'string']);
        if (example !== undefined) expect([id, name, isValid(schema, example)]).toEqual([id, name, true]);
      }
      for (const [status, { content = {} }] of Object.entries(responses as Operation['responses'])) {
        const { schema, example } = (content['application/json'] ?? {}) as {
          readonly schema?: Json;
          example?: unknown;
        };
        if (schema === undefined) continue;
        expect([id, status, isValid(schema, example), ajv.errors]).toEqual([id, status, true, null]);
        shown.push(`${id} ${status}`);
      }
    }
    expect(shown.length).toBeGreaterThan(20);
  });

  it('allows no request that the gateway refuses as malformed', async () => {
    // The tools of the configuration in force, its agents, its strategies and the clock decide these, and the message
    // says so. Of a text that has to be JSON Schema a description says no more than that.
    const byConfiguration =
      /^(?:\w+: answer_schema|(?:create|change)Subscription: agents|tryToolset: (?:tool_choice|strategy|deadline)|(?:explain|whatIf|applyConfiguration): text) = /;
    const malformed: string[] = [];
    let sent = 0;
    const requests = methodsOf().map(
      ([path, method, described]) =>
        [path, method, described, [...atBounds(described, document as unknown as Described3, isValid)]] as const,
    );
    // A connection that was closed meanwhile is seen to be, and not used again.
    await setImmediate();
    await setImmediate();
    for (const [path, method, described, bounds] of requests) {
      for (const { what, places, query, body: bound } of bounds) {
        // Each would make all decisions of this suite again; those about the span do.
        const isElsewhere = described.operationId === 'whatIf' && !/^(?:since|until) = /.test(what);
        const body = isElsewhere ? { ...(bound as object), since: '2026-01-30', until: '2026-01-31' } : bound;
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(places[name])));
        const search = new URLSearchParams(
          Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
        );
        const send = (): Promise<Response> =>
          see(`${gateway.url}${filled}?${search.toString()}`, {
            method: method.toUpperCase(),
            ...(described.requestBody?.content['*/*'] !== undefined
              ? { body: 'a file' }
              : body === undefined
                ? {}
                : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
          });
        // On a busy machine the gateway may have closed the connection as idle at the moment it is used again.
        const response = await send().catch(send);
        const answered = await response.text();
        const isMalformed = [400, 413, 422].includes(response.status);
        const { detail = '' } = (isMalformed ? JSON.parse(answered) : {}) as { readonly detail?: string };
        if (detail !== '') malformed.push(`${described.operationId}: ${what}: ${detail}`);
        sent += 1;
      }
    }
    expect(malformed.filter((one) => !byConfiguration.test(one))).toEqual([]);
    expect(sent).toBeGreaterThan(150);
    // Three thousand requests, one after another: half a minute, and ten times that on a busy machine.
  }, 900_000);

  it('explains refusals, which are problems of RFC 9457 and have the code and the sentence as before', async () => {
    const response = await see(`${gateway.url}/v1/runs?limt=1`);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    const message = 'limt is no parameter here. Did you mean limit?';
    const problem = (await response.json()) as { readonly type: string };
    expect(problem).toEqual({
      ...{ type: '/docs#error-invalid_request', title: httpErrors.invalid_request.meaning, status: 400 },
      ...{ detail: message, code: 'invalid_request', error: { code: 'invalid_request', message } },
    });
    const [address = '', place = ''] = new URL(problem.type, gateway.url).href.split('#');
    expect(await (await fetch(address)).text()).toContain(`id="${place}"`);
    expect(problemOf({ status: 503, code: 'retries_exhausted', message: 'Later.' })).toMatchObject({
      ...{ type: 'about:blank', title: 'Service Unavailable', status: 503, detail: 'Later.' },
    });
  });

  it('describes the bodies as they are read', async () => {
    const step = { action: 'x', outcome: 'ok', agent_run: { request_id: 'a' } };
    const bodies: readonly (readonly [string, string, unknown, boolean])[] = [
      ['startRun', 'v1/runs', { question: 'Q' }, true],
      ['startRun', 'v1/runs', { question: 'Q', group: null, history: [step], deadline: 4e12 }, true],
      ['startRun', 'v1/runs', { question: 'Q', groups: [] }, false],
      ['startRun', 'v1/runs', { question: 'Q', history: [{ outcom: '' }] }, false],
      ['startRun', 'v1/runs', { question: 'Q', history: null }, false],
      ['startRun', 'v1/runs', { question: 'Q', max_iterations: 2 ** 31 }, false],
      ['startRun', 'v1/runs', { group: [] }, false],
      ['startRun', 'v1/runs', [], false],
      ['decide', 'v1/approvals', {}, false],
      ['decide', 'v1/approvals', decision, true],
      ['decide', 'v1/approvals', { ...decision, tool: 't', arguments: '{}', expires_at: 1 }, true],
      ['decide', 'v1/approvals', { ...decision, decisoin: 'x' }, false],
    ];
    for (const [id, path, body, isRead] of bodies) {
      const schema = operation(id).requestBody?.content['application/json']?.schema ?? {};
      const { status } = await post(`${gateway.url}/${path}`, body, localHeaders(system.embedded.runtime));
      expect([body, JSON.stringify(errorsOf(schema, body)) === '[]', status]).toEqual([
        body,
        isRead,
        // A decision that is read cannot count: there is no approver here.
        !isRead ? 400 : id === 'decide' ? 403 : 202,
      ]);
    }
  });

  it('goes along with headers that keep every answer from caches, other types and other pages', async () => {
    const of = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(`${gateway.url}${path}`, init);
      await response.text();
      const value = (name: string) => response.headers.get(name);
      expect([path, value('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect(value('referrer-policy')).toBe('no-referrer');
      expect(value('content-security-policy')).toMatch(/default-src 'none';.*frame-ancestors 'none'/);
      return value('cache-control');
    };
    const json = { 'content-type': 'application/json' };
    for (const path of ['/openapi.json', '/docs']) expect(await of(path)).toBe('no-cache');
    for (const path of ['/v1/runs', '/v1/states', '/nothing', '/v1/runs/%ff', '/v1/runs/x?since=0'])
      expect(await of(path)).toBe('no-store');
    const broken = { method: 'POST', headers: json, body: '{' };
    expect(await of('/v1/runs', broken)).toBe('no-store');
    const streamed = { method: 'POST', headers: { ...json, accept: 'text/event-stream' }, body: '{"question":"Q"}' };
    expect(await of('/v1/runs', streamed)).toBe('no-store');
  });

  it('has a tag, as runs and tools have, by which nothing is sent twice', async () => {
    await post(
      `${gateway.url}/v1/runs`,
      { question: 'Q', request_id: 'tagged', session_id: 's' },
      { prefer: 'wait=20' },
    );
    for (const path of ['/openapi.json', '/docs', '/v1/tools?group=*', '/v1/runs/tagged?session_id=s&since=0']) {
      const first = await see(`${gateway.url}${path}`);
      const tag = first.headers.get('etag') ?? '';
      expect([path, first.status, tag]).toEqual([path, 200, expect.stringMatching(/^"[\w-]{27}"$/)]);
      const again = (value: string) => see(`${gateway.url}${path}`, { headers: { 'if-none-match': value } });
      for (const value of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const known = await again(value);
        expect([path, known.status, await known.text(), known.headers.get('etag')]).toEqual([path, 304, '', tag]);
      }
      const other = await again('"other"');
      expect([other.status, await other.text()]).toEqual([200, await first.text()]);
    }
    const other = await fetch(`${gateway.url}/v1/tools?group=read-only`);
    const all = await fetch(`${gateway.url}/v1/tools?group=*`);
    expect(other.headers.get('etag')).not.toBe(all.headers.get('etag'));
  });

  it('is a page as well, that asks no other address', async () => {
    const response = await fetch(`${gateway.url}/docs`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const html = await response.text();
    expect(html).not.toMatch(/<script|<link|<img|https?:|@import|url\(/);
    for (const path of Object.keys(document.paths)) expect(html).toContain(path);
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, to] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(to);
  });
});

const decision = {
  ...{ approval_id: 'a', request_id: 'r', session_id: 's', decision: 'approve', arguments_hash: 'h' },
};

/** The schemas with no member left out of them: answers may have more in a later version, but not in this one. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inside = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  return 'properties' in value && 'type' in value && value.type === 'object'
    ? { additionalProperties: false, ...inside }
    : inside;
}
