import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { decoded, post } from './over-http.js';

type Json = Readonly<Record<string, unknown>>;

describe('what a candidate would decide otherwise, over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    system = await startSystem(workflowConfiguration({}), new ScriptedModel((asked) => look(asked)));
    gateway = await startGateway(system.embedded.runtime);
    const body = { question: 'Look', group: ['knowledge', 'advanced'], request_id: 'looked', session_id: 'one' };
    const ended = await post(`${gateway.url}/v1/runs`, body, { prefer: 'wait=30' });
    expect(await ended.json()).toMatchObject({ kind: 'answer' });
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  const secret = () => localHeaders(system.embedded.runtime);
  const ask = async (body: Json): Promise<[number, Json]> => {
    const response = await post(`${gateway.url}/v1/what-if`, body, secret());
    return [response.status, (await response.json()) as Json];
  };
  /** Without the tool that was called, and with the other one in no state. */
  const candidate = workflowConfiguration({
    allowed: 'graph-update, text-completion, complex-analysis, reset-workflow',
  });

  it('is nothing for the configuration in force', async () => {
    const [status, found] = await ask({ text: workflowConfiguration({}) });
    expect([status, found]).toMatchObject([200, { altered: 0, decisions: [], is_whole: true, not_replayable: 0 }]);
    expect(found['considered']).toBeGreaterThan(2);
  });

  it('names each decision that would be another, with both sides and reasons, and counts them', async () => {
    const [status, found] = await ask({ text: candidate });
    expect(status).toBe(200);
    expect(found).toMatchObject({ is_whole: true, left_out: 0, undecodable: 0 });
    const decisions = found['decisions'] as readonly Json[];
    const about = { request_id: 'looked', session_id: 'one', iteration: 1, user: 'user:local', tenant: 'local' };
    expect(decisions).toContainEqual(
      expect.objectContaining({
        ...{ ...about, kind: 'tools', tool: 'knowledge-query', groups: ['knowledge', 'advanced'], state: 'undefined' },
        before: { verdict: 'offered', reasons: [] },
        after: { verdict: 'hidden', reasons: [{ code: 'policy', text: expect.any(String) }] },
      }),
    );
    expect(decisions).toContainEqual(
      expect.objectContaining({
        ...{ ...about, kind: 'call', tool: 'knowledge-query', before: { verdict: 'made', reasons: [] } },
        after: { verdict: 'refused', reasons: [{ code: 'not_allowed', text: expect.any(String) }] },
      }),
    );
    expect(found['by']).toMatchObject({
      tool: [{ name: 'knowledge-query', count: found['altered'] }],
      user: [{ name: 'user:local', count: found['altered'] }],
      group: expect.arrayContaining([{ name: 'knowledge', count: found['altered'] }]),
    });
    const gained = await ask({ text: workflowConfiguration({}).replace('"research"]', '"research", "analysis"]') });
    expect(gained[1]['decisions']).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'tools', tool: 'knowledge-query', iteration: 2, after: { verdict: 'offered', reasons: [] } },
        before: { verdict: 'hidden', reasons: [{ code: 'state', text: expect.any(String) }] },
      }),
    );
  });

  it('is narrowed by time, session, tenant and tool, and by rows', async () => {
    const counted = async (more: Json) => (await ask({ text: candidate, ...more }))[1];
    expect(await counted({ until: '1h' })).toMatchObject({ considered: 0, altered: 0 });
    expect(await counted({ since: '2026-01-31', until: '2026-01-01' })).toMatchObject({ considered: 0 });
    expect(await counted({ session_id: 'another' })).toMatchObject({ considered: 0 });
    expect(await counted({ tenant: 'another' })).toMatchObject({ considered: 0 });
    const all = await counted({ session_id: 'one', tenant: 'local', tool: 'core__knowledge-query' });
    expect(all['altered']).toBeGreaterThan(1);
    const few = await counted({ limit: 1 });
    expect(few['decisions']).toHaveLength(1);
    expect(few['left_out']).toBe((all['decisions'] as readonly Json[]).length - 1);
  });

  it('is streamed as it is found, the summary last', async () => {
    const headers = { ...secret(), accept: 'text/event-stream' };
    const response = await post(`${gateway.url}/v1/what-if`, { text: candidate }, headers);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events: Json[] = [];
    for await (const chunk of decoded(response))
      if (chunk.type === 'data') events.push(...(chunk.data as unknown as readonly Json[]));
    const [, found] = await ask({ text: candidate });
    const decisions = events.filter(({ type }) => type === 'decision').map(({ type: _, ...rest }) => rest);
    expect(decisions).toEqual(found['decisions']);
    expect(events.at(-1)).toMatchObject({
      type: 'summary',
      altered: found['altered'],
      by: found['by'],
      is_whole: true,
    });
  });

  it('is refused for a candidate with mistakes, or with tools of a server that is not known here', async () => {
    expect(await ask({ text: 'tol: {}' })).toMatchObject([422, { code: 'invalid_configuration' }]);
    const other = await ask({ text: workflowConfiguration({ server: '/tmp/other.mjs' }) });
    expect(other).toMatchObject([
      422,
      { detail: expect.stringContaining('sluice replay --config FILE'), problems: [{ path: 'tool.complex-analysis' }, {}] }, // prettier-ignore
    ]);
    expect(await ask({ text: candidate, since: 'yesterday' })).toMatchObject([400, {}]);
    expect(await ask({ text: candidate, limit: 5_000 })).toMatchObject([400, {}]);
    expect((await post(`${gateway.url}/v1/what-if`, { text: candidate })).status).toBe(401);
  });

  it('ends when its reader goes away, and only so many are looked at at a time', async () => {
    const { bus } = system.embedded.runtime;
    let open = 0;
    const gate = Promise.withResolvers<undefined>();
    const read = bus.read.bind(bus);
    // A log that is read on only when the test says so.
    bus.read = ((topics, options) =>
      topics.length === 1
        ? read(topics, options)
        : (async function* () {
            open++;
            try {
              await Promise.race([
                gate.promise,
                new Promise((gone) => options.signal?.addEventListener('abort', gone)),
              ]);
              yield* read(topics, options);
            } finally {
              open--;
            }
          })()) as typeof bus.read;
    try {
      const leaving = [0, 1].map(() => {
        const headers = { ...secret(), 'content-type': 'application/json', accept: 'text/event-stream' };
        const sent = request(`${gateway.url}/v1/what-if`, { method: 'POST', headers });
        sent.on('error', () => undefined).on('response', (response) => response.resume().on('error', () => undefined));
        sent.end(JSON.stringify({ text: candidate }));
        return sent;
      });
      await eventually(
        () => Promise.resolve(open),
        (now) => now === 2,
      );
      expect(await ask({ text: candidate })).toMatchObject([503, { code: 'busy' }]);
      for (const sent of leaving) sent.destroy();
      await eventually(
        () => Promise.resolve(open),
        (now) => now === 0,
      );
    } finally {
      gate.resolve(undefined);
      bus.read = read;
    }
    expect((await ask({ text: candidate }))[0]).toBe(200);
  });
});
