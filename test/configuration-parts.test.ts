import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isPart, payloadBytes, topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import { createSignatures, createVerifier, readKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { openArchive } from '@sluice/archive';
import { verifyAudit } from '@sluice/audit';
import { everything, whatIf } from '@sluice/replay';
import type { Reconsidered } from '@sluice/replay';
import { run as configCommand } from '../apps/sluice/src/commands/config.js';
import { run as exportCommand } from '../apps/sluice/src/commands/export.js';
import { run as toolsCommand } from '../apps/sluice/src/commands/tools.js';
import { caughtUp } from './audit/auditing.js';
import { eventually } from './harness/eventually.js';
import { inProcess } from './harness/in-process.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

/** More than a record holds, however many are in it. */
const count = 500;
const words = 'What it does is said here at length. '.repeat(70);
const configuration = (changed = ''): string => {
  const lines = Array.from({ length: count }, (_, n) => {
    const text = n === 7 ? changed : '';
    return `  work-${n}: { type: get_current_time, description: "${n} ${words}${text}", group: [work] }`;
  });
  return `tool:\n${lines.join('\n')}\npolicy: { allowed_tools: ['*'] }\n`;
};

describe('a configuration with more tools than a record holds', () => {
  const model = new ScriptedModel(({ history }) =>
    history.length % 2 === 0 ? { calls: [['core__work-7', '{}']] } : { answer: 'Late.' },
  );
  let system: TestSystem;
  let keys: KeySet;
  const versions: string[] = [];
  const environment = () => system.embedded.runtime.environment;
  const records = async (): Promise<ConfigVersion[]> => (await system.all(topics.config)).map(({ record }) => record);
  const inForce = () => system.embedded.runtime.configurations.current().configuration;

  beforeAll(async () => {
    system = await startSystem(configuration(), model);
    keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
    versions.push(inForce().version);
    await system.ask({ requestId: 'first', group: ['work'] });
    await writeFile(system.configFile, configuration('And more.'));
    versions.push(
      await eventually(
        async () => inForce().version,
        (now) => now !== versions[0],
      ),
    );
    await system.ask({ requestId: 'second', group: ['work'] });
  });
  afterAll(() => system.close());

  it('is on the log as its parts and a record that names them; a changed description is one part more', async () => {
    const all = await records();
    const parts = all.filter(isPart);
    expect([parts.length, all.map(({ version }) => version).filter((one) => one.startsWith('c-'))]).toEqual([
      count + 1,
      versions,
    ]);
    expect(all.slice(count + 1).map(isPart)).toEqual([true, false]);
    expect(Math.max(...all.map((record) => payloadBytes(topics.config, record)))).toBeLessThan(100_000);
  });

  it('is what runs go by: the model is shown the tool as its version has it', async () => {
    expect(model.asked).toHaveLength(4);
    const shown = model.asked.map(({ tools }) => tools.find(({ id }) => id === 'core__work-7')?.description);
    expect(shown.map((text) => text?.endsWith('And more.'))).toEqual([false, false, true, true]);
    expect(model.asked[0]?.tools).toHaveLength(count);
  });

  it('is not written again at a restart', async () => {
    const before = (await records()).length;
    system = await system.restart();
    expect(inForce().version).toBe(versions[1]);
    expect(await records()).toHaveLength(before);
    expect(await system.metric('sluice_configuration_parts_missing')).toBe(0);
  });

  it('is shown, compared and searched by the command line as every other', async () => {
    const [before, after] = versions as [string, string];
    const listed = await inProcess(configCommand, environment(), 'list');
    expect(listed.output.split('\n').map((line) => line.split(' ')[0])).toEqual([before, after, '']);
    expect(listed.output).toMatch(new RegExp(`${after} .* in force\n$`));
    const { output: shown } = await inProcess(configCommand, environment(), 'show', before);
    expect((JSON.parse(shown) as { tools: unknown[] }).tools).toHaveLength(count);
    const { output: compared } = await inProcess(configCommand, environment(), 'diff', before);
    const paths = compared.split('\n').map((line) => /^[-+] ([\w.-]+): /.exec(line)?.[1]);
    expect(new Set(paths.filter((path) => path !== undefined && path !== 'version'))).not.toContain('tools.8');
    expect(compared).toContain('And more.');
    const hash = inForce().tools[7]?.spec?.schemaHash ?? '';
    const found = await inProcess(toolsCommand, environment(), '--hash', hash);
    // One that both versions have is said once, the changed one twice.
    expect(found.output.trim().split('\n')).toHaveLength(count + 1);
  });

  it('is replayed from the log and from an export alike, and compared with another', async () => {
    const fromLog = await replayed(system.bus, keys);
    expect(fromLog.length).toBeGreaterThan(6);
    expect(fromLog.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    const file = join(system.folder, 'one.sluice');
    expect((await inProcess(exportCommand, environment(), '--session', 'second', file)).code).toBe(0);
    const archive = await openArchive(file);
    const fromExport = await replayed(archive, keys);
    expect(fromExport.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(fromExport.length).toBe(fromLog.length / 2);
    const found: Reconsidered[] = [];
    const options = { selection: everything, authorizerOf, verifier: createVerifier(keys), onUndecodable: undecodable };
    const { evaluator: candidate } = await system.embedded.runtime.configurations.version(versions[0] ?? '');
    for await (const one of whatIf(archive, { ...options, candidate, signal: new AbortController().signal }))
      if (one.topic === 'agent.toolsets') found.push(one);
    expect(found.flatMap(({ changes }) => changes)).toEqual(
      Array.from({ length: 2 }, () => ({ kind: 'tools', gained: [], lost: [], altered: ['work-7'] })),
    );
  });

  it('has an entry in the audit for each part, which names one that is gone or changed', async () => {
    const report = await caughtUp(system.bus, createSignatures(keys));
    expect(report.findings).toEqual([]);
    const told = (await system.all(topics.audit)).map(({ record }) => record);
    expect(told.filter(({ kind }) => kind === 'configuration_part')).toHaveLength(count + 1);
    expect(JSON.parse(told.find(({ kind }) => kind === 'configuration')?.details ?? '')).toMatchObject({
      ...{ authentic: true, parts: count, parts_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const all = await system.all(topics.config);
    const [gone, other] = [3, 7].map((n) => all[n]?.record.version ?? '') as [string, string];
    const database = new DatabaseSync(join(system.folder, 'log.sqlite'));
    const ofConfig = `topic = (SELECT id FROM topics WHERE name = 'agent.config')`;
    database.exec(`DELETE FROM records WHERE ${ofConfig} AND offset = 3`);
    database.exec(
      `UPDATE records SET value = (SELECT value FROM records WHERE ${ofConfig} AND offset = 8) WHERE ${ofConfig} AND offset = 7`,
    );
    database.close();
    const { findings } = await verifyAudit(system.bus, { signatures: createSignatures(keys) });
    const about = (part: string, key: string) =>
      `It is part ${part} of configurations, the tool ${key}: without it those that name it cannot be read.`;
    expect(findings.map(({ kind, what }) => [kind, what])).toEqual([
      ['source_changed', about(other, 'work-7')],
      ['source_dropped', about(gone, 'work-3')],
    ]);
  });

  it('is not in force where parts are gone: services say how many, and the last whole one would be', async () => {
    const missing = await inProcess(configCommand, environment(), 'list');
    expect(missing.output).toMatch(
      new RegExp(`${versions[1]} .* waits: 1 of its ${count} parts are not on agent.config before it, such as p-`),
    );
    const before = (await records()).length;
    system = await system.restart();
    // The file is applied once more, which brings the part back.
    expect(inForce().version).toBe(versions[1]);
    expect((await records()).slice(before).map(isPart)).toEqual([true, false]);
    expect(await system.ask({ requestId: 'third', group: ['work'] })).toMatchObject({ kind: 'answer' });
  });
});
