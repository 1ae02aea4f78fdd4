import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { hops, startDying } from '../dead-letters/dying.js';
import type { Dying } from '../dead-letters/dying.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';

type Json = Readonly<Record<string, unknown>>;
interface List {
  readonly dead_letters: readonly Json[];
  readonly next_cursor: string | null;
}

describe('dead letters over HTTP', () => {
  let dying: Dying;
  let gateway: Gateway;
  beforeAll(async () => {
    dying = await startDying();
    gateway = await startGateway(dying.runtime);
    for (const [index, [, , , cut]] of hops.slice(0, 3).entries()) {
      cut(dying);
      await dying.publish(`hop-${index}`);
      await dying.end(`hop-${index}`);
      dying.mend();
    }
    await dying.bus.appendRaw('agent.steps', 'forged', Buffer.from('\u0000no record'), {
      authorization: 'Bearer secret-of-a-caller',
    });
    await eventually(
      () => list(''),
      ({ dead_letters: letters }) => letters.length === 4,
    );
  });
  afterAll(async () => {
    await gateway.close();
    await dying.close();
  });

  const get = async (path: string, method = 'GET'): Promise<[number, Json]> => {
    const response = await fetch(`${gateway.url}/v1/dead-letters${path}`, {
      method,
      headers: localHeaders(dying.runtime),
    });
    return [response.status, (await response.json()) as Json];
  };
  const list = async (query: string): Promise<List> => (await get(query))[1] as unknown as List;
  const idOf = async (index: number): Promise<string> =>
    String((await list(`?session_id=session-of-hop-${index}`)).dead_letters[0]?.['id']);

  it('are listed, the newest first, by topic, code, session, service and time, page by page', async () => {
    const sessions = ({ dead_letters: letters }: List): unknown[] => letters.map(({ session_id: id }) => id);
    const all = await list('');
    expect(sessions(all)).toEqual(['forged', ...[2, 1, 0].map((n) => `session-of-hop-${n}`)]);
    expect(all.dead_letters[2]).toMatchObject({
      ...{ topic: 'agent.toolsets', code: 'model_refused', service: 'agent', attempts: 1, redriven: null },
      // What the model’s endpoint said had a token in it.
      reason: expect.stringContaining('(signature, hidden)'),
    });
    expect(sessions(await list('?topic=agent.toolsets'))).toEqual(['session-of-hop-1']);
    expect(sessions(await list('?code=undecodable&service=filter'))).toEqual(['forged']);
    const at = String(all.dead_letters[2]?.['failed_at']);
    expect(sessions(await list(`?until=${at}`))).toEqual(['session-of-hop-0']);
    expect(sessions(await list(`?since=${at}&service=agent`))).toEqual(['session-of-hop-1']);
    const first = await list('?limit=3');
    const second = await list(`?limit=3&cursor=${first.next_cursor ?? ''}`);
    expect([...sessions(first), ...sessions(second)]).toEqual(sessions(all));
    expect(second.next_cursor).toBeNull();
  });

  it('are shown with what they hold and what a redrive would do, without credentials', async () => {
    const [status, letter] = await get(`/${await idOf(1)}`);
    expect([status, letter]).toMatchObject([
      200,
      {
        record: { request_id: 'hop-1' },
        redrive: { possible: true, topic: 'agent.steps', meaning: expect.any(String) },
      },
    ]);
    expect(letter['unreadable']).toBeNull();
    const { dead_letters: letters } = await list('?code=undecodable');
    const [, forged] = await get(`/${String(letters[0]?.['id'])}`);
    expect(forged).toMatchObject({ record: null, redrive: { possible: false } });
    expect(JSON.stringify(forged)).not.toContain('secret-of-a-caller');
  });

  it('are re-driven once, and the run goes on to its end', async () => {
    const id = await idOf(1);
    expect(await get(`/${id}/redrive`, 'POST')).toMatchObject([200, { id, status: 'redriven', topic: 'agent.steps' }]);
    expect(await dying.end('hop-1', 2)).toMatchObject({ answer: 'ok,ok' });
    const again = await get(`/${id}/redrive`, 'POST');
    expect(again).toMatchObject([409, { code: 'conflict', detail: expect.stringMatching(/re-driven by user:local/) }]);
    expect((await list('?topic=agent.toolsets')).dead_letters[0]).toMatchObject({
      redriven: { by: 'user:local of local', at: expect.any(Number) },
    });
    // The command line knows of it.
    const { output } = await dying.command('redrive', id.replace('-', '/'));
    expect(output).toContain('re-driven by user:local of local');
  });

  it('that cannot be re-driven say why, and what is none is not found', async () => {
    const { dead_letters: letters } = await list('?code=undecodable');
    const refused = await get(`/${String(letters[0]?.['id'])}/redrive`, 'POST');
    expect(refused).toMatchObject([409, { detail: expect.stringContaining('cannot be read') }]);
    for (const id of ['0-999999', '9-0', 'x', '0', '-1-2', '0%2F999999', '999999-999999999999999'])
      expect([id, (await get(`/${id}`))[0]]).toEqual([id, 404]);
    expect(await get('?code=model_refusd')).toMatchObject([400, { detail: expect.stringContaining('Did you mean model_refused?') }]); // prettier-ignore
    const headers = { ...localHeaders(dying.runtime), 'content-type': 'application/json' };
    const body = { method: 'POST', headers, body: '{"force":true}' };
    const surplus = await fetch(`${gateway.url}/v1/dead-letters/${await idOf(0)}/redrive`, body);
    expect([surplus.status, await surplus.json()]).toMatchObject([400, { detail: expect.stringContaining('force') }]);
  });
});
