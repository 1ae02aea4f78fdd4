import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import { ApiKeys } from '@sluice/identity';
import { requestOwner } from '@sluice/run';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { run as runSchedules } from '../../apps/sluice/src/commands/schedules.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const entry = `cron: '0 0 1 1 *', question: 'What is new?', groups: [news], principal: 'service:reports'`;
const configuration = `
tool: { text: { type: text-completion, group: [news] } }
policy: { allowed_tools: [text] }
identity: { provider: api-keys, operators: [{ principals: ['service:root'], tenants: [home] }] }
schedule:
  ours: { ${entry}, tenant: acme, may_control: { principals: ['service:ann'] } }
  theirs: { ${entry}, tenant: other }
`;

let system: TestSystem;
let gateway: Gateway;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  system = await startSystem(configuration, new ScriptedModel(inOrder({ answer: 'Nothing.' })));
  const keys = new ApiKeys(system.embedded.runtime.documents);
  for (const [name, tenant] of [
    ['root', 'home'],
    ['ann', 'acme'],
    ['bob', 'acme'],
  ] as const) {
    const scope = { name, tenant, groups: ['news'], connections: [], expiresAt: Date.now() + 3_600_000 };
    tokens[name] = (await keys.create(scope, Date.now())).token;
  }
  gateway = await startGateway(system.embedded.runtime);
});
afterAll(async () => {
  await gateway.close();
  await system.close();
});

interface Schedule {
  readonly name: string;
  readonly next_due: number | null;
  readonly paused_by: string | null;
  readonly last_run: {
    readonly request_id: string;
    readonly outcome: string | null;
    readonly started_by: string;
  } | null;
}

async function ask(who: string, path = '', method = path === '' ? 'GET' : 'POST') {
  const headers = { authorization: `Bearer ${tokens[who] ?? ''}` };
  const response = await fetch(`${gateway.url}/v1/schedules${path}`, { method, headers });
  return {
    status: response.status,
    body: (await response.json()) as { schedules: Schedule[]; request_id: string } & Schedule,
  };
}
const named = async (who: string) => (await ask(who)).body.schedules.map(({ name }) => name);

describe('schedules over HTTP', () => {
  it('are seen and controlled by operators, and by those whom may_control names in their own tenant', async () => {
    expect([await named('root'), await named('ann'), await named('bob')]).toEqual([['ours', 'theirs'], ['ours'], []]);
    for (const [who, name] of [
      ['ann', 'theirs'],
      ['bob', 'ours'],
    ] as const)
      for (const action of ['pause', 'resume', 'run'])
        expect(await ask(who, `/${name}/${action}`)).toMatchObject({ status: 404 });
    expect((await ask('nobody')).status).toBe(401);
  });

  it('are paused and resumed, and run now though they are paused', async () => {
    const [before] = (await ask('ann')).body.schedules;
    const january = new Date(before?.next_due ?? 0).toISOString();
    expect(january).toMatch(/-01-01T00:00:00/);
    expect((await ask('ann', '/ours/pause')).body).toMatchObject({ paused_by: 'service:ann', next_due: null });
    const { status, body } = await ask('ann', '/ours/run');
    expect(status).toBe(202);
    expect(await system.responseOf(body.request_id)).toMatchObject({ kind: 'answer', answer: 'Nothing.' });
    const { last_run } = await eventually(
      async () => (await ask('ann')).body.schedules[0],
      (one) => one?.last_run?.outcome === 'answer',
    ).then((one) => one as Schedule);
    expect(last_run).toMatchObject({ request_id: body.request_id, started_by: 'service:ann' });
    expect((await ask('ann', '/ours/resume')).body).toMatchObject({ paused_by: null, next_due: before?.next_due });
    expect(await system.metric('sluice_schedule_starts_total', { schedule: 'ours' })).toBe(1);
  });

  it('start runs under ids that no caller of their tenant can take before, over HTTP or on the topic', async () => {
    const body = JSON.stringify({ question: 'Mine', group: ['news'], request_id: 'schedule-ours-4102444800000' });
    const headers = { authorization: `Bearer ${tokens['bob'] ?? ''}`, 'content-type': 'application/json' };
    const posted = await fetch(`${gateway.url}/v1/runs`, { method: 'POST', headers, body });
    expect(posted.status).toBe(400);
    for (const requestId of ['schedule-ours-4102444800000', `hook-issues-${'a'.repeat(32)}`]) {
      const record = make.agentRequest({ question: 'Mine', group: ['news'], requestId, sessionId: 's-1' });
      const { authorization } = headers;
      await system.bus.publish([{ topic: topics.requests, key: 's-1', record, headers: { authorization } }]);
      expect(await system.responseOf(requestId)).toMatchObject({ kind: 'error', error: { code: 'authz_denied' } });
      expect(await requestOwner({ requestId, tenant: 'acme' }, system.embedded.runtime)).toBeNull();
    }
  });
});

describe('`sluice schedules`', () => {
  const command = (...words: readonly string[]) =>
    inProcess(runSchedules, system.embedded.runtime.environment, ...words);

  it('lists, pauses, resumes and runs them', async () => {
    expect(JSON.parse((await command('list', '--json')).output)).toMatchObject({
      schedules: [{ name: 'ours' }, { name: 'theirs', last_run: null }],
    });
    expect((await command('pause', 'theirs')).code).toBe(0);
    expect((await command('list')).output).toMatch(/^theirs .*paused by operator$/m);
    expect(JSON.parse((await command('resume', 'theirs', '--json')).output)).toMatchObject({ paused_by: null });
    const { request_id } = JSON.parse((await command('run', 'theirs', '--json')).output) as { request_id: string };
    expect(await system.responseOf(request_id)).toMatchObject({ kind: 'answer' });
    await expect(command('run', 'thiers')).rejects.toThrow('There is no schedule thiers.');
  });
});
