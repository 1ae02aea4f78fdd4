import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { decoded, post, restOf, streamed, upTo } from '../gateway/over-http.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
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
    expect((await post(`${left}/v1/approvals`, decision)).status).toBe(202);
    expect(await upTo('approval_outcome', again)).toMatchObject({ decision: 'approve', not_taken: null });
    const rest = await restOf(again);
    expect(rest).toContainEqual(expect.objectContaining({ type: 'result', isError: false }));
    expect(rest.at(-1)).toMatchObject({ type: 'message-finish', finishReason: 'stop' });
    expect(await (await fetch(place)).json()).toMatchObject({ status: 'ended', kind: 'answer' });
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
