import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { audience, issuer, newIssuer, serveKeys } from '../../libs/identity/test/issuer.js';
import { ids, workflowConfiguration } from '../harness/configurations.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

/** A response as `sluice tail --json` prints it, and when the log took it. */
interface Line {
  readonly timestamp: number;
  readonly record: {
    readonly request_id: string;
    readonly kind: string;
    readonly run: { readonly principal: { readonly tenant_id: string } } | null;
  };
}

/** How long the model takes for a slow run. */
const turnMs = 6_000;

describe('two tenants that choose the same ids, on Kafka', () => {
  let model: ScriptedEndpoint;
  let keys: Awaited<ReturnType<typeof serveKeys>>;
  let cluster: Cluster;
  let ended: readonly Line[] = [];

  beforeAll(async () => {
    // Whoever is offered the update is slow.
    model = await scriptedEndpoint(
      () => undefined,
      (offered) => (offered.includes(ids.update) ? turnMs : 0),
    );
    const users = await newIssuer();
    keys = await serveKeys(users.jwks);
    const more = `
identity: { provider: jwt, jwks_url: "${keys.url}", issuer: "${issuer}", audience: ${audience} }
model: { provider: openai-compatible, name: scripted, base_url: "${model.baseUrl}" }`;
    cluster = await openCluster(workflowConfiguration({ limits: more }), { SLUICE_PARTITIONS: '1' });
    await Promise.all([
      cluster.start('filter'),
      cluster.start('agent'),
      cluster.start('executor'),
      cluster.start('audit'),
    ]);
    const ann = await users.token({ sub: 'ann', tenant: 'acme', tool_groups: ['read-only'] });
    const bob = await users.token({ sub: 'bob', tenant: 'other', tool_groups: ['write'] });
    const { KAFKA_BROKERS = '' } = cluster.variables;
    const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const ask = (token: string, id: string, request: object) => {
      const value = JSON.stringify({ question: 'Go', request_id: id, session_id: 'shared', ...request });
      const headers = { authorization: `Bearer ${token}` };
      return producer.send({ topic: `${cluster.prefix}agent.requests`, messages: [{ key: 'shared', value, headers }] });
    };
    try {
      // One run that is slow, and one behind it in the same session, as its user’s order wants it.
      await ask(bob, 'order-1', { group: ['write'], state: 'analysis' });
      await ask(bob, 'order-2', { group: ['write'], state: 'analysis' });
      await sleep(1_000);
      await ask(ann, 'order-1', { group: ['read-only'] });
      await ask(ann, 'order-2', { group: ['read-only'] });
    } finally {
      await producer.disconnect();
    }
    for (const end = Date.now() + 60_000; ended.length < 4;) {
      const text = await cluster.command('tail', '--from', 'start', '--once', '--json', '--topic', 'agent.responses');
      ended = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
      if (Date.now() > end) throw new Error(`Not within 60 s: ${text}`);
    }
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
    await keys?.close();
  });

  const of = (tenant: string): readonly Line[] =>
    ended.filter(({ record: { run } }) => run?.principal.tenant_id === tenant);

  it('gives each of them an answer to each of its requests', () => {
    for (const tenant of ['acme', 'other'])
      expect(of(tenant).map(({ record: { request_id: id, kind } }) => [id, kind])).toEqual([
        ['order-1', 'answer'],
        ['order-2', 'answer'],
      ]);
  });

  it('lets neither wait for the other’s runs in a session of the same name on the same partition', () => {
    const [first, second] = of('other').map(({ timestamp }) => timestamp) as [number, number];
    // The same user’s wait for each other.
    expect(second - first).toBeGreaterThan(turnMs / 2);
    // In a lane with these, the runs of the other tenant would begin behind both.
    for (const { timestamp } of of('acme')) expect(timestamp).toBeLessThan(second - turnMs / 4);
  });

  it('shows an auditor the one whose story is asked for, and says whose there are', async () => {
    await expect(cluster.command('audit', 'show', 'shared')).rejects.toThrow(
      /user:ann of acme, user:bob of other|user:bob of other, user:ann of acme/,
    );
    const story = await cluster.command('audit', 'show', 'shared', '--tenant', 'acme', '--json');
    const told = story.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { kind: string }]));
    expect(told.filter(({ kind }) => kind === 'request')).toHaveLength(2);
    expect(story).not.toMatch(/user:bob|:"other"/);
    const tail = await cluster.command(
      'tail',
      '--from',
      'start',
      '--once',
      '--json',
      '--session',
      'shared',
      '--tenant',
      'other',
    );
    expect(tail).not.toContain('user:ann');
    expect(tail).toContain('user:bob');
  });
});
