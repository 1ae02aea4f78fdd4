import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { effectServer } from '../../cluster/effect-server.js';
import type { EffectServer } from '../../cluster/effect-server.js';
import { post } from '../../gateway/over-http.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';

interface Requested {
  readonly approval_id: string;
  readonly request_id: string;
  readonly arguments_hash: string;
}
interface Approval {
  readonly requested: Requested | null;
  readonly decided: { readonly request_id: string } | null;
  readonly outcome: {
    readonly request_id: string;
    readonly decision: string;
    readonly decided_by: string;
    readonly decided_through: string | null;
    readonly not_taken: string | null;
  } | null;
}

describe('kill -9 of the gateway around a decision that a service brings for a person, on Kafka', () => {
  let endpoint: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  let gateway: Program;
  let executor: Program;
  let desk: Readonly<Record<string, string>>;
  let asker: Readonly<Record<string, string>>;

  beforeAll(async () => {
    endpoint = await scriptedEndpoint([['mcp__effects__act', '{}']], 5);
    effects = await effectServer(5);
    cluster = await openCluster(
      `
tool: { act: { type: mcp-tool, group: [work] } }
mcp:
  servers: { effects: { url: "${effects.url}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
policy:
  allowed_tools: [act]
  approval:
    approvers: ['user:ann', 'user:bob']
    on_behalf: { 'service:desk': ['user:ann'] }
identity: { provider: api-keys }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
limits: { run_seconds: 300 }
`,
      { SLUICE_DRAIN_SECONDS: '1' },
    );
    const key = async (name: string) => {
      const made = await cluster.command('keys', 'api', 'new', name, '--tenant', 'acme', '--groups', 'work', '--json');
      return { authorization: `Bearer ${(JSON.parse(made) as { readonly token: string }).token}` };
    };
    [desk, asker] = [await key('desk'), await key('asker')];
    [gateway, executor] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('executor'),
      cluster.start('filter'),
      cluster.start('agent'),
    ]);
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await endpoint?.close();
  }, 60_000);

  const urlOf = (path: string): string => `${/"url":"(http:[^"]+)"/.exec(gateway.said())?.[1] ?? ''}/v1/${path}`;
  const records = async (topic: string): Promise<readonly unknown[]> => {
    const text = await cluster.command('tail', '--topic', topic, '--from', 'start', '--once', '--json');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { readonly record: unknown }).record);
  };
  const approvals = async (): Promise<readonly Approval[]> => (await records('agent.approvals')) as readonly Approval[];
  const decisions = async (request: string) =>
    (await approvals()).filter(({ decided }) => decided?.request_id === request);
  /** Begins a run, and waits until its call does. */
  const waiting = async (request: string): Promise<Requested> => {
    const run = { question: 'Do it', group: ['work'], request_id: request, session_id: request };
    expect((await post(urlOf('runs'), run, asker)).status).toBe(202);
    const found = await eventually(
      async () => (await approvals()).find(({ requested }) => requested?.request_id === request)?.requested,
      (one) => one != null,
    );
    return found as Requested;
  };
  const decide = ({ approval_id: id, arguments_hash }: Requested, person = 'user:ann'): Promise<Response> => {
    const given = { decision: 'approve', arguments_hash, reason: 'Ticket 7', decided_for: person };
    return post(urlOf(`approvals/${id}/decision`), given, desk);
  };
  /** As a service does it: again until it has an answer. What each attempt was answered. */
  const bring = async (asked: Requested): Promise<readonly string[]> => {
    const attempts: string[] = [];
    for (const until = Date.now() + 60_000; Date.now() < until;) {
      try {
        const answer = await decide(asked);
        const body = (await answer.json()) as { readonly status?: unknown };
        // A gateway that has just started reads the log before it looks an approval up.
        const isEarly = answer.status === 503 || answer.status === 404;
        attempts.push(isEarly ? String(answer.status) : `${answer.status} ${String(body.status)}`);
        if (!isEarly) return attempts;
      } catch {
        attempts.push('lost');
      }
      await sleep(50);
    }
    throw new Error(`There was no answer: ${attempts.join()}`);
  };
  const kill = async (): Promise<void> => {
    gateway.process.kill('SIGKILL');
    await gateway.ended;
    gateway = await cluster.start('gateway');
  };
  /** One outcome counts, of the person through the service, and the run went on with the call once. */
  const expectOneDecision = async (request: string): Promise<void> => {
    const ends = await eventually(
      async () =>
        (
          (await records('agent.responses')) as readonly { readonly request_id: string; readonly history: object }[]
        ).filter((one) => one.request_id === request),
      ({ length }) => length > 0,
    );
    expect(ends).toMatchObject([{ history: [{ outcome: 'ok' }] }]);
    const outcomes = (await approvals()).flatMap(({ outcome }) => (outcome?.request_id === request ? [outcome] : []));
    expect(outcomes.filter(({ not_taken }) => not_taken === null)).toMatchObject([
      { decision: 'approve', decided_by: 'user:ann', decided_through: 'service:desk' },
    ]);
    expect(outcomes.filter(({ not_taken: why }) => why !== null && why !== 'already_decided')).toEqual([]);
  };

  it('whose answer is lost with the gateway: it is on the log twice, and counts once', async () => {
    const before = effects.done.size;
    const asked = await waiting('lost');
    // Nothing is decided until both are on the log.
    executor.process.kill('SIGSTOP');
    try {
      expect((await decide(asked, 'user:bob')).status).toBe(403);
      // There is no notifier here that says where the approval stands, so the gateway may not have read it yet.
      const { status } = await eventually(
        () => decide(asked),
        (answer) => answer.status !== 404,
      );
      expect(status).toBe(202);
      await kill();
      expect((await bring(asked)).at(-1)).toBe('202 published');
      expect(await decisions('lost')).toHaveLength(2);
      expect(effects.done.size).toBe(before);
    } finally {
      executor.process.kill('SIGCONT');
    }
    await expectOneDecision('lost');
    await kill();
    // The same decision again is the one that counts.
    expect((await bring(asked)).at(-1)).toBe('200 taken');
    expect(await decisions('lost')).toHaveLength(2);
    expect([...effects.done.values()].slice(before)).toEqual([1]);
  }, 240_000);

  it('before or behind its publish, at another moment each time: decided once, and the call is made once', async () => {
    const before = effects.done.size;
    const all: (readonly string[])[] = [];
    const moments = [0, 5, 10, 15, 20, 30, 50];
    for (const ms of moments) {
      const request = `after-${String(ms)}`;
      const asked = await waiting(request);
      const brought = bring(asked);
      await sleep(ms);
      await kill();
      const attempts = await brought;
      expect(['202 published', '200 taken']).toContain(attempts.at(-1));
      all.push(attempts);
      await expectOneDecision(request);
      expect((await decisions(request)).length).toBeLessThanOrEqual(attempts.length);
    }
    expect(all.some((attempts) => attempts.includes('lost'))).toBe(true);
    expect([...effects.done.values()].slice(before)).toEqual(moments.map(() => 1));
    expect(await records('agent.dead-letters')).toEqual([]);
  }, 240_000);
});
