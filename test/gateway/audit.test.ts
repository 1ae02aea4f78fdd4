import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listedKinds } from '@sluice/projection';
import { csvOf } from '../../apps/gateway/src/audit/csv.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { run as project } from '../../apps/sluice/src/commands/project.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-http-audit-'));
const keyFile = join(folder, 'issuer.json');
const settings = `provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}`;
const identity = `identity: { ${settings}, operators: [{ principals: ['user:olga'], tenants: [acme] }] }`;

type Headers = Readonly<Record<string, string>>;
type Entry = Readonly<Record<string, unknown>>;
interface List {
  readonly entries: readonly Entry[];
  readonly next_cursor: string | null;
}

describe('the audit over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let amy: Headers;
  let olga: Headers;
  let bob: Headers;

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const as = async (sub: string, tenant: string, groups = ['*']): Promise<Headers> => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: groups })}`,
    });
    ann = await as('ann', 'acme');
    amy = await as('amy', 'acme', ['text']);
    olga = await as('olga', 'acme');
    bob = await as('bob', 'globex');
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    const model = new ScriptedModel((request) => (request.question === 'Look' ? look(request) : { answer: 'done' }));
    system = await startSystem(workflowConfiguration({ limits: identity }), model);
    gateway = await startGateway(system.embedded.runtime);
    const ask = (question: string, group: string, id: string, who: Headers) =>
      post(
        `${gateway.url}/v1/runs`,
        { question, group: [group], request_id: id, session_id: `of-${id}` },
        { ...who, prefer: 'wait=30' },
      );
    await ask('Look', '*', 'r1', ann);
    await ask('=1+1, "quoted"', 'text', 'r2', amy);
    // The same ids in another tenant.
    await ask('A secret of globex', '*', 'r1', bob);
    expect((await ask('More', 'admin', 'r3', amy)).status).toBe(403);
    await eventually(
      async () => (await list('?limit=200', olga)).entries.map(({ kind }) => kind),
      (kinds) => kinds.filter((kind) => kind === 'run_ended').length === 2 && kinds.includes('access_denied'),
    );
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const get = (query: string, who: Headers = {}): Promise<Response> =>
    fetch(`${gateway.url}/v1/audit${query}`, { headers: who });
  const list = async (query: string, who: Headers): Promise<List> => (await (await get(query, who)).json()) as List;
  /** Every entry of the run, which may come one after another. */
  const ofRun = (id: string, who: Headers, kind: string): Promise<List> =>
    eventually(
      () => list(`?request_id=${id}&limit=200`, who),
      ({ entries }) =>
        entries.some((entry) => entry['kind'] === kind) && entries.some(({ kind: one }) => one === 'request'),
    );

  it('is of the caller’s tenant alone, whatever ids are the same in another', async () => {
    const anns = await ofRun('r1', ann, 'run_ended');
    expect(anns.entries.map(({ kind }) => kind).sort()).toEqual(
      [
        'request',
        'tools_granted',
        'calls_chosen',
        'tool_call',
        'state_transition',
        'tools_granted',
        'run_ended',
      ].sort(),
    );
    expect(anns.entries[0]?.['kind']).toBe('run_ended');
    expect(new Set(anns.entries.map(({ user }) => user))).toEqual(new Set(['user:ann']));
    const bobs = await ofRun('r1', bob, 'run_ended');
    expect(new Set(bobs.entries.map(({ user }) => user))).toEqual(new Set(['user:bob']));
    for (const who of [ann, amy, olga])
      expect(JSON.stringify(await list('?limit=200', who))).not.toMatch(/globex|user:bob/);
    expect(JSON.stringify(await list('?limit=200', bob))).not.toMatch(/acme|user:ann|user:amy/);
  });

  it('has the details of the caller’s own entries, and for operators those of all', async () => {
    const { entries } = await ofRun('r1', ann, 'run_ended');
    const call = entries.find(({ kind }) => kind === 'tool_call');
    expect(call).toMatchObject({
      ...{ tool: 'knowledge-query', outcome: 'ok', authentic: true, on_behalf_of: null, session_id: 'of-r1' },
      details: { arguments: expect.any(String), state_after: 'analysis' },
    });
    expect(entries.find(({ kind }) => kind === 'request')).toMatchObject({ details: { question: 'Look' } });
    const others = await list('?user=user:amy&limit=200', ann);
    expect(others.entries.length).toBeGreaterThan(3);
    expect(new Set(others.entries.map(({ details }) => details))).toEqual(new Set([null]));
    const all = await ofRun('r2', olga, 'run_ended');
    expect(all.entries.every(({ details }) => details !== null)).toBe(true);
  });

  it('is filtered by time, run, session, user, tool, kind and outcome', async () => {
    await ofRun('r1', ann, 'run_ended');
    const found = async (query: string): Promise<unknown[]> =>
      (await list(query, ann)).entries.map(({ kind, request_id: id }) => `${String(kind)} ${String(id)}`);
    expect(await found('?kind=tool_call')).toEqual(['tool_call r1']);
    expect(await found('?tool=knowledge-query&outcome=ok')).toEqual(['tool_call r1']);
    expect(await found('?outcome=insufficient_permissions')).toEqual(['access_denied null']);
    expect(await found('?kind=run_ended&session_id=of-r2')).toEqual(['run_ended r2']);
    expect(await found('?kind=run_ended&user=user:ann')).toEqual(['run_ended r1']);
    const [end] = (await list('?kind=run_ended&user=user:ann', ann)).entries;
    expect(await found(`?kind=run_ended&until=${String(end?.['at'])}`)).toEqual([]);
    expect(await found(`?kind=run_ended&request_id=r1&since=${String(end?.['at'])}`)).toEqual(['run_ended r1']);
  });

  it('is read page by page, by the cursor or by the link', async () => {
    const whole = await list('?limit=200', olga);
    const pages: Entry[] = [];
    let next = '?limit=3';
    for (let count = 0; next !== '' && count < 100; count++) {
      const response = await get(next, olga);
      const { entries, next_cursor: cursor } = (await response.json()) as List;
      pages.push(...entries);
      const link = /^<\/v1\/audit(\?[^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
      expect(link === '').toBe(cursor === null);
      next = link;
    }
    expect(pages.slice(-whole.entries.length)).toEqual(whole.entries);
    expect(new Set(pages.map(({ chain, sequence }) => `${String(chain)} ${String(sequence)}`)).size).toBe(pages.length);
  });

  it('comes as CSV where that is asked for, in which no text is a formula', async () => {
    const { entries } = await ofRun('r2', amy, 'run_ended');
    for (const [query, headers] of [
      ['?request_id=r2&format=csv', {}],
      ['?request_id=r2', { accept: 'text/csv' }],
    ] as const) {
      const response = await get(query, { ...amy, ...headers });
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
      const lines = (await response.text()).split('\r\n');
      expect(lines[0]).toMatch(/^at,kind,user,on_behalf_of,request_id,.*,details$/);
      expect(lines).toHaveLength(entries.length + 2);
      expect(lines[1]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,run_ended,user:amy,,r2,of-r2,,answer,/);
    }
    const json = await get('?request_id=r2&format=json', { ...amy, accept: 'text/csv' });
    expect(json.headers.get('content-type')).toMatch(/^application\/json/);
    const row = { a: '=1+1', b: 'x,"y"\n', c: null, d: { e: 1 }, f: 7 };
    expect(csvOf(Object.keys(row), [row])).toBe(`a,b,c,d,f\r\n'=1+1,"x,""y""\n",,"{""e"":1}",7\r\n`);
  });

  it('says what is wrong with a parameter, and wants a credential', async () => {
    expect((await get('')).status).toBe(401);
    const detail = async (query: string): Promise<unknown> => {
      const response = await get(query, ann);
      return [response.status, ((await response.json()) as Entry)['detail']];
    };
    expect(await detail('?kind=tool_cal')).toEqual([400, 'There is no such kind of entry. Did you mean tool_call?']);
    expect(await detail('?requestid=r1')).toEqual([400, expect.stringContaining('Did you mean request_id?')]);
    expect(await detail('?format=xml')).toEqual([400, 'format must be json or csv.']);
    expect(await detail('?cursor=e30')).toEqual([400, expect.stringContaining('next_cursor')]);
  });

  it('is the same after a rebuild', async () => {
    const before = await list('?limit=200', olga);
    await inProcess(project, system.embedded.runtime.environment, 'rebuild');
    const after = await list('?limit=200', olga);
    // The audit goes on meanwhile.
    expect(after.entries.slice(-before.entries.length)).toEqual(before.entries);
  });

  it('has the kinds that docs/audit.md has, but for those of no tenant', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8');
    const table = text.slice(text.indexOf('| kind | source'), text.indexOf('`authentic` is false'));
    const documented = table.split('\n').flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, kind]) => kind)); // prettier-ignore
    const ofNoTenant = ['approval_empty', 'dead_letter', 'configuration', 'configuration_part', 'cancel_asked', 'undecodable', 'not_told', 'chain_resumed', 'checkpoint']; // prettier-ignore
    expect([...listedKinds, ...ofNoTenant].sort()).toEqual(documented.sort());
  });
});
