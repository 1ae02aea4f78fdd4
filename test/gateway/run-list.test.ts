import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { decoded, post, streamed } from './over-http.js';

type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;
interface Event {
  readonly type: 'run' | 'left';
  readonly run?: Json;
  readonly request_id?: string;
}

describe('the list of runs and what they used, over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-run-list-'));
  const keyFile = join(folder, 'issuer.json');
  let system: TestSystem;
  let gateway: Gateway;
  let release = (): void => undefined;
  const who: Record<string, Headers> = {};

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    for (const [sub, tenant] of [
      ['ann', 'acme'],
      ['amy', 'acme'],
      ['olga', 'acme'],
      ['bob', 'globex'],
    ] as const)
      who[sub] = { authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}` };
    const operators = "operators: [{ principals: ['user:olga'], tenants: [acme] }]";
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}, ${operators} }`;
    const model =
      'model: { provider: openai-compatible, name: test, base_url: "http://127.0.0.1:9/v1", price: { input: 2, output: 4 } }';
    const held = new Promise<void>((resolve) => (release = resolve));
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    const script = new ScriptedModel(async (request) => {
      if (request.question === 'Hold on') await held;
      return request.question.startsWith('Look') ? look(request) : { answer: 'done' };
    });
    const agents = 'agents: { guide: { groups: [knowledge] } }';
    system = await startSystem(workflowConfiguration({ limits: `${identity}\n${model}\n${agents}` }), script);
    gateway = await startGateway(system.embedded.runtime);
    await ask('ann', 'Look at the Capital of Japan', 'r1');
    await ask('ann', 'Where is Ōsaka?', 'r2');
    await ask('amy', 'Is Japan large?', 'r3', 'wait=30', 'guide');
    await ask('bob', 'Look at Japan', 'r4');
    await eventually(() => ids('ann', ''), ({ length }) => length === 3); // prettier-ignore
    await eventually(() => ids('bob', ''), ({ length }) => length === 1); // prettier-ignore
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (name: string, question: string, id: string, prefer = 'wait=30', agent = ''): Promise<Response> =>
    post(`${gateway.url}/v1/runs`, { question, group: ['*'], request_id: id, agent }, { ...who[name], prefer });
  const get = async (path: string, name: string): Promise<readonly [number, Json]> => {
    const answer = await fetch(`${gateway.url}/v1/${path}`, { headers: who[name] ?? {} });
    return [answer.status, (await answer.json()) as Json];
  };
  const rows = async (name: string, query: string): Promise<readonly Json[]> =>
    (await get(`runs?outcome=answer${query}`, name))[1]['runs'] as readonly Json[];
  const ids = async (name: string, query: string) => (await rows(name, query)).map(({ request_id: id }) => id);

  it('says what a run cost and how long it took', async () => {
    const [, , first] = await rows('ann', '');
    const { input, output } = first?.['tokens'] as { readonly input: number; readonly output: number };
    const usd = (2 * input + 4 * output) / 1_000_000;
    expect(first).toMatchObject({ request_id: 'r1', usd, model: expect.any(String), parent: null });
    expect(first?.['duration_ms']).toBe(Number(first?.['ended_at']) - Number(first?.['started_at']));
  });

  it('finds runs by the words of their question: the caller’s own, for operators all of a tenant', async () => {
    expect(await ids('ann', '&text=JAPAN')).toEqual(['r1']);
    expect(await ids('ann', '&text=japan+capital')).toEqual(['r1']);
    expect(await ids('ann', '&text=%C5%8Dsaka')).toEqual(['r2']);
    expect(await ids('ann', '&text=large')).toEqual([]);
    expect(await ids('olga', '&text=japan')).toEqual(['r3', 'r1']);
    expect(await ids('olga', '&text=japan&tool=knowledge-query')).toEqual(['r1']);
    expect(await ids('olga', '&text=japan&tenant=globex')).toEqual(['r4']);
    expect((await rows('olga', '&text=large'))[0]).toMatchObject({ question: 'Is Japan large?', href: expect.any(String) }); // prettier-ignore
    expect((await get('runs?text=%3F', 'ann'))[0]).toBe(400);
    expect((await get('runs?tenant=globex', 'ann'))[0]).toBe(403);
  });

  it('finds runs by the agent that they ask', async () => {
    expect(await ids('ann', '&agent=guide')).toEqual(['r3']);
    expect(await ids('ann', '&agent=default')).toEqual(['r2', 'r1']);
    expect(await ids('ann', '&agent=default&user=user:amy')).toEqual([]);
    expect((await rows('ann', '')).map(({ agent }) => agent)).toEqual(['guide', 'default', 'default']);
    expect((await get(`runs?agent=${'a'.repeat(65)}`, 'ann'))[0]).toBe(200);
  });

  it('is a stream of the runs of a tenant as they change, and of what leaves the filter', async () => {
    const leaving = new AbortController();
    const follow = async (name: string, query: string) => {
      const headers = { ...who[name], ...streamed };
      const answer = await fetch(`${gateway.url}/v1/runs${query}`, { headers, signal: leaving.signal });
      expect(answer.status).toBe(200);
      const events: Event[] = [];
      const read = (async () => {
        for await (const chunk of decoded(answer))
          if (chunk.type === 'data') events.push(...(chunk.data as unknown as Event[]));
      })();
      return { events, read: read.catch(() => undefined) };
    };
    const running = await follow('ann', '?outcome=running&user=user:ann');
    const colleague = await follow('amy', '?limit=2');
    const stranger = await follow('bob', '');
    await eventually(() => colleague.events, ({ length }) => length === 2); // prettier-ignore
    await ask('ann', 'Hold on', 'r5', 'respond-async');
    await eventually(() => running.events, ({ length }) => length > 0); // prettier-ignore
    expect(running.events[0]).toMatchObject({ type: 'run', run: { request_id: 'r5', question: 'Hold on' } });
    release();
    await eventually(() => running.events.at(-1), (event) => event?.type === 'left'); // prettier-ignore
    expect(running.events.at(-1)).toEqual({ type: 'left', request_id: 'r5' });
    const ended = await eventually(
      () => colleague.events.at(-1)?.run,
      (run) => run?.['request_id'] === 'r5' && run['status'] === 'ended',
    );
    expect(ended).toMatchObject({ question: null, href: null, outcome: 'answer' });
    expect(stranger.events.map(({ run }) => run?.['request_id'])).toEqual(['r4']);
    leaving.abort();
    await Promise.all([running.read, colleague.read, stranger.read]);
    expect((await get('runs?outcome=running&tenant=globex', 'ann'))[0]).toBe(403);
  });

  it('adds up what a tenant used, by user, model, day and outcome, and calls by tool', async () => {
    const used = async (query: string, name = 'ann') => (await get(`usage?${query}`, name))[1] as unknown as {
      readonly rows: readonly Json[];
      readonly total: Json | null;
    }; // prettier-ignore
    const byUser = await eventually(() => used('by=user'), ({ total }) => total?.['runs'] === 4); // prettier-ignore
    expect(byUser.rows).toMatchObject([
      { name: 'user:ann', runs: 3, failures: 0, tokens: { output: 4 } },
      { name: 'user:amy', runs: 1 },
    ]);
    expect((await used('by=agent')).rows).toMatchObject([
      { name: 'default', runs: 3 },
      { name: 'guide', runs: 1, failures: 0 },
    ]);
    const today = new Date().toISOString().slice(0, 10);
    expect((await used('')).rows).toMatchObject([{ name: today, runs: 4, runs_without_price: 0 }]);
    expect((await used('by=outcome')).rows).toMatchObject([{ name: 'answer', runs: 4 }]);
    expect((await used('by=model')).rows).toHaveLength(1);
    expect((await used('by=tool')).rows).toMatchObject([
      { name: 'knowledge-query', calls: 1, failures: 0, runs: null },
    ]);
    expect((await used('since=1h&until=3d')).rows).toEqual([]);
    expect((await used('since=10d&until=5d')).rows).toEqual([]);
    expect((await used('', 'bob')).total).toMatchObject({ runs: 1 });
    expect((await used('tenant=globex', 'olga')).total).toMatchObject({ runs: 1 });
    expect((await used('by=tenant', 'olga')).rows.map(({ name }) => name)).toEqual(['acme', 'globex']);
    for (const query of ['by=tenant', 'tenant=globex']) expect((await get(`usage?${query}`, 'ann'))[0]).toBe(403);
    for (const query of ['by=moon', 'since=x', 'tool=x', 'by=tenant&tenant=acme'])
      expect(await get(`usage?${query}`, 'olga')).toMatchObject([400, { code: 'invalid_request' }]);
    expect((await get('usage', 'nobody'))[0]).toBe(401);
  });
});
