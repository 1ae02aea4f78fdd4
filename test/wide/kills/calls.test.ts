import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { openSqliteBus } from '@sluice/bus';
import type { SqliteBus } from '@sluice/bus';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster, Role } from '../../cluster/cluster.js';
import { KafkaReader } from '../../cluster/reader.js';
import { projectRoot } from '../../harness/configurations.js';
import { eventually } from '../../harness/eventually.js';
import { startEffects } from '../../faults/parts/effects.ts';
import type { Effects } from '../../faults/parts/effects.ts';
import { sluice } from '../../harness/program.js';
import type { Program } from '../../harness/program.js';
import { startTimeout } from '../../infra/client.ts';

const configuration = (effects: string): string => `
tool: { act: { type: mcp-tool } }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
policy: { allowed_tools: [act] }
limits: { tool_seconds: 5 }
model: { provider: anthropic, name: not-asked }
`;
/** More commits than a call makes: where it is slow, its process makes others meanwhile, and has always a next one. */
const mostPassed = 10;
const requestOf = (id: string) => ({
  ...{ question: 'Go', request_id: id, session_id: id },
  call: { tool: 'mcp__effects__act', arguments: JSON.stringify({ run: id, turn: 0 }) },
});

interface OfRun {
  readonly request_id: string;
  readonly steps: readonly { readonly outcome: string; readonly reason: string | null }[];
}
interface Seen {
  readonly ends: readonly string[];
  readonly steps: readonly OfRun[];
}

const made = 'ok, done 1 times';
const unknown = ['outcome_unknown, done 0 times', 'outcome_unknown, done 1 times'] as const;

/**
 * Each run has one end and one step, and what it did was done once, or is said to be unknown. Returns what became of
 * each.
 */
function expectOnce(asked: readonly string[], { ends, steps }: Seen, { done }: Effects): ReadonlyMap<string, string> {
  expect([...ends].sort()).toEqual([...asked].sort());
  expect(steps.map((one) => one.request_id).sort()).toEqual([...asked].sort());
  const outcomes = new Map(
    steps.map(({ request_id: id, steps: [step] }) => [
      id,
      `${step?.reason ?? step?.outcome}, done ${done.get(`${id}/0`) ?? 0} times`,
    ]),
  );
  expect([...outcomes].filter(([, one]) => one !== made && one !== unknown[0] && one !== unknown[1])).toEqual([]);
  const ok = [...outcomes.values()].filter((one) => one === made).length;
  console.log(`${asked.length} calls: ${ok} made, ${asked.length - ok} unknown, ${done.size} effects`);
  return outcomes;
}

describe('kill -9 of the one process, while a call without a model is made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-calls-'));
  const data = join(folder, 'data');
  let effects: Effects;
  let seen: (what: string) => boolean = () => false;
  let bus: SqliteBus | undefined;
  let running: Program | undefined;
  beforeAll(async () => {
    effects = await startEffects((what) => seen(what));
    writeFileSync(join(folder, 'sluice.yaml'), configuration(effects.url));
  });
  afterAll(async () => {
    running?.process.kill('SIGKILL');
    await bus?.close();
    await effects.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (more: Readonly<Record<string, string>> = {}): Promise<Program> => {
    const variables = { SLUICE_DATA: data, SLUICE_CONFIG: join(folder, 'sluice.yaml'), ...more };
    running = sluice(['start'], variables);
    await running.says('It keeps serving');
    return running;
  };
  const killed = async (): Promise<void> => {
    running?.process.kill('SIGKILL');
    await running?.ended;
  };
  const call = async (id: string): Promise<void> => {
    bus ??= await openSqliteBus({
      file: join(data, 'log.sqlite'),
      clock: { now: () => Date.now() },
      instance: 'the test',
      processId: process.pid,
      isAlive: () => true,
    });
    await bus.appendRaw(topics.calls, id, Buffer.from(JSON.stringify(requestOf(id))), {});
  };
  const all = async <T extends 'agent.responses' | 'agent.steps' | 'agent.dead-letters'>(topic: T) => {
    const found = [];
    for await (const message of bus?.read([topic], { from: 'start' }) ?? []) found.push(message);
    return found;
  };

  /** What the process before left behind has ended, so that each moment is one of its own call. */
  const settled = (count: number) =>
    eventually(
      () => all('agent.responses'),
      ({ length }) => length >= count,
    );

  it('at each of its commits and flushes, and in the midst of the effect: one end, one step, one effect', async () => {
    const module = join(projectRoot, 'test/faults/embedded/crash-at-commit.mjs');
    const asked: string[] = [];
    // What keeps the first start's files apart from those of the moments.
    await start();
    await killed();
    /** Makes a call in a process that is killed at a moment of it; whether that came before the call had ended. */
    const diesIn = async (
      id: string,
      kill: (program: Program) => void,
      more: Readonly<Record<string, string>> = {},
    ): Promise<boolean> => {
      const program = await start(more);
      await settled(asked.length);
      asked.push(id);
      kill(program);
      await call(id);
      const died = await Promise.race([program.ended.then(() => true), settled(asked.length).then(() => false)]);
      await killed();
      return died;
    };
    for (const moment of ['effect begins', 'effect done']) {
      const died = await diesIn(moment, ({ process }) => {
        seen = (what) => what === moment && process.kill('SIGKILL');
      });
      expect([moment, died]).toEqual([moment, true]);
      seen = () => false;
    }
    // Until a call ends before its process comes to the next one: so each of its commits and flushes is among them.
    const points = ['log', 'ledger'].flatMap((file) => [`before-commit ${file}`, `after-commit ${file}`]);
    for (const point of [...points, 'before-flush any', 'after-flush any'])
      for (let nth = 1, died = true; died && nth <= mostPassed; nth++) {
        const more = { SLUICE_FAULT_CRASH: `${point} ${nth}`, NODE_OPTIONS: `--import=${module}` };
        died = await diesIn(`${point} ${nth}`, ({ process }) => process.kill('SIGUSR2'), more);
        if (nth === 1) expect([point, died]).toEqual([point, true]);
      }
    await start();
    await settled(asked.length);
    const ends = (await all('agent.responses')).map(({ record }) => record.requestId);
    const steps = (await all('agent.steps')).map(({ record }) => ({ ...record, request_id: record.requestId }));
    const outcomes = expectOnce(asked, { ends, steps }, effects);
    expect(['effect begins', 'effect done'].map((moment) => outcomes.get(moment))).toEqual(unknown);
    expect(await all('agent.dead-letters')).toEqual([]);
  }, 900_000);
});

describe('kill -9 of executors and filters, while calls without a model are made on Kafka', () => {
  let cluster: Cluster;
  let effects: Effects;
  let reader: KafkaReader;
  const running = new Map<Role, Program[]>();
  beforeAll(async () => {
    effects = await startEffects(() => false);
    cluster = await openCluster(configuration(effects.url));
    reader = await KafkaReader.open(cluster);
    for (const role of ['filter', 'executor'] as const)
      running.set(role, await Promise.all([cluster.start(role), cluster.start(role)]));
  }, 2 * startTimeout);
  afterAll(async () => {
    await reader?.close();
    await cluster?.close();
    await effects?.close();
  }, 60_000);

  const records = async (topic: string): Promise<readonly OfRun[]> => {
    const text = await cluster.command('tail', '--topic', topic, '--from', 'start', '--once', '--json');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { readonly record: OfRun }).record);
  };

  it('again and again: one end, one step, one effect', async () => {
    const asked: string[] = [];
    const asking = (async () => {
      for (let n = 0; n < 120; n++) {
        asked.push(`call-${n}`);
        await reader.publishJson([requestOf(`call-${n}`)]);
        await sleep(200);
      }
    })();
    for (const role of ['executor', 'filter', 'executor', 'executor', 'filter'] as const) {
      await sleep(1_500);
      const [first, ...rest] = running.get(role) ?? [];
      first?.process.kill('SIGKILL');
      await first?.ended;
      running.set(role, [...rest, await cluster.start(role)]);
    }
    await asking;
    await reader.until(() => asked.every((id) => reader.ended.has(id)), 120_000);
    const ends = (await records('agent.responses')).map((one) => one.request_id);
    expectOnce(asked, { ends, steps: await records('agent.steps') }, effects);
    expect(await records('agent.dead-letters')).toEqual([]);
  }, 300_000);
});
