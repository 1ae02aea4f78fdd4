import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import type { TurnModel } from '@sluice/contracts';
import { run as listRuns } from '../apps/sluice/src/commands/runs.js';
import { run as tokens } from '../apps/sluice/src/commands/tokens.js';
import { eventually } from './harness/eventually.js';
import { inProcess } from './harness/in-process.js';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = `
tool:
  read_file: { type: read_file, group: [files] }
  file_exists: { type: file_exists, group: [files] }
  helper: { type: agent, group: [files], agent: { group: [help] } }
  get_current_time: { type: get_current_time, group: [help] }
agents: { default: { description_mode: deferred } }
policy: { allowed_tools: ['*'], allowed_agents: ['*'], approval: { none: it is a test } }
`;

/**
 * Reads the page of file_exists, calls it, hands the rest to the helper, who asks for the time; the helper answers
 * first.
 */
class Scripted implements Model {
  readonly name = 'scripted';

  turn({ history, question }: ModelRequest): Promise<ModelTurn> {
    const calls: readonly (readonly [string, object])[] =
      question === 'What time is it?'
        ? [['core__get_current_time', {}]]
        : [
            ['core__read_file', { path: 'tools/file_exists.md' }],
            ['core__file_exists', { path: 'a.md' }],
            ['core__helper', { question: 'What time is it?' }],
          ];
    const [tool, args] = calls[history.length] ?? [];
    const turn = { thought: '', inputTokens: 100, outputTokens: 10 };
    if (tool === undefined) return Promise.resolve({ ...turn, calls: [], answer: 'Done.' });
    const call = { toolCallId: `call-${history.length}`, tool, arguments: JSON.stringify(args) };
    return Promise.resolve({ ...turn, calls: [call], answer: null });
  }
}

describe('what the prompts of a run were made of', () => {
  let system: TestSystem;
  let requestId: string;
  beforeAll(async () => {
    system = await startSystem(configuration, new Scripted());
    ({ requestId } = await system.ask({ group: ['files'], question: 'What is there?' }));
  });
  afterAll(() => system.close());

  /** As the turns say it, one by one. */
  async function turnsOf(isOwn: (requestId: string) => boolean): Promise<readonly TurnModel[]> {
    const records = (await system.all('agent.tool-calls', 'agent.responses')).map(({ record }) => record);
    return records.flatMap((record) => (isOwn(record.requestId) ? (record.model ?? []) : []));
  }
  const sum = (turns: readonly TurnModel[], part: 'definitionTokens' | 'resultTokens' | 'otherTokens'): number =>
    turns.reduce((all, turn) => all + (turn[part] ?? Number.NaN), 0);
  const parts = (turns: readonly TurnModel[]) => ({
    definitionTokens: sum(turns, 'definitionTokens'),
    resultTokens: sum(turns, 'resultTokens'),
    otherTokens: sum(turns, 'otherTokens'),
  });

  it('is on the record of its end, with that of the agents that it called (D-30)', async () => {
    const { run, history } = await system.responseOf(requestId);
    const [own, all] = [await turnsOf((id) => id === requestId), await turnsOf(() => true)];
    expect([own.length, all.length]).toEqual([4, 6]);
    expect(run).toMatchObject({ inputTokens: 600, outputTokens: 60, ...parts(all) });
    expect(history.at(-1)?.agentRun).toMatchObject({
      inputTokens: 200,
      ...parts(await turnsOf((id) => id !== requestId)),
    });
    expect(run?.definitionTokens).toBeGreaterThan(500);
  });

  it('is in the audit’s entry of its end, in the list of runs, and summed up by sluice tokens', async () => {
    const { definitionTokens, resultTokens, otherTokens } = parts(await turnsOf(() => true));
    const { environment } = system.embedded.runtime;
    const { output } = await inProcess(listRuns, environment, '--json');
    const listed = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { request_id: string; tokens: object });
    expect(listed.find((one) => one.request_id === requestId)?.tokens).toEqual({
      ...{ input: 600, output: 60 },
      ...{ definitions: definitionTokens, results: resultTokens, other: otherTokens },
    });
    const words = (await inProcess(listRuns, environment)).output;
    expect(words).toContain(
      `600 tokens read and 60 written, prompts of ${definitionTokens.toLocaleString('en-US')} for definitions`,
    );
    const table = (await inProcess(tokens, environment, '--runs')).output;
    expect(table).toMatch(/^run +turns +definitions +results +rest +read +written\n/);
    const { runs, total } = JSON.parse((await inProcess(tokens, environment, '--runs', '--json')).output) as {
      runs: { request_id: string; definitions: number; input: number }[];
      total: { definitions: number; input: number };
    };
    expect(runs.find((one) => one.request_id === requestId)).toMatchObject({
      definitions: definitionTokens,
      input: 600,
    });
    expect(total.input).toBe(runs.reduce((all, one) => all + one.input, 0));
    await expect(inProcess(tokens, environment, '--runs', '--limit', '0')).rejects.toThrow('--limit');
    const ended = await eventually(
      async () =>
        (await system.all('agent.audit')).find(
          ({ record }) => record.kind === 'run_ended' && record.requestId === requestId,
        ),
      (entry) => entry !== undefined,
    );
    expect(JSON.parse(ended?.record.details ?? '{}')).toMatchObject({
      prompt_tokens: { definitions: definitionTokens, results: resultTokens, other: otherTokens },
    });
  });

  it('is derived again by a replay', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('counts first uses of deferred tools, with their pages read and unread', async () => {
    const uses = (documentation: string) => system.metric('sluice_deferred_first_uses_total', { documentation });
    expect(await uses('read')).toBe(1);
    // The helper is called without its page, and is sent its own tools in full.
    expect(await uses('unread')).toBe(1);
  });
});
