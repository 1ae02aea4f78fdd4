import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { calls } from '../../harness/configurations.js';
import { eventually } from '../../harness/eventually.js';
import { sluice } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { Script } from '../../harness/scripted-endpoint.js';
import { lookupId, review, rows, withConfidence } from '../../harness/with-confidence.js';
import { ids, step, withPlans } from '../../harness/with-plans.js';

const workflow = [step(calls.query), step(calls.update), step(calls.analysis), step(calls.reset)];

/** A lookup that finds nothing, is made again and then let pass; and the steps with an effect, which are made once. */
const measured = [
  step([lookupId, rows(0)], { retries: 1 }),
  step(calls.query, { confidence: 0 }),
  step(calls.update),
  step(calls.reset),
];

describe('kill -9 of a process whose run works by a plan', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-plan-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('at each of its points changes nothing in the outcome: each step runs once, in order', async () => {
    // Asked for the answer, a model is offered no tools.
    const script: Script = (_, offered) =>
      offered.includes(ids.plan) ? [ids.plan, JSON.stringify({ steps: workflow })] : undefined;
    const history = await killedAtEachPoint(folder, withPlans({ limits }), script);
    expect(history).toEqual(
      ['make-plan', 'knowledge-query', 'graph-update', 'complex-analysis', 'reset-workflow'].map((key) => [key, 'ok']),
    );
  }, 1_200_000);

  it('at each point of a retry and of an override neither: what was measured and decided stands on the log', async () => {
    const script: Script = (turn, offered) => {
      if (offered.includes(lookupId)) return [lookupId, rows(0)];
      if (!offered.includes(ids.plan)) return undefined;
      return [ids.plan, turn === 0 ? JSON.stringify({ steps: measured }) : review({ decision: 'accept' })];
    };
    const given = withConfidence({ limits, confidence: '{ simplify: false }' });
    const history = await killedAtEachPoint(folder, withPlans(given), script);
    expect(history).toEqual(
      ['make-plan', 'lookup', 'lookup', 'make-plan', 'knowledge-query', 'graph-update', 'reset-workflow'].map((key) => [
        ...[key, 'ok'],
      ]),
    );
  }, 1_200_000);
});

const limits = 'limits: { run_seconds: 3600, tool_seconds: 2 }';

/**
 * The steps of a run whose process is killed at each of its points, with their outcomes; and that its effects came
 * once, and replay the same.
 */
async function killedAtEachPoint(folder: string, configuration: string, script: Script): Promise<unknown[]> {
  const endpoint = await scriptedEndpoint(script, 30);
  const config = join(folder, 'sluice.yaml');
  const journal = join(folder, 'resets');
  writeFileSync(
    config,
    `${configuration.replace('server.mjs"]', `server.mjs", --journal, "${journal}"]`)}
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
`,
  );
  const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };
  const records = (): number => counted(folder, loop);
  let kills = 0;
  const points = new Set<number>();
  try {
    const asked = sluice(['ask', 'Do it all', '--group', '*', '--request', 'killed'], variables);
    await asked.says('Iteration 1');
    asked.process.kill('SIGKILL');
    await asked.ended;
    kills++;
    // Each start comes a record or two further, and is killed there.
    for (let round = 0; round < 40 && counted(folder, ['agent.responses']) === 0; round++) {
      const before = records();
      points.add(before);
      const system = sluice(['start'], variables);
      await eventually(
        () => Promise.resolve([records(), counted(folder, ['agent.responses'])] as const),
        ([now, ended]) => now > before || ended > 0,
      );
      system.process.kill('SIGKILL');
      await system.ended;
      kills++;
    }
  } finally {
    await endpoint.close();
  }
  expect([kills > 3, points.size > 3]).toEqual([true, true]);
  const args = ['tail', '--topic', 'agent.responses', '--from', 'start', '--once', '--json'];
  const lines = (await sluice(args, variables).ended).output.trim().split('\n');
  expect(lines).toHaveLength(1);
  const { record: response } = JSON.parse(lines[0] ?? '') as {
    record: { answer: string; history: { action: string; outcome: string }[] };
  };
  expect(response.answer).toBe('All is done.');
  expect(new Set(readFileSync(journal, 'utf8').trim().split('\n')).size).toBe(1);
  const graph = new DatabaseSync(join(folder, 'data/graph.sqlite'), { readOnly: true });
  expect(graph.prepare('SELECT key FROM change').all()).toHaveLength(1);
  graph.close();
  const again = await sluice(['replay'], variables).ended;
  expect([again.code, again.output]).toEqual([0, expect.stringContaining('turn')]);
  return response.history.map(({ action, outcome }) => [action, outcome]);
}

const loop = ['agent.toolsets', 'agent.tool-calls', 'agent.steps'];

/** Records of these topics, seen without disturbing whoever writes them. */
function counted(folder: string, topics: readonly string[]): number {
  const log = new DatabaseSync(join(folder, 'data/log.sqlite'), { readOnly: true, timeout: 10_000 });
  try {
    const names = topics.map((name) => `'${name}'`).join(', ');
    const { count } = log.prepare(`SELECT sum(next_offset) AS count FROM topics WHERE name IN (${names})`).get() as {
      count: number | null;
    };
    return count ?? 0;
  } finally {
    log.close();
  }
}
