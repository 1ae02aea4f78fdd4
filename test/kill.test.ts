import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { sluice } from './harness/program.js';
import { scriptedEndpoint } from './harness/scripted-endpoint.js';

/** A small seeded generator, so that a failing run can be had again. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('kill -9 of the process', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('at any moment, again and again: the run ends as it would have ended, each effect done once', async () => {
    const seed = Number(process.env['SLUICE_SEED'] ?? Math.floor(Math.random() * 1e9));
    console.log(`seed ${seed}: SLUICE_SEED=${seed} npm test -- test/kill repeats it`);
    const random = seeded(seed);

    const updates = 8;
    const update = (n: number) =>
      [
        ids.update,
        JSON.stringify({ add: [{ subject: `thing ${n}`, predicate: 'is', object: `number ${n}` }] }),
      ] as const;
    const script = [calls.query, ...Array.from({ length: updates }, (_, n) => update(n)), calls.analysis, calls.reset];
    const endpoint = await scriptedEndpoint(script, 60);
    const journal = join(folder, 'resets');
    const config = join(folder, 'sluice.yaml');
    writeFileSync(
      config,
      `${workflowConfiguration({ limits: 'limits: { max_iterations: 50, tool_seconds: 2 }' }).replace('server.mjs"]', `server.mjs", --journal, "${journal}"]`)}
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }
`,
    );
    const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };

    let kills = 0;
    try {
      const asked = sluice(['ask', 'Do it all', '--group', '*', '--request', 'killed'], variables);
      await asked.says('Iteration 1');
      await new Promise((resolve) => setTimeout(resolve, 400 * random()));
      asked.process.kill('SIGKILL');
      let ended = (await asked.ended).code === 0;
      kills += ended ? 0 : 1;

      for (let round = 0; !ended && round < 30; round++) {
        const system = sluice(['start'], variables);
        await system.says('It keeps serving');
        await responseIn(folder, round < 4 ? 80 + 500 * random() : 5_000);
        system.process.kill('SIGKILL');
        await system.ended;
        kills++;
        ended = (await tail(['agent.responses'], variables)).length > 0;
      }
    } finally {
      await endpoint.close();
    }

    expect(kills).toBeGreaterThan(1);
    const responses = await tail(['agent.responses'], variables);
    expect(responses).toHaveLength(1);
    const { history, kind, answer, state } = responses[0]?.record as {
      history: Record<string, unknown>[];
      kind: string;
      answer: string;
      state: string;
    };
    expect({ kind, answer, state }).toEqual({ kind: 'answer', answer: 'All is done.', state: 'undefined' });
    expect(history.map((step) => [step['iteration'], step['action'], step['outcome']])).toEqual(
      ['knowledge-query', ...Array<string>(updates).fill('graph-update'), 'complex-analysis', 'reset-workflow'].map(
        (action, index) => [index + 1, action, 'ok'],
      ),
    );

    const graph = new DatabaseSync(join(folder, 'data/graph.sqlite'), { readOnly: true });
    const changes = graph.prepare('SELECT key, entry FROM change').all() as { entry: string }[];
    graph.close();
    expect(changes).toHaveLength(updates);
    expect(new Set(readFileSync(journal, 'utf8').trim().split('\n')).size).toBe(1);

    const steps = await tail(['agent.steps'], variables);
    expect(steps.map(({ record }) => (record as { iteration: number }).iteration)).toEqual(
      script.map((_, index) => index + 1),
    );
  }, 600_000);

  it('in the middle of the sample: the next start ends that run and says whether it is right', async () => {
    const variables = { SLUICE_DATA: join(folder, 'data') };
    const first = sluice(['start'], variables);
    await first.says('Iteration 2');
    first.process.kill('SIGKILL');
    await first.ended;

    const again = await sluice(['start', '--once'], variables).ended;
    expect(again.output).toContain('The answer is right');
    expect(again.code).toBe(0);
    const requests = await tail(['agent.requests'], variables);
    const ends = await tail(['agent.responses'], variables);
    expect(requests).toHaveLength(1);
    expect(ends.map(({ key }) => key)).toEqual(requests.map(({ key }) => key));
  });
});

interface Line {
  readonly key: string;
  readonly record: Record<string, unknown>;
}

async function tail(topics: readonly string[], variables: Readonly<Record<string, string>>): Promise<Line[]> {
  const { code, output, errors } = await sluice(
    ['tail', '--topic', topics.join(','), '--from', 'start', '--once', '--json'],
    variables,
  ).ended;
  if (code !== 0) throw new Error(`sluice tail ended with ${code}: ${errors}`);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/**
 * Waits for the end of the run, seen in the log file without disturbing whoever writes it, for so many milliseconds
 * at most.
 */
async function responseIn(folder: string, patienceMs: number): Promise<void> {
  for (const until = Date.now() + patienceMs; Date.now() < until;) {
    if (readFileSync(join(folder, 'data/sluice.log'), 'utf8').includes('"execution_time"')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
