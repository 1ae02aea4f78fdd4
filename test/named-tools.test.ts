import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import { payloadBytes } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import { readKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import type { Reconsidered } from '@sluice/replay';
import { run as toolsCommand } from '../apps/sluice/src/commands/tools.js';
import { caughtUp } from './audit/auditing.js';
import { inProcess } from './harness/in-process.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

/** Tools that are offered, and as many less that are hidden. */
const offered = 1_000;
const hidden = 40;
const keysOf = (count: number, name: string): string[] => Array.from({ length: count }, (_, n) => `${name}-${n}`);
const lines = [...keysOf(offered, 'work'), ...keysOf(hidden, 'other')].map((key) => {
  const [group] = key.split('-');
  return `  ${key}: { type: get_current_time, description: "Tells the time for ${key}.", group: [${group}] }`;
});
const configuration = `tool:\n${lines.join('\n')}\npolicy: { allowed_tools: ['*'] }\n`;

/** Two turns that call a tool, and one that answers. */
const turns = 3;
const model = new ScriptedModel(({ history }) =>
  history.length < turns - 1 ? { calls: [['core__work-7', '{}']] } : { answer: 'Late.' },
);

describe('a thousand tools, of a filter that writes them out and then of one that names them', () => {
  let system: TestSystem;
  let keys: KeySet;
  beforeAll(async () => {
    const former = await startSystem(configuration, model, undefined, { toolsets: 'whole' });
    await former.ask({ requestId: 'whole', group: ['work'] });
    await former.embedded.close();
    system = await startSystem(configuration, model, former.folder);
    await system.ask({ requestId: 'named', group: ['work'] });
    keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
  });
  afterAll(() => system.close());
  const toolsets = async (requestId: string): Promise<Toolset[]> =>
    (await system.all('agent.toolsets')).map(({ record }) => record).filter((one) => one.requestId === requestId);

  it('has all texts in each record with SLUICE_TOOLSETS=whole, as former versions read them', async () => {
    const found = await toolsets('whole');
    expect(found.map(({ list, tools }) => [list, tools.length])).toEqual(
      Array.from({ length: turns }, () => [null, offered]),
    );
    expect(found[2]?.tools[7]).toMatchObject({ description: 'Tells the time for work-7.', key: 'work-7' });
    const [call] = await system.all('agent.tool-calls');
    expect([call?.record.list, call?.record.offered.length]).toEqual([null, offered]);
    // A former version reads signatures of this form alone.
    for (const { record } of await system.all('agent.toolsets', 'agent.tool-calls', 'agent.steps'))
      if (record.requestId === 'whole')
        expect(record.recordSignature).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+(~\d+~[\w-]*~[\w-]+)?$/);
  });

  it('is a few kilobytes a record without, and the model is asked the same', async () => {
    const found = await toolsets('named');
    expect(found.map(({ list, tools }) => [list?.since, list?.indexes, tools.length])).toEqual(
      Array.from({ length: turns }, () => [1, [0, offered], 0]),
    );
    for (const { topic, record } of await system.all('agent.toolsets', 'agent.tool-calls', 'agent.steps'))
      if (record.requestId === 'named') expect(payloadBytes(topic, record)).toBeLessThan(3_000);
    const [whole, named] = [model.asked[0], model.asked[turns]];
    expect(named?.tools).toHaveLength(offered);
    expect(named?.tools).toEqual(whole?.tools);
  });

  it('is replayed to the byte, also where only what is about one tool is asked for', async () => {
    const all = await replayed(system.bus, keys);
    expect(all.map(({ outcome }) => outcome.kind)).toEqual(all.map(() => 'equal'));
    expect(all.length).toBeGreaterThan(2 * (turns + turns - 1 + turns - 1));
    const about = async (tool: string): Promise<number> => {
      const some = await replayed(system.bus, keys, { tool: [tool] });
      return some.filter(({ topic }) => topic === 'agent.toolsets').length;
    };
    // Offered, hidden, and no tool at all.
    expect([await about('work-900'), await about('other-3'), await about('other-40')]).toEqual([
      2 * turns,
      2 * turns,
      0,
    ]);
  });

  it('is in the audit, which finds every record as it was signed', async () => {
    const report = await caughtUp(system.bus, system.embedded.runtime.signatures);
    expect(report.findings).toEqual([]);
  });

  it('would be offered less under a configuration without one of them', async () => {
    const current = system.embedded.runtime.configurations.current().configuration;
    const candidate = { ...current, tools: current.tools.filter(({ key }) => key !== 'work-7') };
    const found: Reconsidered[] = [];
    for await (const one of whatIf(system.bus, {
      candidate: compileEvaluator(candidate),
      selection: everything,
      ...{ authorizerOf, verifier: system.embedded.runtime.signatures, signal: new AbortController().signal },
      onUndecodable: undecodable,
    }))
      if (one.topic === 'agent.toolsets') found.push(one);
    expect(found.map(({ changes, notReplayable }) => [changes, notReplayable])).toEqual(
      Array.from({ length: 2 * turns }, () => [[{ kind: 'tools', gained: [], lost: ['work-7'], altered: [] }], null]),
    );
  });

  it('says with sluice tools --hash what a tool of a record takes', async () => {
    const { environment, configurations } = system.embedded.runtime;
    const tool = configurations.current().configuration.tools[7];
    const hash = tool?.spec?.schemaHash ?? '';
    const { code, output } = await inProcess(toolsCommand, environment, '--hash', hash);
    const said = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect([code, said.length]).toEqual([0, offered + hidden]);
    expect(said[7]).toEqual({
      ...{ config_version: configurations.current().configuration.version, id: 'core__work-7', key: 'work-7' },
      ...{ description: 'Tells the time for work-7.', effect: 'read_only', schema_hash: hash },
      input_schema: tool?.spec?.inputSchema,
    });
    const file = await inProcess(toolsCommand, environment, '--hash', hash, '--config', system.configFile);
    expect([file.code, file.output.split('\n').length]).toEqual([0, offered + hidden + 1]);
    expect(await inProcess(toolsCommand, environment, '--hash', 'none')).toEqual({
      ...{ code: 1, output: expect.stringMatching(/^No tool of these configurations has a schema of this hash\./) },
    });
    await expect(inProcess(toolsCommand, environment, 'docs', 'x', '--hash', hash)).rejects.toThrow(
      'with --config or --request alone',
    );
  });
});
