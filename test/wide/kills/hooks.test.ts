import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sign } from '@octokit/webhooks-methods';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { effectServer } from '../../cluster/effect-server.js';
import type { EffectServer } from '../../cluster/effect-server.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';

const secret = 'a secret of both sides';

interface OfRun {
  readonly request_id: string;
  readonly iteration: number;
}
interface Sent {
  readonly requestId: string;
  /** How each attempt ended, the last one with 202. */
  readonly attempts: readonly string[];
}

describe('kill -9 of gateway and filter around a delivery, on Kafka', () => {
  let endpoint: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  let gateway: Program;
  let filter: Program;

  beforeAll(async () => {
    endpoint = await scriptedEndpoint([['mcp__effects__act', '{}']], 5);
    effects = await effectServer(5);
    cluster = await openCluster(
      `
tool: { act: { type: mcp-tool, group: [triage] } }
mcp:
  servers: { effects: { url: "${effects.url}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
policy: { allowed_tools: [act] }
identity: { provider: api-keys }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
hook:
  issues:
    scheme: github
    secret_env: GITHUB_HOOK
    question: 'Sort the issue {/issue}.'
    groups: [triage]
    principal: service:github
    tenant: acme
`,
      { GITHUB_HOOK: secret, SLUICE_DRAIN_SECONDS: '1' },
    );
    [gateway, filter] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('filter'),
      cluster.start('agent'),
      cluster.start('executor'),
    ]);
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await endpoint?.close();
  }, 60_000);

  const deliver = async (id: string): Promise<{ readonly status: number; readonly body: Record<string, string> }> => {
    const url = /"url":"(http:[^"]+)"/.exec(gateway.said())?.[1] ?? '';
    const body = JSON.stringify({ issue: id });
    const signature = { 'x-hub-signature-256': await sign(secret, body), 'x-github-delivery': id };
    const headers = { 'content-type': 'application/json', ...signature };
    const answer = await fetch(`${url}/v1/hooks/issues`, { method: 'POST', body, headers });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  /** As a sender does it: again until it reads a 202. */
  const send = async (id: string): Promise<Sent> => {
    const attempts: string[] = [];
    for (const until = Date.now() + 60_000; Date.now() < until;) {
      try {
        const { status, body } = await deliver(id);
        attempts.push(String(body['status'] ?? status));
        if (status === 202) return { requestId: body['request_id'] ?? '', attempts };
      } catch {
        attempts.push('lost');
      }
      await sleep(50);
    }
    throw new Error(`There was no 202: ${attempts.join()}`);
  };
  const killGateway = async (): Promise<void> => {
    gateway.process.kill('SIGKILL');
    await gateway.ended;
    gateway = await cluster.start('gateway');
  };
  const killFilter = async (): Promise<void> => {
    filter.process.kill('SIGKILL');
    await filter.ended;
    filter = await cluster.start('filter');
  };
  const records = async (topic: string): Promise<readonly OfRun[]> => {
    const text = await cluster.command('tail', '--topic', topic, '--from', 'start', '--once', '--json');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { readonly record: OfRun }).record);
  };
  const of = async (topic: string, request: string): Promise<readonly OfRun[]> =>
    (await records(topic)).filter(({ request_id: id }) => id === request);
  const ended = (request: string): Promise<readonly OfRun[]> =>
    eventually(
      () => of('agent.responses', request),
      ({ length }) => length > 0,
    );
  /** One run: no turn was granted twice, the call was made once, and there is one end. */
  const expectOneRun = async (request: string): Promise<void> => {
    expect((await ended(request)).map((one) => one.request_id)).toEqual([request]);
    const turns = (await of('agent.toolsets', request)).map(({ iteration }) => iteration);
    expect(turns).toEqual([...new Set(turns)]);
    expect(turns.length).toBeGreaterThan(0);
  };

  it('whose 202 is lost with the gateway: it is on the log twice, and begins one run, over killed filters', async () => {
    const before = effects.done.size;
    filter.process.kill('SIGKILL');
    await filter.ended;
    // It is on the log, and the sender never reads that.
    expect((await deliver('lost')).body['status']).toBe('accepted');
    await killGateway();
    const { requestId, attempts } = await send('lost');
    expect(attempts).toEqual(['accepted']);
    expect(await of('agent.requests', requestId)).toHaveLength(2);
    filter = await cluster.start('filter');
    // Before it has read them, while it takes the first one, and behind that.
    for (const ms of [0, 100, 400]) {
      await sleep(ms);
      await killFilter();
    }
    await expectOneRun(requestId);
    expect([...effects.done.values()].slice(before)).toEqual([1]);
    // Where the run has ended, the delivery starts no other one.
    await killGateway();
    expect(await send('lost')).toEqual({ requestId, attempts: ['accepted_before'] });
    expect(await of('agent.requests', requestId)).toHaveLength(2);
    await expectOneRun(requestId);
  }, 240_000);

  it('at another moment each time: every delivery is one run, and its call is made once', async () => {
    const before = effects.done.size;
    const sent: Sent[] = [];
    for (const [n, ms] of [8, 16, 24, 32, 40, 52].entries()) {
      const one = send(`moment-${String(n)}`);
      await sleep(ms);
      // The filter has none of it, has claimed the run, or has written its first turn.
      await Promise.all([killGateway(), sleep(n * 10).then(killFilter)]);
      sent.push(await one);
    }
    for (const { requestId } of sent) await expectOneRun(requestId);
    expect(new Set(sent.map(({ requestId }) => requestId)).size).toBe(sent.length);
    expect(sent.some(({ attempts }) => attempts.includes('lost'))).toBe(true);
    expect([...effects.done.values()].slice(before)).toEqual(sent.map(() => 1));
    expect(await records('agent.dead-letters')).toEqual([]);
  }, 240_000);
});
