import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../harness/eventually.js';
import type { Program } from '../harness/program.js';
import { startTimeout } from '../infra/client.ts';
import { eventOf, secretOf, startReceiver } from '../notifications/receiver.js';
import type { Receiver } from '../notifications/receiver.js';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';
import { KafkaReader } from './reader.js';

const secret = secretOf('1');
const runs = 12;

let receiver: Receiver;
let cluster: Cluster;
let reader: KafkaReader;
let notifiers: Program[];
/** The notifiers that are killed with their first webhook: the receiver has it, and they never read that. */
let toKill = 1;

beforeAll(async () => {
  receiver = await startReceiver(async ({ path }) => {
    if (path !== '/killing' || toKill-- <= 0) return 204;
    const [first] = notifiers;
    first?.process.kill('SIGKILL');
    await first?.ended;
    return 204;
  });
  cluster = await openCluster(`
tool: { get_current_time: { type: get_current_time } }
policy: { allowed_tools: [get_current_time] }
notify:
  private_hosts: ['${receiver.host}']
  subscriptions:
    killing: { url: '${receiver.url('/killing')}', events: [run.ended], secret_env: HOOK }
    beside: { url: '${receiver.url('/beside')}', events: [run.ended], secret_env: HOOK }
`);
  reader = await KafkaReader.open(cluster);
  await Promise.all((['filter', 'agent'] as const).map((role) => cluster.start(role)));
  notifiers = [await cluster.start('notifier', { HOOK: secret })];
}, 2 * startTimeout);
afterAll(async () => {
  await reader?.close();
  await cluster?.close();
  await receiver?.close();
});

it('webhooks on Kafka: a notifier that is killed before it commits one is replaced, and none is missing or another', async () => {
  const names = Array.from({ length: runs }, (_, n) => `run-${String(n)}`);
  await reader.publishJson(names.map((name) => ({ question: 'Go', request_id: name, session_id: name, group: [] })));
  await receiver.until('/killing', 1);
  await notifiers[0]?.ended;
  await cluster.start('notifier', { HOOK: secret });

  // The webhook that the killed notifier sent is sent again, perhaps behind those of other partitions.
  await receiver.until('/killing', runs + 1);
  for (const path of ['/killing', '/beside']) {
    const received = await eventually(
      () => receiver.at(path),
      (all) => new Set(all.map(({ body }) => subjectOf(body))).size === runs,
    );
    const ids = received.map((one) => eventOf(one, secret)).map(({ subject, id }) => `${subject ?? ''} ${id}`);
    expect(new Set(ids).size).toBe(runs);
  }
}, 240_000);

const subjectOf = (body: string): unknown => (JSON.parse(body) as { readonly subject: string }).subject;
