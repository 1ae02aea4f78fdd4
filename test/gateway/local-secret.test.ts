import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readLocalSecret } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { requireLink, requireSecret } from '../../apps/gateway/src/local-access.js';
import { openApi } from '../../apps/gateway/src/openapi/document.js';
import { operations } from '../../apps/gateway/src/openapi/operations.js';
import { LocalSecret } from '../../libs/host/src/local-secret.js';
import { anyone, asked, configured } from '../harness/approving.js';
import type { Asked } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { localHeaders } from '../harness/local-headers.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, post, streamed } from './over-http.js';

/** A program on this machine that has not the local secret, as a tool’s code is that reaches the port. */
const stranger = {};

describe('without an identity', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let waiting: Asked;
  let link: string;
  const secret = () => localHeaders(system.embedded.runtime);
  const wait = { prefer: 'wait=20' };

  beforeAll(async () => {
    const model = new ScriptedModel(({ question, history }) =>
      question === 'Reset' && history.length === 0 ? { calls: [calls.reset] } : { answer: `Told ${question}.` },
    );
    system = await startSystem(configured(anyone), model);
    gateway = await startGateway(system.embedded.runtime);
    const request = { question: 'Reset', group: ['*'], state: 'analysis', request_id: 'waits' };
    const begun = await post(`${gateway.url}/v1/runs`, request, stranger);
    expect(begun.status).toBe(202);
    link = begun.headers.get('location') ?? '';
    waiting = await asked(system);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const sendTo = (path: string, method: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
      ...(method === 'GET' ? {} : { body: '{"question":"Q"}' }),
    });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s is answered to a program without the secret only where it says so',
    async (_, { method, path, who, query = {} }) => {
      const [tool] = system.embedded.runtime.configurations.current().configuration.tools;
      const filled = path.replace('{hash}', tool?.spec?.schemaHash ?? '').replaceAll(/\{\w+\}/g, 'admin');
      const needed = 'since' in query ? '?since=0' : 'question' in query ? '?question=Q' : '';
      const sent = (headers: Readonly<Record<string, string>>) =>
        sendTo(`${filled}${needed}`, method.toUpperCase(), headers);
      const status = async (headers: Readonly<Record<string, string>>) => (await sent(headers)).status;
      const isFree = who === 'anyone' || who === 'asker';
      // A question is no body for who signs in, whom its code lets in; and no hook has this name.
      const most = path.startsWith('/v1/console/') ? 400 : path.startsWith('/v1/hooks/') ? 404 : 299;
      if (isFree) expect(await status(stranger)).toBeLessThanOrEqual(most);
      for (const wrong of isFree
        ? []
        : [stranger, { authorization: 'Bearer wrong' }, { authorization: 'Basic eA==' }]) {
        const refused = await sent(wrong);
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(await refused.json()).toMatchObject({
          code: 'authz_denied',
          detail: expect.stringMatching(/local secret.*file local-secret of the data folder/),
        });
      }
      expect(await status(secret())).not.toBe(401);
    },
  );

  it('asks for the secret or the link of the run where what a tool takes is looked for in a run', async () => {
    const { searchParams } = new URL(link, gateway.url);
    const read = async (query: string, headers: Readonly<Record<string, string>>): Promise<number> =>
      (await sendTo(`/v1/specifications/none?request_id=waits${query}`, 'GET', headers)).status;
    expect(await read('', stranger)).toBe(401);
    expect(await read(`&${searchParams.toString()}0`, stranger)).toBe(401);
    for (const one of [read('', secret()), read(`&${searchParams.toString()}`, stranger)]) expect(await one).toBe(404);
  });

  it('describes what each route needs', () => {
    const { paths } = openApi() as {
      paths: Record<string, Record<string, { security?: unknown; operationId: string }>>;
    };
    const described = Object.values(paths).flatMap((methods) => Object.values(methods));
    const needs = { anyone: [], asker: [{ bearer: [] }, {}], link: [{ bearer: [] }, { link: [] }] };
    for (const { id, who } of operations) {
      const expected = who === 'caller' || who === 'operator' ? undefined : needs[who];
      expect([id, described.find((one) => one.operationId === id)?.security]).toEqual([id, expected]);
    }
  });

  it('lets no program approve a call through the port, its own least of all; who has the secret decides', async () => {
    const { requested, message } = waiting;
    const decision = {
      ...{ approval_id: requested.approvalId, request_id: requested.requestId, session_id: requested.sessionId },
      ...{ arguments_hash: requested.argumentsHash, decision: 'approve', decided_by: 'user:boss' },
      ...{ requested_partition: message.partition, requested_offset: message.offset },
    };
    const token = new URL(link, gateway.url).searchParams.get('token') ?? '';
    for (const headers of [stranger, { authorization: `Bearer ${token}` }, { authorization: 'Bearer null' }]) {
      const refused = await post(`${gateway.url}/v1/approvals?token=${token}`, decision, headers);
      expect(refused.status).toBe(401);
    }
    expect(await system.all('agent.approvals')).toHaveLength(1);

    const byId = `${gateway.url}/v1/approvals/${requested.approvalId}/decision`;
    const body = { arguments_hash: requested.argumentsHash, decision: 'approve' };
    expect((await post(byId, body, stranger)).status).toBe(401);
    expect((await post(byId, body, secret())).status).toBe(202);
    const end = await system.responseOf('waits');
    expect(end.history?.map(({ outcome }) => outcome)).toEqual(['ok']);
    // The secret proves something at the door, and goes no further.
    for (const { headers } of await system.all('agent.approvals', 'agent.requests'))
      expect(headers).not.toHaveProperty('authorization');
  });

  it('shows a run by the link of its POST, in every way, and no other run by it', async () => {
    const begin = async (question: string) => {
      const begun = await post(`${gateway.url}/v1/runs`, { question }, wait);
      return new URL(begun.headers.get('location') ?? '', gateway.url);
    };
    const [mine, others] = [await begin('Mine'), await begin('Theirs')];
    expect(await (await fetch(mine)).json()).toMatchObject({ status: 'ended', answer: 'Told Mine.' });
    const chunks = await chunksOf(await fetch(mine, { headers: streamed }));
    const place = chunks.find((chunk) => chunk.type === 'part-start' && chunk.part.type === 'data');
    expect(place).toMatchObject({ part: { name: 'run', data: { token: mine.searchParams.get('token') } } });

    const tried = new URL(others);
    for (const [name, value] of [
      ['token', mine.searchParams.get('token') ?? ''],
      ['token', ''],
      ['since', '0'],
      ['session_id', 'another'],
    ] as const) {
      tried.search = others.search;
      tried.searchParams.set(name, value);
      for (const way of [{}, wait, streamed]) {
        const answer = await fetch(tried, { headers: way });
        expect([name, answer.status, await answer.text()]).toEqual([name, 401, expect.not.stringContaining('Told')]);
      }
    }
    tried.search = others.search;
    tried.searchParams.delete('token');
    expect((await fetch(tried)).status).toBe(401);
    expect((await fetch(tried, { headers: secret() })).status).toBe(200);
  });

  it('gives links in lists to who has the secret, and they open alone', async () => {
    const listed = await fetch(`${gateway.url}/v1/runs?session_id=waits`, { headers: secret() });
    const { runs } = (await listed.json()) as { readonly runs: readonly { readonly href: string }[] };
    expect((await fetch(`${gateway.url}${runs[0]?.href ?? ''}`)).status).toBe(200);
  });

  it('cancels a run by its own link, and by its name alone only for who has the secret', async () => {
    const request = { question: 'Reset', group: ['*'], state: 'analysis', request_id: 'stopped' };
    const begun = new URL((await post(`${gateway.url}/v1/runs`, request)).headers.get('location') ?? '', gateway.url);
    await asked(system, 2);
    expect((await sendTo('/v1/runs/stopped/cancel', 'POST', stranger)).status).toBe(401);
    const unlinked = new URL(begun);
    unlinked.searchParams.delete('token');
    unlinked.pathname += '/cancel';
    expect((await fetch(unlinked, { method: 'POST' })).status).toBe(401);
    unlinked.search = begun.search;
    const cancelled = await fetch(unlinked, { method: 'POST', headers: wait });
    expect(await cancelled.json()).toMatchObject({ status: 'ended', error: { code: 'cancelled' } });
    const again = await fetch(`${gateway.url}/v1/runs/stopped/cancel`, { method: 'POST', headers: secret() });
    expect(again.status).toBe(200);
    const read = await fetch(`${gateway.url}/v1/runs/stopped`, { headers: secret() });
    expect(await read.json()).toMatchObject({ status: 'ended', error: { code: 'cancelled' } });
    expect((await fetch(`${gateway.url}/v1/runs/stopped`)).status).toBe(401);
  });

  it('keeps these routes closed where there is no secret, and says which variable to set', () => {
    const { clock, configurations } = system.embedded.runtime;
    const runtime = { clock, configurations, localSecret: new LocalSecret(null) };
    const given = { get: () => `Bearer ${readLocalSecret(system.embedded.runtime.environment) ?? ''}` } as never;
    const closed = /SLUICE_LOCAL_SECRET_FILE/;
    expect(() => requireSecret(given, runtime)).toThrow(closed);
    const run = { requestId: 'r', sessionId: 's', since: 1 };
    expect(() => requireLink(given, run, undefined, runtime)).toThrow(closed);
    // Of the links of this process its own tokens still open the run.
    const token = runtime.localSecret.tokenFor(['r', 's', 1]);
    expect(() => requireLink(given, run, token, runtime)).not.toThrow();
  });
});
