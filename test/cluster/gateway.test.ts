import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { decoded, post, restOf, streamed, upTo } from '../gateway/over-http.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster, withSecret } from './cluster.js';
import type { Cluster } from './cluster.js';

/** Two gateways beside the services, all of them processes of their own; one of them is killed while it tells a run. */
describe('the gateway on Kafka', () => {
  let endpoint: ScriptedEndpoint;
  let cluster: Cluster;

  beforeAll(async () => {
    endpoint = await scriptedEndpoint([calls.reset], 5);
    const configuration = workflowConfiguration().replace(/^policy:$/m, "policy:\n  approval: { approvers: ['*'] }");
    cluster = await openCluster(
      `${configuration}model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }\n`,
    );
    for (const role of ['filter', 'agent', 'executor'] as const) await cluster.start(role);
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await endpoint?.close();
  });

  it('tells a run through any instance: one is killed in the middle, another one tells it from its beginning to its end', async () => {
    const [first, second] = [await cluster.start('gateway'), await cluster.start('gateway')];
    const [killed, left] = [urlOf(first), urlOf(second)];
    const request = { question: 'Begin anew', group: ['*'], state: 'analysis' };
    const asking = await post(`${killed}/v1/runs`, request, streamed);
    const told = decoded(asking)[Symbol.asyncIterator]();
    const asked = await upTo('approval_requested', told);
    first.process.kill('SIGKILL');
    await expect(upTo('approval_outcome', told)).rejects.toThrow();

    const place = `${left}${asking.headers.get('location') ?? ''}`;
    const running = await fetch(place);
    expect([running.status, await running.json()]).toMatchObject([202, { status: 'running' }]);
    const again = decoded(await fetch(place, { headers: streamed }))[Symbol.asyncIterator]();
    expect(await upTo('approval_requested', again)).toEqual(asked);
    const decision = { ...asked, decision: 'approve', decided_by: 'user:ann' };
    expect((await post(`${left}/v1/approvals`, decision, withSecret)).status).toBe(202);
    expect(await upTo('approval_outcome', again)).toMatchObject({ decision: 'approve', not_taken: null });
    const rest = await restOf(again);
    expect(rest).toContainEqual(expect.objectContaining({ type: 'result', isError: false }));
    expect(rest.at(-1)).toMatchObject({ type: 'message-finish', finishReason: 'stop' });
    expect(await (await fetch(place)).json()).toMatchObject({ status: 'ended', kind: 'answer' });
  });
});

describe('a run that is cancelled on Kafka', () => {
  let endpoint: ScriptedEndpoint;
  let cluster: Cluster;
  beforeAll(async () => {
    endpoint = await scriptedEndpoint([calls.reset], 5);
    const configuration = workflowConfiguration().replace(/^policy:$/m, "policy:\n  approval: { approvers: ['*'] }");
    cluster = await openCluster(
      `${configuration}model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }\n`,
    );
    await Promise.all((['agent', 'executor'] as const).map((role) => cluster.start(role)));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await endpoint?.close();
  });

  it('over HTTP in one process ends as cancelled in the others, for who waits, and its lists and metrics say so', async () => {
    const filter = await cluster.start('filter');
    const [asked, other] = [urlOf(await cluster.start('gateway')), urlOf(await cluster.start('gateway'))];
    const request = {
      question: 'Begin again',
      group: ['*'],
      state: 'analysis',
      request_id: 'c1',
      session_id: 'c-session',
    };
    // Its call waits for an approval, so that nothing but the cancellation ends it.
    const told = decoded(await post(`${asked}/v1/runs`, request, streamed))[Symbol.asyncIterator]();
    await upTo('approval_requested', told);
    const cancelled = await post(
      `${other}/v1/runs/c1/cancel`,
      { reason: 'Not any more.' },
      { prefer: 'wait=50', ...withSecret },
    );
    const error = { code: 'cancelled', message: 'The run was cancelled by its caller: Not any more.' };
    expect([cancelled.status, await cancelled.json()]).toMatchObject([200, { status: 'ended', kind: 'error', error }]);
    expect(await restOf(told)).toContainEqual(expect.objectContaining({ type: 'error', code: 'cancelled' }));
    const listed = async (): Promise<unknown> =>
      (await (await fetch(`${other}/v1/runs?outcome=cancelled`, { headers: withSecret })).json()) as object;
    await eventually(listed, (list) => JSON.stringify(list).includes('"request_id":"c1"'));

    // One that does not count: the run has ended.
    await expect(cluster.command('cancel', 'c1')).rejects.toThrow('c1 is not cancelled');
    const health = /"url":"([^"]+)"/.exec(filter.said())?.[1] ?? '';
    const text = await (await fetch(`${health}/metrics`)).text();
    expect(text).toContain('sluice_cancellations_total{outcome="cancelled"} 1\n');
    expect(text).toContain('sluice_cancellations_total{outcome="ended"} 1\n');
  });
});

/** Where it says that it listens. */
function urlOf(gateway: Program): string {
  const line =
    gateway
      .said()
      .split('\n')
      .find((one) => one.includes('requests over HTTP are taken')) ?? '{}';
  return (JSON.parse(line) as { url?: string }).url ?? '';
}
