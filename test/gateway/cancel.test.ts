import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, post, streamed } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-http-cancel-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;

type Headers = Readonly<Record<string, string>>;

/** A model that answers when it is aborted or after a minute, but for one question. */
class Slow extends ScriptedModel {
  override async turn(
    request: Parameters<ScriptedModel['turn']>[0],
    options?: { readonly signal: AbortSignal },
  ): ReturnType<ScriptedModel['turn']> {
    if (request.question !== 'Quick') await sleep(60_000, undefined, { ref: false, signal: options?.signal });
    return super.turn(request);
  }
}

describe('a run that is cancelled over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let as: (sub: string, tenant?: string) => Promise<Headers>;
  const wait = { prefer: 'wait=30' };

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    as = async (sub, tenant = 'acme') => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
    });
    ann = await as('ann');
    system = await startSystem(workflowConfiguration({ limits: identity }), new Slow(() => ({ answer: 'Done.' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const begin = async (id: string): Promise<string> => {
    const body = { question: 'Slow', request_id: id, session_id: `session-${id}`, group: ['*'] };
    const response = await post(`${gateway.url}/v1/runs`, body, ann);
    expect(response.status).toBe(202);
    await eventually(
      () => system.all('agent.toolsets'),
      (found) => found.some(({ record }) => record.requestId === id),
    );
    return response.headers.get('location') ?? '';
  };
  const cancel = (id: string, headers: Headers, body: unknown = '', query = ''): Promise<Response> => {
    const address = `${gateway.url}/v1/runs/${id}/cancel${query}`;
    return body === '' ? fetch(address, { method: 'POST', headers }) : post(address, body, headers);
  };
  const json = async (response: Response): Promise<Record<string, unknown>> =>
    (await response.json()) as Record<string, unknown>;

  it('ends with the error, for who cancelled it and for who follows it, and lists say so', async () => {
    const location = await begin('one');
    const followed = fetch(`${gateway.url}${location}`, { headers: { ...ann, ...streamed } });
    const cancelled = await cancel('one', { ...ann, ...wait }, { reason: 'Wrong question.' });
    const error = { code: 'cancelled', message: 'The run was cancelled by its caller: Wrong question.' };
    expect([cancelled.status, await json(cancelled)]).toMatchObject([200, { status: 'ended', kind: 'error', error }]);
    expect(await system.metric('sluice_cancellations_total', { outcome: 'cancelled' })).toBeGreaterThan(0);
    expect(await chunksOf(await followed)).toContainEqual(
      expect.objectContaining({ type: 'error', code: 'cancelled' }),
    );
    const listed = await eventually(
      async () => json(await fetch(`${gateway.url}/v1/runs?outcome=cancelled`, { headers: ann })),
      ({ runs }) => Array.isArray(runs) && runs.length > 0,
    );
    expect(listed).toMatchObject({ runs: [{ request_id: 'one', status: 'ended' }] });
  });

  it('is returned at once without a preference, and by where it is to be found', async () => {
    const location = await begin('two');
    const query = location.slice(location.indexOf('?'));
    const cancelled = await cancel('two', ann, '', query);
    expect(cancelled.status).toBe(202);
    expect(await json(cancelled)).toMatchObject({ request_id: 'two', status: 'running' });
    const ended = await fetch(`${gateway.url}${location}`, { headers: { ...ann, ...wait } });
    expect(await json(ended)).toMatchObject({
      error: { code: 'cancelled', message: 'The run was cancelled by its caller.' },
    });
  });

  it('stays as it ended where it has, and nothing is written', async () => {
    const body = { question: 'Quick', request_id: 'over', group: ['*'] };
    expect(await json(await post(`${gateway.url}/v1/runs`, body, { ...ann, ...wait }))).toMatchObject({
      answer: 'Done.',
    });
    const late = await cancel('over', ann);
    expect([late.status, await json(late)]).toMatchObject([200, { status: 'ended', answer: 'Done.' }]);
    const asked = (await system.all('agent.cancellations')).filter(({ record }) => record.requestId === 'over');
    expect(asked).toEqual([]);
  });

  it('is not another’s to cancel, who does not learn that there is one', async () => {
    const location = await begin('own');
    const query = location.slice(location.indexOf('?'));
    for (const stranger of [await as('bob'), await as('ann', 'other')])
      for (const where of ['', query]) {
        const refused = await cancel('own', stranger, '', where);
        const unknown = await cancel('never-was', stranger, '', where.replace('session-own', 'session-never-was'));
        expect([refused.status, await json(refused)]).toEqual([404, await json(unknown)]);
      }
    expect((await cancel('own', {})).status).toBe(401);
    const asked = (await system.all('agent.cancellations')).filter(({ record }) => record.requestId === 'own');
    expect(asked).toEqual([]);
    expect((await cancel('own', { ...ann, ...wait })).status).toBe(200);
  });

  it.each([
    [{ reasn: 'x' }, 'Did you mean reason?'],
    [{ outcome: null }, 'The body has no field “outcome”.'],
    [{ reason: 5 }, 'reason must be text'],
    [{ reason: 'x'.repeat(501) }, 'at most 500'],
    [[], 'must be an object'],
  ])('is not cancelled by the body %j', async (body, message) => {
    const refused = await cancel('one', ann, body);
    expect([refused.status, await json(refused)]).toMatchObject([400, { detail: expect.stringContaining(message) }]);
  });
});
