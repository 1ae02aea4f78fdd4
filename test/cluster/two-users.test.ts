import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { audience, issuer, newIssuer, serveKeys } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { calls, ids, workflowConfiguration } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

/** A record as `sluice tail --json` prints it. */
interface Line {
  readonly topic: string;
  readonly record: Readonly<Record<string, unknown>> & {
    readonly request_id?: string;
    readonly run?: { readonly state_transitions: readonly object[] } | null;
  };
}

/** G-149 to G-152: two users, each with rights of their own, at the same time. */
describe('two users with different tool access and workflow states, on Kafka (§9.3)', () => {
  let model: ScriptedEndpoint;
  let keys: Awaited<ReturnType<typeof serveKeys>>;
  let users: Issuer;
  let cluster: Cluster;
  let running: readonly Program[] = [];
  let lines: readonly Line[] = [];
  let metrics = '';
  let tokens: readonly string[] = [];

  beforeAll(async () => {
    model = await scriptedEndpoint((turn, offered) => {
      if (turn > 0) return undefined;
      return offered.includes(ids.update) ? calls.update : offered.includes(ids.query) ? calls.query : undefined;
    }, 50);
    users = await newIssuer();
    keys = await serveKeys(users.jwks);
    const more = `
identity: { provider: jwt, jwks_url: "${keys.url}", issuer: "${issuer}", audience: ${audience} }
model: { provider: openai-compatible, name: scripted, base_url: "${model.baseUrl}" }
group:
  graph: { look: [knowledge-query], change: [graph-update] }
group_fallbacks: { graph/look: [read-only, graph/change] }
rules:
  known-tenants: { groups: [write], when: { tenants: [other], channels: [kafka] } }
  always-open: { groups: [knowledge], time: { zone: Europe/Berlin, from: "00:00", until: "24:00" } }
  calm: { groups: [write], load: { measure: calls_in_flight, close_above: 1000 } }
  once: { tools: [knowledge-query, graph-update], history: { at_most: 1 } }`;
    cluster = await openCluster(workflowConfiguration({ limits: more }));
    running = await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
    await play();
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
    await keys?.close();
  });

  /**
   * Both ask, one of them for more than it may; then somebody who may write to the topics tries what the services
   * would do.
   */
  async function play(): Promise<void> {
    const a = await users.token({ sub: 'a', tool_groups: ['read-only'] });
    const b = await users.token({ sub: 'b', tenant: 'other', tool_groups: ['write', 'admin', 'graph'] });
    tokens = [a, b];
    const { KAFKA_BROKERS = '' } = cluster.variables;
    const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const send = (topic: string, key: string, record: object, headers: Record<string, string> = {}) =>
      producer.send({
        topic: `${cluster.prefix}${topic}`,
        messages: [{ key, value: JSON.stringify(record), headers }],
      });
    const ask = (id: string, token: string, request: object) =>
      send('agent.requests', id, { question: 'Knowledge', request_id: id, session_id: id, ...request }, bearer(token));
    try {
      await Promise.all([
        ask('of-a', a, { group: ['read-only'], state: 'undefined' }),
        ask('of-b', b, { group: ['write'], state: 'analysis' }),
        ask('too-much', a, { group: ['read-only', 'write'] }),
        ask('no-token', 'nonsense', { group: [] }),
        ask('nested', b, { group: ['graph'], state: 'undefined' }),
        ask('fallback', b, { group: ['graph/look'], state: 'analysis' }),
      ]);
      await until((seen) => seen.filter(({ topic }) => topic === 'agent.responses').length >= 6);
      const [call] = of('agent.tool-calls', 'of-a');
      const [steps] = of('agent.steps', 'of-a');
      await send('agent.tool-calls', 'of-a', { ...call, offered: [ids.update], groups: ['write'] });
      await send('agent.steps', 'of-a', { ...steps, next: { ...(steps?.['next'] as object), group: ['write'] } });
      await until((seen) => seen.filter(({ topic }) => topic === 'agent.dead-letters').length >= 2);
      const url = /"url":"([^"]+)"/.exec(running[0]?.said() ?? '')?.[1] ?? '';
      metrics = await (await fetch(`${url}/metrics`)).text();
    } finally {
      await producer.disconnect();
    }
  }

  async function until(enough: (seen: readonly Line[]) => boolean): Promise<void> {
    for (const end = Date.now() + 60_000; ;) {
      const text = await cluster.command('tail', '--from', 'start', '--once', '--json');
      lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      if (enough(lines)) return;
      if (Date.now() > end) throw new Error(`Not within 60 s: ${text}`);
    }
  }

  const of = (topic: string, requestId?: string): readonly Line['record'][] =>
    lines
      .filter((line) => line.topic === topic && (requestId === undefined || line.record.request_id === requestId))
      .map(({ record }) => record);
  const offered = (requestId: string): readonly (readonly string[])[] =>
    of('agent.toolsets', requestId).map(({ tools }) => (tools as { key: string }[]).map(({ key }) => key));

  it('gives user A read-only tools available in "undefined", and user B write tools available in "analysis" (G-149)', () => {
    expect(offered('of-a')).toEqual([['knowledge-query', 'text-completion'], ['text-completion']]);
    // A rule leaves each of them one call a run.
    expect(offered('of-b')).toEqual([['graph-update'], []]);
    for (const id of ['of-a', 'of-b']) expect(of('agent.responses', id)).toMatchObject([{ kind: 'answer' }]);
  });

  it('opens groups within groups, and lets one stand in for another within the caller’s rights', () => {
    expect(offered('nested')[0]).toEqual(['knowledge-query']);
    expect(offered('fallback')[0]).toEqual(['graph-update']);
    const [first] = of('agent.toolsets', 'fallback');
    expect(first).toMatchObject({ groups: ['graph/look', 'graph/change'], fallback_groups: ['graph/change'] });
    const [, second] = of('agent.toolsets', 'of-b');
    expect(second?.['hidden']).toContainEqual({ key: 'graph-update', reasons: ['history'] });
  });

  it('tracks the state transitions of each user’s session', () => {
    const [a] = of('agent.responses', 'of-a');
    const [b] = of('agent.responses', 'of-b');
    expect(a?.run?.state_transitions).toMatchObject([{ tool: 'knowledge-query', from: 'undefined', to: 'analysis' }]);
    expect(b?.run?.state_transitions).toEqual([]);
    expect(b).toMatchObject({ state: 'analysis', history: [{ action: 'graph-update', outcome: 'ok' }] });
  });

  it('names on every record of a run who asked, with the groups asked for and the groups permitted (G-94)', () => {
    const principals = {
      'of-a': { actor_id: 'user:a', tenant_id: 'acme', groups: ['read-only'] },
      'of-b': { actor_id: 'user:b', tenant_id: 'other', groups: ['write', 'admin', 'graph'] },
    };
    for (const [id, principal] of Object.entries(principals)) {
      for (const topic of ['agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses']) {
        expect(of(topic, id).length).toBeGreaterThan(0);
        for (const { run } of of(topic, id)) expect(run).toMatchObject({ principal });
      }
    }
  });

  it('refuses A what only B may, and callers who cannot show who they are', () => {
    expect(of('agent.responses', 'too-much')).toMatchObject([
      {
        error: { code: 'authz_denied', message: 'Insufficient permissions for requested tool groups' },
        run: { requested_groups: ['read-only', 'write'], principal: { actor_id: 'user:a', groups: ['read-only'] } },
      },
    ]);
    expect(of('agent.responses', 'no-token')).toMatchObject([{ error: { code: 'authz_denied' }, run: null }]);
    for (const id of ['too-much', 'no-token']) expect(of('agent.toolsets', id)).toEqual([]);
  });

  it('puts forged records aside and ends no run by them', () => {
    const dead = of('agent.dead-letters').map(({ topic, code }) => [topic, code]);
    expect(dead.sort()).toEqual([
      ['agent.steps', 'groups_widened'],
      ['agent.tool-calls', 'grant_invalid'],
    ]);
    expect(of('agent.responses')).toHaveLength(6);
  });

  it('counts what was refused (G-114, G-116)', () => {
    expect(metrics).toContain('agent_group_access_denied_total{group="write"} 1\n');
    expect(metrics).toContain('agent_privilege_escalation_attempts_total 1\n');
  });

  it('lets no credential go further than the request that brought it', () => {
    const programs = running.map((program) => program.said()).join('');
    for (const token of tokens) expect(JSON.stringify(lines) + programs + metrics).not.toContain(token);
  });

  it('takes a credential that is sealed to the filter, for the record that it came with and for no other', async () => {
    const [token = ''] = tokens;
    const own = { ...cluster.variables, SLUICE_KEYS: cluster.auditorKeys, SLUICE_TOKEN: token };
    const asked = await sluice(['ask', 'Knowledge', '--group', 'read-only', '--request', 'sealed'], own).ended;
    expect(asked).toMatchObject({ code: 0 });

    const { KAFKA_BROKERS = '' } = cluster.variables;
    const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `${cluster.prefix}sealed-test` });
    await consumer.connect();
    await consumer.subscribe({ topic: `${cluster.prefix}agent.requests`, fromBeginning: true });
    const header = await new Promise<string>((resolve) => {
      void consumer.run({
        eachMessage: ({ message: { key, headers } }) => {
          if (key?.toString() === 'sealed') resolve(String(headers?.['authorization']));
          return Promise.resolve();
        },
      });
    });
    await consumer.disconnect();
    expect(header).toMatch(/^Sealed [\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);

    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const copy = { question: 'Knowledge', request_id: 'copied', session_id: 'copied', group: ['read-only'] };
    const messages = [{ key: 'copied', value: JSON.stringify(copy), headers: { authorization: header } }];
    await producer.send({ topic: `${cluster.prefix}agent.requests`, messages });
    await producer.disconnect();
    await until((seen) =>
      seen.some(({ topic, record }) => topic === 'agent.responses' && record.request_id === 'copied'),
    );
    expect(of('agent.responses', 'copied')).toMatchObject([{ error: { code: 'authz_denied' }, run: null }]);
    expect(of('agent.responses', 'sealed')).toMatchObject([
      { kind: 'answer', run: { principal: { actor_id: 'user:a' } } },
    ]);
  });
});

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
