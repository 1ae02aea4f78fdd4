import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster, withSecret } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { effectServer } from '../../cluster/effect-server.js';
import type { EffectServer } from '../../cluster/effect-server.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { scriptedParallelEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';

const act = 'mcp__effects__act';
const callsOfTurn = 4;

/** An approval as it is listed: what a decision sends back. */
interface Asked {
  readonly approval_id: string;
  readonly request_id: string;
}
interface Outcome {
  readonly approval_id: string;
  readonly request_id: string;
  readonly decision: string;
  readonly decided_by: string;
  readonly not_taken: string | null;
  readonly still_needed: number;
}
interface Ended {
  readonly request_id: string;
  readonly history: readonly { readonly outcome: string; readonly reason: string | null }[];
}

describe('kill -9 of the executor between the decisions on a call, and on the calls of a turn, on Kafka', () => {
  let endpoint: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  let executor: Program;
  let gateway: string;

  beforeAll(async () => {
    // A run of the group `one` makes a call, one of `many` makes several in a turn.
    endpoint = await scriptedParallelEndpoint((turn, offered) => {
      if (turn > 0) return [];
      return Array.from({ length: offered.includes(act) ? callsOfTurn : 1 }, () => [offered[0] ?? act, '{}'] as const);
    }, 5);
    effects = await effectServer(20);
    cluster = await openCluster(
      `
tool:
  act: { type: mcp-tool, group: [many] }
  twice: { type: mcp-tool, group: [one] }
mcp:
  servers: { effects: { url: "${effects.url}" }, other: { url: "${effects.url}" } }
  tools:
    act: { server: effects, tool: act, effect: external_side_effect, redaction: whole }
    twice: { server: other, tool: act, effect: external_side_effect, redaction: whole }
policy:
  allowed_tools: [act, twice]
  approval:
    approvers: ['user:ann', 'user:bob']
    rules: { two: { tools: [twice], quorum: 2 } }
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
limits: { run_seconds: 300 }
`,
      { SLUICE_DRAIN_SECONDS: '1' },
    );
    const [served, first] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('executor'),
      cluster.start('filter'),
      cluster.start('agent'),
    ]);
    executor = first;
    gateway = /"url":"(http:[^"]+)"/.exec(served.said())?.[1] ?? '';
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await endpoint?.close();
  }, 60_000);

  const send = async (path: string, body: object): Promise<unknown> => {
    const headers = { ...withSecret, 'content-type': 'application/json' };
    const answer = await fetch(`${gateway}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([path, answer.ok]).toEqual([path, true]);
    return answer.json();
  };
  const waiting = async (request: string, count: number): Promise<readonly Asked[]> => {
    const all = await eventually(
      async () => {
        const answer = await fetch(`${gateway}/v1/approvals`, { headers: withSecret });
        // A gateway that has just started reads the log before it lists.
        if (answer.status === 503) return [];
        const { approvals } = (await answer.json()) as { readonly approvals: readonly { readonly approval: Asked }[] };
        return approvals.map(({ approval }) => approval).filter(({ request_id: id }) => id === request);
      },
      (found) => found.length === count,
    );
    return all;
  };
  const records = async (topic: string): Promise<readonly unknown[]> => {
    const text = await cluster.command('tail', '--topic', topic, '--from', 'start', '--once', '--json');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { readonly record: unknown }).record);
  };
  const taken = async (request: string): Promise<readonly Outcome[]> =>
    ((await records('agent.approvals')) as readonly { readonly outcome: Outcome | null }[]).flatMap(({ outcome }) =>
      outcome !== null && outcome.request_id === request && outcome.not_taken === null ? [outcome] : [],
    );
  const ended = async (request: string): Promise<Ended> => {
    const all = await eventually(
      async () => ((await records('agent.responses')) as readonly Ended[]).filter((one) => one.request_id === request),
      (found) => found.length > 0,
    );
    expect(all).toHaveLength(1);
    return all[0] as Ended;
  };
  const ask = (request: string, group: string) =>
    send('runs', { question: 'Do it', group: [group], request_id: request, session_id: request });
  const kill = async (): Promise<void> => {
    executor.process.kill('SIGKILL');
    await executor.ended;
    executor = await cluster.start('executor');
  };

  // At once: the decision is on the log and perhaps judged; later: its outcome is on the log.
  it.each([0, 50, 3_000])(
    'with one of two approvals given, after %i ms: each counts once, and it runs once',
    async (ms) => {
      const request = `quorum-${ms}`;
      const before = effects.done.size;
      await ask(request, 'one');
      const [call] = await waiting(request, 1);
      const approve = (name: string) => ({ decisions: [{ ...call, decision: 'approve', decided_by: name }] });
      await send('approvals/decisions', approve('user:ann'));
      await sleep(ms);
      await kill();
      expect(effects.done.size).toBe(before);
      // Sent again, it is one approval still.
      await send('approvals/decisions', approve('user:ann'));
      await eventually(
        () => taken(request),
        (found) => found.length > 0,
      );
      await send('approvals/decisions', approve('user:bob'));
      expect((await ended(request)).history).toMatchObject([{ outcome: 'ok' }]);
      expect((await taken(request)).map(({ decided_by: by, still_needed: left }) => [by, left])).toEqual([
        ['user:ann', 1],
        ['user:bob', 0],
      ]);
      expect([...effects.done.values()].slice(before)).toEqual([1]);
    },
    240_000,
  );

  it.each([0, 50, 150, 400])(
    'within a batch, after %i ms: each is decided once, and no call runs twice',
    async (ms) => {
      const request = `batch-${ms}`;
      const before = effects.done.size;
      await ask(request, 'many');
      const calls = await waiting(request, callsOfTurn);
      const decisions = calls.map((call) => ({ ...call, decision: 'approve', decided_by: 'user:ann' }));
      await send('approvals/decisions', { decisions });
      await sleep(ms);
      await kill();
      const { history } = await ended(request);
      const ids = (await taken(request)).map(({ approval_id: id }) => id);
      expect(ids.toSorted()).toEqual(calls.map(({ approval_id: id }) => id).toSorted());
      const outcomes = history.map(({ outcome, reason }) => reason ?? outcome);
      // Of a call that was under way it is not known whether it was made: at most the one that the kill came upon.
      expect(outcomes.filter((one) => one !== 'ok' && one !== 'outcome_unknown')).toEqual([]);
      expect(outcomes.filter((one) => one === 'outcome_unknown').length).toBeLessThanOrEqual(1);
      const counts = [...effects.done.values()].slice(before);
      expect(counts.every((count) => count === 1)).toBe(true);
      expect(outcomes).toHaveLength(callsOfTurn);
      expect(counts.length).toBeGreaterThanOrEqual(outcomes.filter((one) => one === 'ok').length);
    },
    240_000,
  );
});
