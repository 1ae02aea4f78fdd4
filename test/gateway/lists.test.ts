import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { run as project } from '../../apps/sluice/src/commands/project.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, post, streamed } from './over-http.js';
import { topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { errorResponse } from '@sluice/run';

const folder = mkdtempSync(join(tmpdir(), 'sluice-lists-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;

type Headers = Readonly<Record<string, string>>;
interface List {
  readonly runs: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

describe('lists over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let release = (): void => undefined;
  let ann: Headers;
  let amy: Headers;
  let bob: Headers;
  let cyd: Headers;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const as = async (sub: string, tenant: string): Promise<Headers> => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
    });
    [ann, amy, bob, cyd] = await Promise.all([
      ...[as('ann', 'acme'), as('amy', 'acme')],
      ...[as('bob', 'other'), as('cyd', 'third')],
    ] as const);
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    const held = new Promise<void>((resolve) => (release = resolve));
    const model = new ScriptedModel(async (request) => {
      if (request.question !== 'Hold') return request.question === 'Look' ? look(request) : { answer: 'done' };
      await held;
      return { answer: 'Held.' };
    });
    system = await startSystem(workflowConfiguration({ limits: identity }), model);
    gateway = await startGateway(system.embedded.runtime);
    for (const [who, question, n] of [
      [ann, 'Look', 1],
      [ann, 'Hello', 2],
      [amy, 'Hello', 3],
      [bob, 'Look', 1],
    ] as const)
      await post(
        `${gateway.url}/v1/runs`,
        { question, group: ['*'], request_id: `r${n}`, session_id: `s${n % 2}` },
        { ...who, prefer: 'wait=20' },
      );
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const get = async (path: string, who: Headers = {}): Promise<[number, Record<string, unknown>]> => {
    const response = await fetch(`${gateway.url}${path}`, { headers: who });
    return [response.status, (await response.json()) as Record<string, unknown>];
  };
  const list = async (query: string, who: Headers): Promise<List> =>
    (await get(`/v1/runs${query}`, who))[1] as unknown as List;
  const idsOf = ({ runs }: List): unknown[] => runs.map(({ request_id: id }) => id);
  const whole = (who: Headers, count: number): Promise<List> =>
    eventually(
      () => list('', who),
      ({ runs }) => runs.filter(({ status }) => status === 'ended').length === count,
    );

  it('and runs are not ended by an end that no service signed', async () => {
    const toRun = { question: 'Hold', group: ['*'], request_id: 'held', session_id: 'held' };
    const begun = await post(`${gateway.url}/v1/runs`, toRun, { ...cyd, prefer: 'respond-async' });
    const place = `${gateway.url}${begun.headers.get('location') ?? ''}`;
    const see = async (prefer: string) => (await fetch(place, { headers: { ...cyd, prefer } })).json();
    const { record } = await eventually(
      async () => (await system.all('agent.toolsets')).find((one) => one.key === 'held') as Incoming<'agent.toolsets'>,
      (found) => (found as unknown) !== undefined,
    );
    const { sessionId, requestId, request, run, configVersion } = record;
    const error = { code: 'model_failed', message: 'Forged.' } as const;
    const forged = errorResponse({ requestId, sessionId }, error, { request, run, configVersion }, Date.now());
    const streaming = fetch(place, { headers: { ...cyd, ...streamed } });
    const waiting = see('wait=20');
    await system.bus.publish([{ topic: topics.responses, key: sessionId, record: forged }]);
    expect(await see('wait=0')).toMatchObject({ status: 'running' });
    release();
    const shown = { status: 'ended', kind: 'answer', answer: 'Held.', signature: 'verified' };
    expect(await waiting).toMatchObject(shown);
    expect(await see('wait=0')).toMatchObject(shown);
    expect(JSON.stringify(await chunksOf(await streaming))).not.toContain('Forged.');
    const ofHeld = async () => {
      const { runs } = (await (await fetch(`${gateway.url}/v1/runs`, { headers: cyd })).json()) as List;
      return runs.find((one) => one['request_id'] === 'held')?.['outcome'];
    };
    expect(await eventually(ofHeld, (outcome) => outcome !== undefined && outcome !== 'running')).toBe('answer');
    const reported = (await system.lines()).filter(({ msg }) =>
      String(msg).startsWith('ignored an end of a run that no service signed'),
    );
    expect(reported.length).toBeGreaterThan(0);
  });

  it('have the runs of the caller’s tenant and of no other, the newest first, and the questions of the caller alone', async () => {
    const anns = await whole(ann, 3);
    expect(idsOf(anns)).toEqual(['r3', 'r2', 'r1']);
    expect(anns.runs[0]).toMatchObject({ user: expect.stringContaining('amy'), question: null, href: null });
    expect(anns.runs[2]).toMatchObject({ question: 'Look', outcome: 'answer', tokens: { input: 2, output: 2 } });
    expect(idsOf(await whole(bob, 1))).toEqual(['r1']);
    const again = await get(String(anns.runs[2]?.['href']), ann);
    expect(again).toMatchObject([200, { answer: 'Found.' }]);
  });

  it('are filtered by user, outcome, tool, group, state, session and time', async () => {
    const { runs } = await whole(ann, 3);
    const user = encodeURIComponent(String(runs[0]?.['user']));
    const tool = encodeURIComponent(
      String(((await get('/v1/sessions/s1/steps', ann))[1]['steps'] as { tool: string }[])[0]?.tool),
    );
    const found = async (query: string): Promise<unknown[]> => idsOf(await list(query, ann));
    expect(await found(`?user=${user}`)).toEqual(['r3']);
    expect(await found(`?tool=${tool}`)).toEqual(['r1']);
    expect(await found(`?tool=${tool}&group=*`)).toEqual(['r1']);
    expect(await found('?group=*&outcome=answer')).toEqual(['r3', 'r2', 'r1']);
    expect(await found('?outcome=running')).toEqual([]);
    expect(await found('?state=analysis')).toEqual(['r1']);
    expect(await found('?session_id=s0')).toEqual(['r2']);
    expect(await found(`?until=${String(runs[1]?.['started_at'])}`)).toEqual(['r1']);
    expect(await found(`?since=${String(runs[1]?.['started_at'])}`)).toEqual(['r3', 'r2']);
  });

  it('are read page by page', async () => {
    await whole(ann, 3);
    const first = await list('?limit=2', ann);
    expect(idsOf(first)).toEqual(['r3', 'r2']);
    const second = await list(`?limit=2&cursor=${first.next_cursor ?? ''}`, ann);
    expect([idsOf(second), second.next_cursor]).toEqual([['r1'], null]);
  });

  it('have the caller’s own sessions and their steps, and no others', async () => {
    await whole(ann, 3);
    expect(await get('/v1/sessions', ann)).toMatchObject([
      200,
      {
        sessions: [
          { session_id: 's0', runs: 1 },
          { session_id: 's1', runs: 1 },
        ],
      },
    ]);
    expect(await get('/v1/sessions/s1/steps', ann)).toMatchObject([200, { steps: [{ request_id: 'r1', ok: true }] }]);
    expect(await get('/v1/sessions/s1/steps', amy)).toMatchObject([200, { steps: [] }]);
  });

  it('say which parameter was probably meant, and what a value must be', async () => {
    const message = async (query: string): Promise<unknown> => (await get(`/v1/runs${query}`, ann))[1]['error'];
    expect(await message('?outcom=answer')).toMatchObject({
      message: expect.stringContaining('Did you mean outcome?'),
    });
    for (const query of ['?limit=0', '?cursor=x', '?since=soon', '?state=a&state=b'])
      expect(await message(query)).toMatchObject({ code: 'invalid_request' });
  });

  it('want a credential', async () => {
    for (const path of ['/v1/runs', '/v1/sessions', '/v1/sessions/s1/steps']) expect((await get(path))[0]).toBe(401);
  });

  it('are the same after a rebuild', async () => {
    const before = await whole(ann, 3);
    const { output } = await inProcess(project, system.embedded.runtime.environment, 'rebuild');
    expect(output).toContain('rebuilt from');
    expect(await list('', ann)).toEqual(before);
  });
});
