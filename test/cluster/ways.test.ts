import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { post } from '../gateway/over-http.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { sluice } from '../harness/program.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { eventOf, startReceiver } from '../notifications/receiver.js';
import type { Receiver } from '../notifications/receiver.js';
import { botToken, startSlack } from '../notifications/slack-server.js';
import type { Slack } from '../notifications/slack-server.js';
import { openCluster, withSecret } from './cluster.js';
import type { Cluster } from './cluster.js';

const policy = `policy:
  approval:
    approvers: ['user:ann', 'user:bob']
    rules: { twice: { tools: [reset-workflow], quorum: 2 } }`;

let receiver: Receiver;
let slack: Slack;
let server: SMTPServer;
let endpoint: ScriptedEndpoint;
let cluster: Cluster;
let gateway: string;
let notifier: Program;
const mails: string[] = [];
const secrets: Record<string, string> = { TOKEN: botToken, LINKS: 'a secret of links, long enough' };

beforeAll(async () => {
  [receiver, slack, endpoint] = await Promise.all([startReceiver(), startSlack(), scriptedEndpoint([calls.reset], 5)]);
  server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        mails.push(Buffer.concat(parts).toString().replaceAll('=\r\n', '').replaceAll('=3D', '='));
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  secrets['SERVER'] = `smtp://127.0.0.1:${String((server.server.address() as AddressInfo).port)}`;
  cluster = await openCluster(
    `${workflowConfiguration().replace(/^policy:$/m, policy)}model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
notify:
  base_url: https://sluice.example.org
  private_hosts: ['127.0.0.1']
  slack: { ops: { channel: C1, token_env: TOKEN, api_url: '${slack.url}' } }
  mail: { board: { from: sluice@example.org, to: [ann@example.org], server_env: SERVER, link_secret_env: LINKS } }
`,
    { SLUICE_CONTENT_KEYS: randomBytes(32).toString('base64') },
  );
  const [, , , serving, first] = await Promise.all([
    ...(['filter', 'agent', 'executor'] as const).map((role) => cluster.start(role)),
    cluster.start('gateway', secrets),
    cluster.start('notifier', secrets),
  ]);
  const taking =
    serving
      ?.said()
      .split('\n')
      .find((line) => line.includes('requests over HTTP are taken')) ?? '{}';
  gateway = (JSON.parse(taking) as { url?: string }).url ?? '';
  notifier = first as Program;
}, 2 * startTimeout);
afterAll(async () => {
  await cluster?.close();
  await Promise.all([receiver?.close(), slack?.close(), endpoint?.close()]);
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
});

it('Slack, mail and a subscription over HTTP on Kafka: each way says the same of one approval, past a kill -9', async () => {
  const events = ['approval.waiting', 'approval.counted', 'approval.ended'];
  const made = await post(
    `${gateway}/v1/subscriptions`,
    { name: 'desk', url: receiver.url('/desk'), events },
    withSecret,
  );
  expect(made.status).toBe(201);
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  const list = async (variables: Readonly<Record<string, string>>) => {
    const { output, errors } = await sluice(['notify', 'list', '--json'], { ...cluster.variables, ...variables }).ended;
    const { subscriptions } = JSON.parse(output) as { subscriptions: readonly Record<string, unknown>[] };
    return { names: subscriptions.map(({ name, made_by, unset }) => [name, made_by, unset]), errors };
  };
  const configured = [
    ['ops', 'configuration', ['TOKEN']],
    ['board', 'configuration', ['SERVER', 'LINKS']],
  ];
  expect((await list({})).names).toEqual([...configured, ['desk', 'http', []]]);
  const closed = await list({ SLUICE_CONTENT_KEYS: randomBytes(32).toString('base64') });
  expect(closed).toEqual({ names: configured, errors: expect.stringContaining('SLUICE_CONTENT_KEYS') });
  // What happens before the notifier has read of a subscription is not sent to it.
  const serving =
    notifier
      .said()
      .split('\n')
      .find((line) => line.includes('"serving"')) ?? '{}';
  const { url = '' } = JSON.parse(serving) as { url?: string };
  await eventually(
    async () => (await fetch(`${url}/metrics`)).text(),
    (text) => text.includes(`subscription="${id}"`),
  );

  // Slack does what it was asked, and the notifier is gone before it reads that.
  slack.state.trouble = (method) => {
    if (method !== 'chat.postMessage') return null;
    slack.state.trouble = () => null;
    notifier.process.kill('SIGKILL');
    return 'lost';
  };
  const request = { question: 'Begin', group: ['*'], state: 'analysis', request_id: 'run-1' };
  expect((await post(`${gateway}/v1/runs`, request)).status).toBe(202);
  await notifier.ended;
  await cluster.start('notifier', secrets);
  const updates = () => slack.calls.filter(({ method }) => method === 'chat.update').length;
  await eventually(updates, (count) => count > 0);

  const [mail = ''] = await eventually(
    () => mails,
    ({ length }) => length > 0,
  );
  const [, token = ''] = /https:\/\/sluice\.example\.org\/v1\/mail-links\/(\S+)/.exec(mail) ?? [];
  const [waiting] = await receiver.until('/desk', 1);
  const approval = waiting && eventOf(waiting, secret);
  const approvalId = approval?.subject ?? '';
  const follow = () => fetch(`${gateway}/v1/mail-links/${token}`, { method: 'POST', redirect: 'manual' });
  const followed = await follow();
  expect([followed.status, followed.headers.get('location')]).toEqual([303, `/approvals/${approvalId}`]);
  expect((await follow()).status).toBe(410);

  const says = (text: string) => slack.until((all) => all.length === 1 && all[0]?.text.includes(text) === true);
  const approve = (name: string) => cluster.command('approvals', 'approve', approvalId, '--as', name);
  await approve('user:ann');
  await says('1 of 2 approved, by user:ann');
  await approve('user:bob');
  await says('Approved: reset-workflow, by user:bob');

  const types = await eventually(
    () => [...new Set(receiver.at('/desk').map((one) => eventOf(one, secret).type))],
    ({ length }) => length === events.length,
  );
  expect(types).toEqual(events.map((event) => `sluice.${event}`));
  expect(new Set(mails.map((one) => /^message-id: (.*)$/im.exec(one)?.[1])).size).toBe(1);
  expect(slack.problems).toEqual([]);
}, 240_000);
