import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../harness/eventually.js';
import { sluice } from '../../harness/program.js';
import { scriptedParallelEndpoint } from '../../harness/scripted-endpoint.js';
import { ids, research, withSupervisor } from '../../harness/with-supervisor.js';

const loop = ['agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses'];
const questions = ['One?', 'Two?', 'Three?'];

describe('kill -9 of a process whose supervisor’s agents run side by side', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-fan-out-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('at each of its points changes nothing in the outcome: each agent runs once, and all results come back', async () => {
    // The supervisor calls all in its first turn; each agent makes one call, and answers.
    const endpoint = await scriptedParallelEndpoint((turn, offered) => {
      if (turn > 0) return [];
      return offered.includes(ids.research) ? questions.map(research) : [[ids.now, '{}']];
    }, 30);
    const config = join(folder, 'sluice.yaml');
    writeFileSync(
      config,
      withSupervisor({
        limits: 'limits: { run_seconds: 3600 }',
        entry: 'timeout_seconds: 3000',
        model: `model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}" }`,
      }),
    );
    const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };
    const records = (): number => counted(folder, loop);
    let kills = 0;
    const points = new Set<number>();
    const isOver = (): boolean => responsesOf(folder) > questions.length;
    try {
      const asked = sluice(['ask', 'Do it all', '--group', 'helpers', '--request', 'killed'], variables);
      await asked.says('Iteration 1');
      asked.process.kill('SIGKILL');
      await asked.ended;
      kills++;
      // Each start comes a record or two further, and is killed there.
      for (let round = 0; round < 40 && !isOver(); round++) {
        const before = records();
        points.add(before);
        const system = sluice(['start'], variables);
        await eventually(
          () => Promise.resolve([records(), isOver()] as const),
          ([now, over]) => now > before || over,
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
    const ends = lines.map(
      (line) =>
        (
          JSON.parse(line) as {
            record: {
              request_id: string;
              answer: string;
              history: { action: string; outcome: string; arguments: string }[];
            };
          }
        ).record,
    );
    // One end of each agent’s run, and then the supervisor’s.
    expect(ends).toHaveLength(4);
    expect(new Set(ends.map((end) => end.request_id)).size).toBe(4);
    const last = ends.at(-1);
    expect([last?.request_id, last?.answer]).toEqual(['killed', 'All is done.']);
    expect(last?.history.map(({ action, outcome, arguments: text }) => [action, outcome, text])).toEqual(
      questions.map((question) => ['research', 'ok', JSON.stringify({ question })]),
    );
    for (const child of ends.slice(0, -1))
      expect(child.history.map(({ action, outcome }) => [action, outcome])).toEqual([['now', 'ok']]);
    const again = await sluice(['replay'], variables).ended;
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('agent begun')]);
  }, 1_200_000);
});

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

function responsesOf(folder: string): number {
  return counted(folder, ['agent.responses']);
}
