import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster, withSecret } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { effectServer } from '../../cluster/effect-server.js';
import type { EffectServer } from '../../cluster/effect-server.js';
import { post } from '../../gateway/over-http.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';
import { eventOf, startReceiver } from '../../notifications/receiver.js';
import type { Receiver } from '../../notifications/receiver.js';

const runs = ['run-1', 'run-2', 'run-3', 'run-4'];
/** Of one run, in the order in which they happen: each of its two calls waits for an approver. */
const ofCalls = ['approval.waiting', 'approval.ended', 'approval.waiting', 'approval.ended'];
/** The webhooks, counted as they come, with which their notifier is killed. */
const killing = [1, 2, 5, 9, 14];

interface Listed {
  readonly name: string;
  readonly id: string;
  readonly made_by: string;
  readonly behind: number | null;
}
interface Requested {
  readonly approval_id: string;
  readonly request_id: string;
}

describe('kill -9 of the notifier between a webhook and its note, of a subscription made over HTTP, on Kafka', () => {
  let endpoint: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  let receiver: Receiver;
  let gateway: Program;
  let notifier: Program;
  let restarted = Promise.resolve();
  let kills = 0;

  /** One after another: one that has just started may send before it says that it serves. */
  const killNotifier = (): Promise<void> => {
    restarted = restarted.then(async () => {
      kills++;
      notifier.process.kill('SIGKILL');
      await notifier.ended;
      notifier = await cluster.start('notifier');
    });
    return restarted;
  };

  beforeAll(async () => {
    let count = 0;
    // The receiver has it, and the notifier never reads that.
    receiver = await startReceiver(async () => {
      if (killing.includes(++count)) await killNotifier();
      return 204;
    });
    endpoint = await scriptedEndpoint((turn, [tool]) => (turn < 2 && tool !== undefined ? [tool, '{}'] : undefined), 5);
    effects = await effectServer(5);
    cluster = await openCluster(
      `
tool: { act: { type: mcp-tool, group: [work] } }
mcp:
  servers: { effects: { url: "${effects.url}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
policy: { allowed_tools: [act], approval: { approvers: ['user:ann'] } }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
notify: { private_hosts: ['${receiver.host}'] }
limits: { run_seconds: 300 }
`,
      { SLUICE_DRAIN_SECONDS: '1' },
    );
    [gateway, notifier] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('notifier'),
      cluster.start('filter'),
      cluster.start('agent'),
      cluster.start('executor'),
    ]);
  }, 2 * startTimeout);
  afterAll(async () => {
    await restarted.catch(() => undefined);
    await cluster?.close();
    await receiver?.close();
    await effects?.close();
    await endpoint?.close();
  }, 60_000);

  const urlOf = (path: string): string => `${/"url":"(http:[^"]+)"/.exec(gateway.said())?.[1] ?? ''}/v1/${path}`;
  const list = async (): Promise<readonly Listed[]> => {
    const answer = await fetch(urlOf('subscriptions'), { headers: withSecret });
    return ((await answer.json()) as { readonly subscriptions: readonly Listed[] }).subscriptions;
  };
  const records = async <T>(topic: string): Promise<readonly T[]> => {
    const text = await cluster.command('tail', '--topic', topic, '--from', 'start', '--once', '--json');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { readonly record: T }).record);
  };
  const killGateway = async (): Promise<void> => {
    gateway.process.kill('SIGKILL');
    await gateway.ended;
    gateway = await cluster.start('gateway');
  };

  it('each event comes, under one id and in the order of its run; the subscription outlives all', async () => {
    const wanted = {
      name: 'desk',
      url: receiver.url('/desk'),
      events: ['approval.waiting', 'approval.ended', 'run.ended'],
    };
    const made = await post(urlOf('subscriptions'), wanted, withSecret);
    expect(made.status).toBe(201);
    const { id, secret } = (await made.json()) as { readonly id: string; readonly secret: string };
    // It is there once it is answered, without the gateway that made it and the notifier that was there.
    await Promise.all([killGateway(), killNotifier()]);
    expect(await list()).toMatchObject([{ name: 'desk', id, made_by: 'http' }]);
    expect((await post(urlOf('subscriptions'), wanted, withSecret)).status).toBe(409);

    for (const name of runs) {
      const run = { question: 'Do it', group: ['work'], request_id: name, session_id: name };
      expect((await post(urlOf('runs'), run, withSecret)).status).toBe(202);
    }
    const decided = new Set<string>();
    while (decided.size < 2 * runs.length) {
      const asked = await eventually(
        async () =>
          (await records<{ readonly requested: Requested | null }>('agent.approvals')).flatMap(({ requested }) =>
            requested === null || decided.has(requested.approval_id) ? [] : [requested],
          ),
        ({ length }) => length > 0,
      );
      for (const { approval_id: approval } of asked) {
        await cluster.command('approvals', 'approve', approval, '--as', 'user:ann');
        decided.add(approval);
      }
    }

    const all = await eventually(
      () => receiver.at('/desk').map((one) => eventOf(one, secret)),
      (events) =>
        new Set(events.map((one) => one.id)).size === runs.length * (ofCalls.length + 1) && kills > killing.length,
    );
    const first = new Map(all.toReversed().map((event) => [event.id, event]));
    const inOrder = all.filter((event, n) => all.findIndex((other) => other.id === event.id) === n);
    for (const name of runs) {
      const events = inOrder.filter(({ data }) => data?.['request_id'] === name);
      const types = events.map(({ type }) => type.replace('sluice.', ''));
      // The end is of another topic, and may come before the decisions: `sequence` says where it belongs.
      expect(types.filter((type) => type !== 'run.ended')).toEqual(ofCalls);
      const sorted = events.toSorted((a, b) => (String(a['sequence']) < String(b['sequence']) ? -1 : 1));
      expect(sorted.map(({ type }) => type.replace('sluice.', ''))).toEqual([...ofCalls, 'run.ended']);
      expect(new Set(events.map((event) => event['sequence'])).size).toBe(events.length);
    }
    // What came again is the same to the byte, but for the time of its attempt.
    const bodies = new Set(receiver.at('/desk').map(({ body }) => body));
    expect(bodies.size).toBe(first.size);
    expect(all.length).toBeGreaterThanOrEqual(first.size + killing.length);
    expect([...effects.done.values()]).toEqual(runs.flatMap(() => [1, 1]));

    // Nothing is left to send, and what was sent is not sent once more.
    await restarted;
    await eventually(list, ([one]) => one?.behind === 0);
    const count = receiver.all.length;
    await Promise.all([killGateway(), killNotifier()]);
    const last = { question: 'Do it', group: [], request_id: 'last', session_id: 'last' };
    expect((await post(urlOf('runs'), last, withSecret)).status).toBe(202);
    const later = await eventually(
      () => receiver.at('/desk').slice(count),
      ({ length }) => length > 0,
    );
    expect(later.map((one) => eventOf(one, secret).subject)).toEqual(['last']);
    expect(await list()).toMatchObject([{ name: 'desk', id, made_by: 'http' }]);
    expect(await records('agent.dead-letters')).toEqual([]);
  }, 240_000);
});
