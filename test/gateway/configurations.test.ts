import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run as config } from '../../apps/sluice/src/commands/config.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';
import { localHeaders } from '../harness/local-headers.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

type Json = Readonly<Record<string, unknown>>;

const rules = `
rules:
  office:
    tools: [graph-update]
    when: { channels: [http], claims: { role: [clerk] } }
    time: { zone: UTC, days: [mon, tue], from: "08:00", until: "18:00" }
`;
/** A Monday at noon. */
const monday = Date.UTC(2026, 0, 5, 12);

const agents = 'agents: { support: { instructions: Help them., groups: [knowledge] } }\n';

describe('configurations over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration({ limits: rules }), new ScriptedModel(() => ({ answer: 'done' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const secret = () => localHeaders(system.embedded.runtime);
  const get = async (path: string): Promise<[number, Json]> => {
    const response = await fetch(`${gateway.url}/v1/configurations${path}`, { headers: secret() });
    return [response.status, (await response.json()) as Json];
  };
  const send = async (path: string, body: unknown): Promise<[number, Json]> => {
    const response = await post(`${gateway.url}/v1/${path}`, body, secret());
    return [response.status, (await response.json()) as Json];
  };
  const check = async (text: string): Promise<Json> => (await send('configurations/check', { text }))[1];
  const verdicts = async (body: Json): Promise<ReadonlyMap<string, Json>> => {
    const [status, { tools }] = await send('explain', body);
    expect(status).toBe(200);
    return new Map((tools as readonly Json[]).map((tool) => [String(tool['key']), tool]));
  };

  it('need the local secret, as other routes for operators', async () => {
    for (const path of ['configurations', 'configurations/current', 'configurations/current/diff'])
      expect((await fetch(`${gateway.url}/v1/${path}`)).status).toBe(401);
    for (const path of ['configurations/check', 'explain'])
      expect((await post(`${gateway.url}/v1/${path}`, { text: 'a: 1' })).status).toBe(401);
  });

  it('are read with each rule in words, the states with dead ends, and the text of the file', async () => {
    const [status, view] = await get('/current?document=true');
    expect(status).toBe(200);
    expect(view).toMatchObject({ in_force: true, text_is_whole: true, agents: [] });
    expect(view['text']).toContain('office:');
    expect(JSON.parse(String(view['document']))).toMatchObject({ version: view['config_version'] });
    expect(view['rules']).toEqual([
      {
        name: 'office',
        words: [
          'Available when the request came over http and the claim role is clerk.',
          'Available on Monday and Tuesday from 08:00 to 18:00 in the time zone UTC.',
        ],
        tools: ['graph-update'],
      },
    ]);
    const states = new Map((view['states'] as readonly Json[]).map((state) => [state['name'], state]));
    expect(states.get('modification')).toMatchObject({ reachable: false, dead_end: false });
    expect(states.get('undefined')).toMatchObject({ transitions: { 'knowledge-query': 'analysis' } });
    const tools = view['tools'] as readonly Json[];
    expect(tools.find(({ key }) => key === 'complex-analysis')).toMatchObject({
      source: 'mcp',
      source_name: 'analysis',
    });
    expect((await get(`/${String(view['config_version'])}`))[1]).toMatchObject({ document: null });
    for (const path of ['/c-none', '/c-none/diff', '/current/diff?from=c-none', '/c-none/matrix', '/c-none/findings'])
      expect([path, (await get(path))[0]]).toEqual([path, 404]);
    expect(await get('/current?document=yes')).toMatchObject([400, { detail: 'document must be true or false.' }]);
  });

  it('have a matrix of groups and states, and findings', async () => {
    const [, matrix] = await get('/current/matrix');
    expect(matrix['left_out']).toBe(0);
    const cells = matrix['cells'] as readonly Json[];
    expect(cells.find(({ group, state }) => group === 'knowledge' && state === 'analysis')).toMatchObject({ tools: ['graph-update'] }); // prettier-ignore
    expect(cells.some(({ group, state }) => group === 'expensive' && state === 'undefined')).toBe(false);
    const [, { findings }] = await get('/current/findings');
    expect((findings as readonly Json[]).map(({ kind }) => kind)).toContain('cycle');
  });

  it('of a candidate are checked with line and column, and nothing is stored, started or read', async () => {
    const good = await check(workflowConfiguration({ limits: rules }));
    expect(good).toMatchObject({ ok: true, problems: [], tools: 5 });
    const current = (await get('/current'))[1]['config_version'];
    expect(good['config_version']).toBe(current);

    const bad = await check('tool:\n  x: { type: knowledge-qery }\npolicy:\n  allowed_tools: [y]\n');
    expect(bad).toMatchObject({ ok: false, config_version: null, findings: [] });
    expect((bad['problems'] as readonly Json[])[0]).toMatchObject({ path: 'tool.x.type', line: 2, column: 8 });
    const broken = await check('tool:\n  x: [\n');
    expect((broken['problems'] as readonly Json[])[0]).toMatchObject({ path: '', line: expect.any(Number) });
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefg'
      .split('')
      .map(
        (name, n) =>
          `${name}: &${name} [${Array(9)
            .fill(`*${'abcdef'[n] ?? ''}`)
            .join(', ')}]`,
      )
      .join('\n')}`;
    expect(await check(bomb)).toMatchObject({ ok: false });

    // Another server, or the same with other arguments, is not started.
    const other = await check(workflowConfiguration({ server: '/tmp/other.mjs' }));
    expect(other).toMatchObject({ ok: true });
    const messages = (other['findings'] as readonly Json[]).map(({ message }) => String(message));
    expect(messages.join()).toContain('no server is asked over HTTP');
    const files = 'authorization: { cedar: { policies: /etc/hostname, schema: /etc/passwd } }';
    const reading = await check(workflowConfiguration({ limits: files }));
    expect(JSON.stringify(reading['problems'])).toContain('is not read over HTTP');
    expect((await get(''))[1]['configurations']).toHaveLength(1);
  });

  it('refuse bodies that are none, with what to change', async () => {
    const refused: readonly (readonly [string, unknown, RegExp])[] = [
      ['configurations/check', {}, /lacks text/],
      ['configurations/check', { text: 1 }, /text must be a text/],
      ['configurations/check', { txt: 'a' }, /Did you mean text\?/],
      ['configurations/check', { text: 'x'.repeat(600_000) }, /more than 524288 characters/],
      ['explain', { channel: 'fax' }, /must be one of http, mcp/],
      ['explain', { claims: { role: 'clerk' } }, /claims\.role must be a list/],
      ['explain', { calls: { a: -1 } }, /calls\.a must be a whole number from 0/],
      ['explain', [], /must be an object/],
    ];
    for (const [path, body, detail] of refused)
      expect(await send(path, body)).toMatchObject([400, { detail: expect.stringMatching(detail) }]);
  });

  it('say of each tool whether a caller is offered it, why not, and what would open it', async () => {
    const caller = {
      group: ['knowledge'],
      state: 'analysis',
      channel: 'http',
      claims: { role: ['clerk'] },
      at: monday,
    };
    const open = await verdicts(caller);
    expect(open.get('graph-update')).toMatchObject({ offered: true, reasons: [], authorized: true });
    expect(open.get('knowledge-query')?.['reasons']).toMatchObject([
      { code: 'state', opens: expect.stringMatching(/available in the states undefined, research/) },
    ]);
    expect(open.get('reset-workflow')?.['reasons']).toMatchObject([{ code: 'group', opens: expect.stringContaining('Ask for the group admin') }]); // prettier-ignore

    const closed = await verdicts({ ...caller, channel: 'mcp', at: Date.UTC(2026, 0, 7, 12) });
    expect(closed.get('graph-update')).toMatchObject({
      offered: false,
      reasons: [
        { code: 'context', rules: [{ name: 'office' }], opens: expect.stringContaining('The rule “office”') },
        { code: 'time', rules: [{ name: 'office' }] },
      ],
    });
    const unknown = await verdicts({ group: ['knowledge'], state: 'analysis', at: monday });
    expect(unknown.get('graph-update')).toMatchObject({ offered: true, depends_on: ['channel', 'claims'] });
    expect((await send('explain', { group: ['admin'], permitted_groups: ['basic'] }))[1]).toMatchObject({
      ...{ permitted: false, refused_groups: ['admin'], refusal: expect.stringContaining('admin') },
    });
  });

  it('explain a candidate too, and refuse one with mistakes', async () => {
    const text = workflowConfiguration({ allowed: 'knowledge-query, complex-analysis' });
    const found = await verdicts({ text, group: ['*'], state: 'analysis' });
    expect(found.get('graph-update')?.['reasons']).toMatchObject([
      { code: 'policy', opens: expect.stringContaining('policy.allowed_tools') },
    ]);
    // A server of the configuration in force counts with what it offered then.
    expect(found.get('complex-analysis')).toMatchObject({ offered: true });
    const limits =
      'rules: { few: { tools: [knowledge-query], totals: [{ of: calls, at_most: 5, per: user, within: 1h }] } }';
    const counting = { text: workflowConfiguration({ limits }), group: ['*'] };
    const few = { rule: 'few', per: 'user', within: '1h', argument: null, limit: '5' };
    for (const [caller, used] of [
      [{}, null],
      [{ user: 'user:ann', tenant: 'acme' }, '0'],
    ] as const) {
      const counted = await verdicts({ ...counting, ...caller });
      expect(counted.get('knowledge-query')).toMatchObject({ offered: true, counted: [{ ...few, used }] });
      expect(counted.get('graph-update')).not.toHaveProperty('counted');
    }
    const [status, problem] = await send('explain', { text: 'tols: {}\n' });
    expect([status, problem]).toMatchObject([422, { code: 'invalid_configuration', problems: expect.any(Array) }]);
  });

  it('are listed with when they came into force, and compared in words', async () => {
    const { environment } = system.embedded.runtime;
    const { writeFileSync } = await import('node:fs');
    const { join } = await import('node:path');
    const file = join(environment.dataFolder, 'next.yaml');
    const changed = workflowConfiguration({ allowed: 'knowledge-query, graph-update' })
      .replace('group: ["write", "knowledge", "admin"]', 'group: ["write", "admin"]')
      .concat(`${rules.replace('18:00', '20:00')}limits: { max_iterations: 7 }\n`)
      .concat(agents);
    writeFileSync(file, changed);
    expect(await inProcess(config, environment, 'apply', file)).toMatchObject({ code: 0 });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const [, listed] = await get('?limit=1');
    const [, older] = await get(`?limit=1&cursor=${String(listed['next_cursor'])}`);
    expect(listed['configurations']).toMatchObject([{ in_force: true, refused: null, tools: 5, source: file }]);
    expect(older).toMatchObject({ configurations: [{ in_force: false }], next_cursor: null });
    const [, diff] = await get('/current/diff');
    expect(diff['from']).toBe((older['configurations'] as readonly Json[])[0]?.['config_version']);
    const changes = diff['changes'] as readonly Json[];
    const of = (kind: string, name: string) => changes.filter((one) => one['kind'] === kind && one['name'] === name);
    expect(of('tool', 'graph-update')).toMatchObject([
      { part: 'groups', before: 'write, knowledge and admin', after: 'write and admin' },
    ]);
    expect(of('tool', 'complex-analysis')).toContainEqual(expect.objectContaining({ part: 'allowed', after: 'no' }));
    expect(of('rule', 'office')).toMatchObject([{ part: 'words', after: expect.stringContaining('to 20:00') }]);
    expect(of('policy', 'policy')).toMatchObject([{ before: '5 tools are allowed.', after: '2 tools are allowed.' }]);
    expect(of('agent', 'support')).toMatchObject([{ change: 'added', after: 'groups: knowledge' }]);
    expect(of('setting', 'limits.maxIterations')).toMatchObject([{ after: '7' }]);
    expect((await get('/current/diff?from=current'))[1]).toMatchObject({ changes: [] });
  });

  it('are applied, with the checks of the command, where they change who may use what, and nothing else', async () => {
    const [, { config_version: before }] = await get('/current');
    const text = workflowConfiguration({ allowed: 'knowledge-query, complex-analysis' }).concat(`limits: { max_iterations: 9 }\n${agents}`); // prettier-ignore
    const stale = await send('configurations', { text, replaces: 'c-stale' });
    expect(stale).toMatchObject([409, { detail: expect.stringContaining(String(before)) }]);
    expect(await send('configurations', { text: 'tol: {}' })).toMatchObject([422, { code: 'invalid_configuration' }]);
    const outside = workflowConfiguration({ limits: 'documents: { folder: /etc }' });
    expect(await send('configurations', { text: outside })).toMatchObject([409, { detail: expect.stringMatching(/documents.*sluice config apply FILE/) }]); // prettier-ignore
    const server = workflowConfiguration({ server: '/tmp/other.mjs', allowed: 'knowledge-query' });
    expect(await send('configurations', { text: server })).toMatchObject([409, { detail: expect.stringContaining('mcpServers') }]); // prettier-ignore
    expect((await get('/current'))[1]).toMatchObject({ config_version: before });

    const [status, applied] = await send('configurations', { text, replaces: before });
    expect([status, applied]).toMatchObject([200, { status: 'applied', replaced: before, signed: true }]);
    const version = applied['config_version'];
    expect(system.embedded.runtime.configurations.current().configuration.version).toBe(version);
    expect((await get('/current'))[1]).toMatchObject({ config_version: version, text, source: applied['source'] });
    expect(await send('configurations', { text })).toMatchObject([200, { status: 'in_force_already' }]);
    const tools = await fetch(`${gateway.url}/v1/tools?group=*`, { headers: secret() });
    const offered = ((await tools.json()) as { readonly tools: readonly Json[] }).tools.map(({ key }) => key);
    expect(offered).toEqual(['knowledge-query']);
  });
});
