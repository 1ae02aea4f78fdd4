import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const script = join(projectRoot, 'libs/hub/test/mcp-servers/hostile.mjs');
const work = ['mcp__hostile__work', '{}'] as const;
const change = ['mcp__hostile__change', '{}'] as const;
const time = ['core__get_current_time', '{}'] as const;

function configuration(fault: string, effect = 'read_only'): string {
  return `
tool:
  get_current_time: { type: get_current_time }
  work: { type: mcp-tool, timeout_seconds: 4 }
  change: { type: mcp-tool, timeout_seconds: 4 }
policy: { allowed_tools: [get_current_time, work, change] }
mcp:
  servers:
    hostile: { command: node, args: ["${script}", ${fault}], timeout_seconds: 3 }
  tools:
    work: { server: hostile, tool: work, effect: ${effect}, redaction: whole }
    change: { server: hostile, tool: change, effect: read_only, redaction: whole }
`;
}

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

describe('a hostile MCP server in the whole loop: its call is a step with its code, and the run goes on', () => {
  it.each([
    ['never answers', 'never-answers', 'read_only', 'execution', 'timeout'],
    [
      'never answers, and may have done something',
      'never-answers',
      'external_side_effect',
      'execution',
      'outcome_unknown',
    ],
    ['answers with a gigabyte', 'gigabyte', 'read_only', 'execution', null],
    ['writes garbage and no answer', 'garbage', 'read_only', 'execution', 'timeout'],
    ['ends in the middle', 'dies', 'external_side_effect', 'execution', 'outcome_unknown'],
    ['answers 500,000 levels deep', 'deep-result', 'read_only', 'validation', 'output_invalid'],
    ['floods us', 'floods-notifications', 'read_only', 'execution', null],
  ])('%s', async (_, fault, effect, outcome, reason) => {
    const model = new ScriptedModel(inOrder({ calls: [work] }, { calls: [time] }));
    system = await startSystem(configuration(fault, effect), model);
    const response = await system.ask({});
    // On a busy machine the call's time is up before the flood is over its limit.
    const reasonOf = (given: string | null) => (fault.startsWith('floods') && given === 'timeout' ? null : given);
    expect(response.history.map((step) => [step.action, step.outcome, reasonOf(step.reason)])).toEqual([
      ['work', outcome, reason],
      ['get_current_time', 'ok', null],
    ]);
    expect(await system.all('agent.dead-letters')).toEqual([]);
  });
});

describe('a server that changes its tools in mid-run (T-21c, K-58, K-60)', () => {
  it('has the changed one held back and reported, until an operator saves the configuration', async () => {
    const model = new ScriptedModel(
      inOrder({ calls: [work] }, { calls: [change] }, { calls: [work] }, { calls: [time] }),
    );
    const running = (system = await startSystem(configuration('changes'), model));
    const response = await running.ask({ requestId: 'mid-run' });
    expect(response.history.map((step) => [step.action, step.outcome])).toEqual([
      ['work', 'ok'],
      ['change', 'ok'],
      ['work', 'unavailable'],
      ['get_current_time', 'ok'],
    ]);
    // Called before the configuration has followed it is held back by its pin, and not offered any more afterwards.
    expect(['held_back', 'not_bound']).toContain(response.history[2]?.reason);

    const tool = () => running.embedded.runtime.configurations.current().evaluator.tool('work');
    await eventually(tool, (now) => now?.spec === null);
    expect(tool()?.unavailable).toMatch(/changed the description or the schema of "work" since it was allowed/);
    const before = JSON.stringify(model.asked);
    expect(before).not.toContain('sends me your files');
    await running.ask({ requestId: 'after' });
    const [toolset] = (await running.all('agent.toolsets')).filter(({ record }) => record.requestId === 'after');
    expect(toolset?.record.hidden).toContainEqual({ key: 'work', reasons: ['unavailable'] });
    const lines = JSON.stringify(await running.lines());
    expect(lines).toMatch(/changed its tool .{1,4}work/);
    expect(lines).toMatch(/MCP tools are held back/);

    await utimes(running.configFile, new Date(), new Date());
    await eventually(tool, (now) => now?.spec !== null);
    expect(tool()?.spec?.description).toBe('Works, and sends me your files.');
    expect((await running.ask({ requestId: 'taken-up' })).history[0]).toMatchObject({ action: 'work', outcome: 'ok' });
  });
});

describe('a server that changes its tools while another one is away', () => {
  it('says nothing about the other: its tools are offered, and work again once it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'away-'));
    const needed = join(folder, 'needed');
    writeFileSync(needed, '');
    const other = join(projectRoot, 'libs/hub/test/mcp-servers/scripted.mjs');
    const both = configuration('changes')
      .replace('policy: {', '  die: { type: mcp-tool }\n  words: { type: mcp-tool }\npolicy: {')
      .replace('work, change]', 'work, change, die, words]')
      .replace('  servers:\n', `  servers:\n    other: { command: node, args: ["${other}", --needs, "${needed}"] }\n`)
      .concat('    die: { server: other, tool: die, effect: read_only, redaction: whole }\n')
      .concat('    words: { server: other, tool: words, effect: read_only, redaction: whole }\n');
    const die = ['mcp__other__die', '{}'] as const;
    const words = ['mcp__other__words', '{}'] as const;
    const model = new ScriptedModel(inOrder({ calls: [die] }, { calls: [change] }));
    const running = (system = await startSystem(both, model));
    const tool = (key: string) => running.embedded.runtime.configurations.current().evaluator.tool(key);

    rmSync(needed);
    const { history } = await running.ask({ requestId: 'both' });
    expect(history.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['die', 'execution'],
      ['change', 'ok'],
    ]);
    // That it is held back shows that everything was compiled again.
    await eventually(
      () => tool('work'),
      (now) => now?.spec === null,
    );
    expect(['die', 'words'].map((key) => tool(key)?.unavailable)).toEqual([null, null]);

    model.script = inOrder({ calls: [words] });
    expect((await running.ask({ requestId: 'away' })).history).toMatchObject([
      { action: 'words', outcome: 'unavailable' },
    ]);
    writeFileSync(needed, '');
    await eventually(
      async () => (await running.ask({})).history[0]?.outcome,
      (outcome) => outcome === 'ok',
    );
    rmSync(folder, { recursive: true });
  });
});
