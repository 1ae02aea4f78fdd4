import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { audience, issuer, newIssuer, serveKeys } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

const callers = [
  { name: 'ann of acme', tenant: 'acme', user: 'ann', groups: ['read-only'] },
  { name: 'ann of globex', tenant: 'globex', user: 'ann', groups: ['write'] },
  { name: 'bob of acme', tenant: 'acme', user: 'bob', groups: ['*'] },
  { name: 'eve of globex', tenant: 'globex', user: 'eve', groups: [] },
] as const;
const wanted = [['read-only'], ['write'], ['read-only', 'write'], ['*'], []] as const;
const cases = callers.flatMap((caller) => wanted.map((groups) => ({ caller, groups })));

/** A record as `sluice tail --json` prints it. */
interface Line {
  readonly record: {
    readonly request_id: string;
    readonly error: { readonly code: string; readonly message: string } | null;
    readonly run: { readonly principal: object } | null;
  };
}

describe('every caller with every group, by producers on Kafka (G-06, G-89, XG-12)', () => {
  let model: ScriptedEndpoint;
  let keys: Awaited<ReturnType<typeof serveKeys>>;
  let cluster: Cluster;
  let running: readonly Program[] = [];
  let ends = new Map<string, Line['record']>();

  beforeAll(async () => {
    model = await scriptedEndpoint(() => undefined, 0);
    const users = await newIssuer();
    keys = await serveKeys(users.jwks);
    const more = `
identity: { provider: jwt, jwks_url: "${keys.url}", issuer: "${issuer}", audience: ${audience} }
model: { provider: openai-compatible, name: scripted, base_url: "${model.baseUrl}" }`;
    cluster = await openCluster(workflowConfiguration({ limits: more }));
    running = await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
    const { KAFKA_BROKERS = '' } = cluster.variables;
    const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    try {
      // All in one session, as tenants may choose the same.
      const messages = await Promise.all(
        cases.map(async ({ caller: { user, tenant, groups }, groups: group }, n) => ({
          key: 'one-session',
          value: JSON.stringify({ question: 'Q', group, request_id: `run-${n}`, session_id: 'one-session' }),
          headers: { authorization: `Bearer ${await users.token({ sub: user, tenant, tool_groups: groups })}` },
        })),
      );
      await producer.send({ topic: `${cluster.prefix}agent.requests`, messages });
    } finally {
      await producer.disconnect();
    }
    for (const end = Date.now() + 60_000; ends.size < cases.length;) {
      const text = await cluster.command('tail', '--from', 'start', '--once', '--json', '--topic', 'agent.responses');
      const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
      ends = new Map(lines.map(({ record }) => [record.request_id, record]));
      if (Date.now() > end) throw new Error(`Not within 60 s: ${text}`);
    }
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
    await keys?.close();
  });

  it.each(cases.map(({ caller, groups }, n) => [caller.name, groups.join(' and ') || 'no group', n] as const))(
    '%s asks for %s',
    (_name, _groups, n) => {
      const { caller, groups } = cases[n] as (typeof cases)[number];
      const permitted: readonly string[] = caller.groups;
      const may = permitted.includes('*') || groups.every((group) => permitted.includes(group));
      const end = ends.get(`run-${n}`);
      expect(end?.error?.code).toBe(may ? undefined : 'authz_denied');
      expect(end?.run?.principal).toMatchObject({
        actor_id: `user:${caller.user}`,
        tenant_id: caller.tenant,
        groups: caller.groups,
      });
      // An error names neither the other tenant nor what its users may do.
      const other = caller.tenant === 'acme' ? 'globex' : 'acme';
      expect(JSON.stringify(end)).not.toContain(other);
    },
  );

  it('labels no metric with a tenant, but for callers that were refused', async () => {
    for (const program of running) {
      const url = /"url":"([^"]+)"/.exec(program.said())?.[1] ?? '';
      const text = await (await fetch(`${url}/metrics`)).text();
      const telling = text.split('\n').filter((line) => /acme|globex|one-session|"run-\d+"/.test(line));
      expect([...new Set(telling.map((line) => line.split('{')[0]))]).toEqual(
        program === running[0] ? ['sluice_requests_refused_total'] : [],
      );
    }
  });
});
