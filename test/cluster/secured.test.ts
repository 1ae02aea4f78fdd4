import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Admin, KafkaConfig } from 'kafkajs';
import { access, allTopics, services } from '@sluice/contracts';
import type { Role, ServiceName } from '@sluice/contracts';
import { keysFor, newKeySet, writeKeySet } from '@sluice/identity';
import { post } from '../gateway/over-http.js';
import { eventually } from '../harness/eventually.js';
import { sluice } from '../harness/program.js';
import type { Ended, Program } from '../harness/program.js';
import { own, startTimeout } from '../infra/client.ts';
import type { Owned } from '../infra/client.ts';
import { freshPrefix } from '../infra/fresh.ts';
import { asAdmin } from '../infra/ready.ts';
import { passwordOf, securedUsers } from '../infra/settings.ts';
import { openCluster, withSecret } from './cluster.js';
import type { Cluster } from './cluster.js';
import { grant, revokeGroup, setScramPassword } from './secured.js';

const configuration = `
tool:
  now: { type: get_current_time, group: [read-only] }
  think: { type: text-completion, group: [read-only] }
policy: { allowed_tools: [now, think], approval: { approvers: ['*'], rules: { thoughts: { tools: [think] } } } }
model: { provider: rules }
notify:
  subscriptions: { desk: { url: 'https://hooks.example.org', events: [run.failed], secret_env: DESK_SECRET } }
`;

/** Signed by nobody; the broker takes it as it was told to. */
function tokenOf(user: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1_000);
  return `${part({ alg: 'none' })}.${part({ sub: user, iat: now, exp: now + 300 })}.`;
}

/** Gives out tokens to whoever asks, for OAUTHBEARER. */
const tokens = createServer((incoming, outgoing) => {
  const basic = (incoming.headers.authorization ?? '').replace('Basic ', '');
  const [user = ''] = Buffer.from(basic, 'base64').toString().split(':');
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ access_token: tokenOf(user), expires_in: 300 }));
});

const plain = (user: string): Record<string, string> => ({
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_USERNAME: user,
  KAFKA_SASL_PASSWORD: passwordOf(user),
});

/** Each mechanism is somebody’s. */
function credentials(role: Role): Record<string, string> {
  if (role === 'agent') return { ...plain('sluice-agent'), KAFKA_SASL_MECHANISM: 'scram-sha-256' };
  if (role === 'audit') return { ...plain('sluice-audit'), KAFKA_SASL_MECHANISM: 'scram-sha-512' };
  if (role !== 'executor') return plain(`sluice-${role}`);
  return {
    KAFKA_SASL_MECHANISM: 'oauthbearer',
    KAFKA_OAUTH_TOKEN_URL: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
    KAFKA_OAUTH_CLIENT_ID: 'sluice-executor',
    KAFKA_OAUTH_CLIENT_SECRET: 'secret',
  };
}

describe('a broker that asks over TLS who one is, and grants nothing by itself', () => {
  let broker: Owned<'secured-kafka'>;
  let admin: Admin;
  let cluster: Cluster;
  const keys = newKeySet(Date.now());
  const prefix = freshPrefix('secured');
  const running = new Map<ServiceName, Program>();

  const kafka = (as: Pick<KafkaConfig, 'ssl' | 'sasl'>): Kafka =>
    new Kafka({ brokers: broker.address.brokers, logLevel: logLevel.NOTHING, retry: { retries: 5 }, ...as });
  const ssl = () => ({ ca: readFileSync(broker.address.ca, 'utf8') });
  const command = (role: Role, ...args: string[]): Promise<Ended> =>
    sluice(args, { ...cluster.variables, ...credentials(role), SLUICE_KEYS: cluster.auditorKeys }).ended;
  /** Serves without a cluster’s prefix. */
  const serve = (role: ServiceName, ofPrefix: string): Program =>
    sluice(['serve', '--role', role], {
      ...cluster.variables,
      ...credentials(role),
      SLUICE_KEYS: writeKeySet(keysFor(role, keys)),
      SLUICE_PREFIX: ofPrefix,
    });
  /** Grants what the command line prints, and nothing else. */
  async function grantAll(ofPrefix: string, wanted = (_line: string): boolean => true): Promise<void> {
    const nowhere = { SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1', DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const variables = { ...nowhere, SLUICE_BUS: 'kafka', KAFKA_BROKERS: '127.0.0.1:1', SLUICE_PREFIX: ofPrefix };
    const printed = await sluice(['topics', '--acls'], variables).ended;
    expect(printed).toMatchObject({ code: 0, errors: '' });
    await grant(admin, printed.output.split('\n').filter(wanted));
  }
  const there = async (ofPrefix: string): Promise<number> =>
    (await admin.listTopics()).filter((topic) => topic.startsWith(ofPrefix)).length;
  /** What was refused, or may not be done. */
  const refusals = (said: string): readonly string[] =>
    said.split('\n').filter((line) => /does not allow|AUTHORIZATION_FAILED|not authorized/i.test(line));

  beforeAll(async () => {
    broker = await own('secured-kafka');
    await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
    const anything = kafka(asAdmin(broker.address));
    admin = anything.admin();
    await admin.connect();
    await setScramPassword(anything, 'sluice-agent', 'SCRAM-SHA-256', passwordOf('sluice-agent'));
    await setScramPassword(anything, 'sluice-audit', 'SCRAM-SHA-512', passwordOf('sluice-audit'));
    await grantAll(prefix);
    cluster = await openCluster(configuration, {
      ...plain('sluice-operator'),
      KAFKA_BROKERS: broker.address.brokers.join(),
      KAFKA_TLS_CA: broker.address.ca,
      SLUICE_PREFIX: prefix,
    });
    await Promise.all(services.map(async (role) => running.set(role, await cluster.start(role, credentials(role)))));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await admin?.disconnect();
    tokens.close();
    await broker?.release();
  });

  it('knows every role', () => {
    const all = Object.keys(access).map((role) => `sluice-${role}`);
    expect([...securedUsers].sort()).toEqual(['admin', ...all].sort());
  });

  it('lets every role do its work with the rights that are printed for it, by PLAIN, SCRAM or OAUTHBEARER', async () => {
    const upstream = kafka({ ssl: ssl(), sasl: { mechanism: 'plain', username: 'sluice-upstream', password: passwordOf('sluice-upstream') } }); // prettier-ignore
    const producer = upstream.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const request = { question: 'What time is it?', group: ['read-only'], request_id: 'r-1', session_id: 's-1' };
    const topic = `${prefix}agent.requests`;
    // Its call goes from the filter to the executor, and waits for an approval there as a turn.
    const call = {
      ...request,
      request_id: 'r-2',
      session_id: 's-2',
      call: { tool: 'think', arguments: '{"prompt":"Say A."}' },
    };
    const messages = [request, call].map((one) => ({ key: one.session_id, value: JSON.stringify(one) }));
    await producer.send({ topic, messages });
    // Not for whoever asks.
    const steps = producer.send({ topic: `${prefix}agent.steps`, messages: [{ value: '{}' }] });
    await expect(steps).rejects.toMatchObject({ type: 'TOPIC_AUTHORIZATION_FAILED' });
    await producer.disconnect();

    const url = /"url":"(http[^"]+)"[^\n]*requests over HTTP/.exec(running.get('gateway')?.said() ?? '')?.[1] ?? '';
    const run = async (): Promise<object> =>
      (await (await fetch(`${url}/v1/runs/r-1?session_id=s-1&since=0`, { headers: withSecret })).json()) as object;
    expect(await eventually(run, (seen) => 'kind' in seen)).toMatchObject({ status: 'ended', kind: 'answer' });

    const one = { name: 'made', url: 'https://hooks.example.org', events: ['run.failed'] };
    const made = await post(`${url}/v1/subscriptions`, one, withSecret);
    expect(made.status).toBe(201);
    const subscriptions = async (): Promise<readonly object[]> => {
      const answer = await fetch(`${url}/v1/subscriptions`, { headers: withSecret });
      return ((await answer.json()) as { readonly subscriptions: readonly object[] }).subscriptions;
    };
    const behind = [expect.objectContaining({ name: 'desk', behind: 0 }), expect.objectContaining({ name: 'made' })];
    expect(await subscriptions()).toEqual(behind);
    const { code, output, errors } = await command('operator', 'notify', 'list', '--json');
    expect([code, errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toMatchObject({
      subscriptions: [
        { name: 'desk', behind: 0 },
        { name: 'made', made_by: 'http' },
      ],
    });

    expect(await command('operator', 'config', 'list')).toMatchObject({ code: 0, errors: '' });
    const waiting = () => command('approver', 'approvals', 'list');
    const listed = await eventually(waiting, ({ output }) => output.includes('core__think'));
    expect(listed).toMatchObject({ code: 0, errors: '' });
    expect(await command('redriver', 'dead-letters', 'list')).toMatchObject({ code: 0, errors: '' });
    const told = await eventually(
      () => command('auditor', 'audit', 'show', 's-1'),
      ({ code }) => code === 0,
    );
    expect(told.errors).toBe('');
    expect(await command('auditor', 'audit', 'verify')).toMatchObject({ code: 0, errors: '' });
    expect(refusals([...running.values()].map((program) => program.said()).join('\n'))).toEqual([]);
  });

  // A service that wrote nothing could make no topic either.
  it.each(services.filter((role) => access[role].writes.length > 0))(
    'lets the first service make the topics: %s',
    async (role) => {
      const empty = freshPrefix(`empty-${role}`);
      await grantAll(empty);
      const program = serve(role, empty);
      try {
        await eventually(
          () => there(empty),
          (count) => count === allTopics.length,
        );
        await program.says(/"group":|is applied|"serving"|config/);
      } finally {
        program.process.kill('SIGTERM');
      }
      expect(refusals((await program.ended).output)).toEqual([]);
    },
    60_000,
  );

  it('wants no right to make topics that are there, and says what is missing where they are not', async () => {
    const made = freshPrefix('made');
    await grantAll(made, (line) => !line.includes('Create'));
    const refused = await serve('filter', made).ended;
    expect(refused.code).toBe(1);
    expect(refused.output + refused.errors).toMatch(/does not allow this user to do it .*Grant the permission\./);
    await sluice(['config', 'list'], { ...cluster.variables, ...plain('admin'), SLUICE_PREFIX: made }).ended;
    expect(await there(made)).toBe(allTopics.length);
    const program = serve('filter', made);
    await program.says(/"group":|is applied|"serving"|config/);
    program.process.kill('SIGTERM');
    expect(refusals((await program.ended).output)).toEqual([]);
  });

  it('ends a process whose consumer may not go on, with the reason and exit code 1', async () => {
    const filter = running.get('filter');
    await revokeGroup(admin, 'User:sluice-filter', `${prefix}filter`);
    const ended = await filter?.ended;
    expect(ended?.code).toBe(1);
    expect(ended?.output).toMatch(/The consumer of filter stopped: Kafka at \S+ does not allow this user to do it/);
  });

  it('lets no client in with a wrong password, and says so', async () => {
    const wrong = { ...plain('sluice-filter'), KAFKA_SASL_PASSWORD: 'wrong' };
    const { code, output, errors } = await sluice(['config', 'list'], { ...cluster.variables, ...wrong }).ended;
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/refuses the credentials\. Check the SASL mechanism, the user and the password\./);
  });
});
