import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelRequest } from '@sluice/core';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { readEnvironment } from '@sluice/host';
import { until } from '../libs/hub/test/waiting.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';

const tools = ['write_file', 'append_file', 'read_file', 'list_files', 'add_todo', 'list_todos', 'archive_and_reset'];
const configuration = `
tool:
${tools.map((type) => `  ${type}: { type: ${type} }`).join('\n')}
policy:
  allowed_tools: ["*"]
`;

/** One call a turn. */
const calling = (...calls: readonly (readonly [type: string, args: object])[]): ((request: ModelRequest) => Said) =>
  inOrder(...calls.map(([type, args]) => ({ calls: [[`core__${type}`, JSON.stringify(args)] as const] })));

describe('the packs that keep something, through the running services', () => {
  const model = new ScriptedModel(() => ({ answer: '' }));
  let system: TestSystem;
  beforeAll(async () => void (system = await startSystem(configuration, model)));
  afterAll(() => system.close());

  /** What the calls of a run in the session gave. */
  async function observed(sessionId: string, script: (request: ModelRequest) => Said): Promise<unknown[]> {
    model.script = script;
    const { requestId } = await system.ask({ sessionId });
    const steps = await system.all('agent.steps');
    return steps
      .filter(({ record }) => record.requestId === requestId)
      .flatMap(({ record }) => record.steps)
      .map(({ outcome, observation }) => (outcome === 'ok' ? JSON.parse(observation) : [outcome, observation]));
  }

  it('keep a session’s files and tasks over its runs and over a restart (XB-18)', async () => {
    const written = await observed(
      'one',
      calling(['write_file', { path: 'a.md', text: 'one' }], ['add_todo', { task: 'Go on' }]),
    );
    expect(written).toEqual([
      { size: 3, created: true },
      { id: 1, task: 'Go on', priority: 'medium', status: 'pending' },
    ]);
    system = await system.restart();
    const read = await observed('one', calling(['append_file', { path: 'a.md', text: ', two' }], ['list_todos', {}]));
    expect(read).toMatchObject([{ size: 8 }, { total: 1, todos: [{ task: 'Go on' }] }]);
    expect(await observed('one', calling(['read_file', { path: 'a.md' }]))).toMatchObject([{ text: 'one, two' }]);
  });

  it('show a session nothing of another', async () => {
    const seen = await observed('two', calling(['list_files', {}], ['list_todos', {}]));
    expect(seen).toEqual([
      { entries: [], total: 0 },
      { todos: [], total: 0, archives: 0 },
    ]);
  });

  it('give refusals to the model as steps, and nothing is written (XB-33)', async () => {
    const refused = await observed(
      'three',
      calling(
        ['write_file', { path: '../a.md', text: 'x' }],
        ['write_file', { path: 'a.md', text: 'x'.repeat(9_000) }],
        ['write_file', { path: 'a.md' }],
        ['archive_and_reset', {}],
      ),
    );
    expect(refused).toEqual([
      ['execution', expect.stringMatching(/leads upwards/)],
      ['validation', expect.stringMatching(/8192|8,192/)],
      ['validation', expect.stringMatching(/\/text: is required/)],
      ['execution', expect.stringMatching(/nothing to archive/)],
    ]);
    expect(readdirSync(join(system.folder, 'workspaces'))).toHaveLength(1);
  });
});

describe('what sessions leave behind', () => {
  it('goes when it was not used for its time, and what is in use stays', async () => {
    const model = new ScriptedModel(
      calling(['write_file', { path: 'a.md', text: 'one' }], ['add_todo', { task: 'Go on' }]),
    );
    let system = await startSystem(configuration, model, undefined, { sessionsKeptMs: 24 * 3_600_000 });
    try {
      await system.ask({ sessionId: 'left' });
      const workspaces = join(system.folder, 'workspaces');
      const [left = ''] = readdirSync(workspaces);
      await system.ask({ sessionId: 'in use' });
      await system.embedded.close();
      // Two days pass for one of them.
      const before = Date.now() / 1_000 - 2 * 24 * 3_600;
      utimesSync(join(workspaces, left), before, before);
      const ledger = new DatabaseSync(join(system.folder, 'ledger.sqlite'));
      ledger.exec(`UPDATE documents SET expires_at = expires_at - 2 * 86400000 WHERE key LIKE '%"left"%'`);
      ledger.close();
      system = await startSystem(configuration, model, system.folder, { sessionsKeptMs: 24 * 3_600_000 });
      const { documents } = system.embedded.runtime;
      const keyOf = (session: string): string => `todo/${JSON.stringify(['local', 'user:local', session])}`;
      // A folder that is forgotten gets another name before it is emptied.
      await until(
        async () => readdirSync(workspaces).length === 1 && (await documents.find(keyOf('left'))) === undefined,
      );
      expect(existsSync(join(workspaces, left))).toBe(false);
      expect(await documents.find(keyOf('in use'))).toMatchObject({ version: 1 });
    } finally {
      await system.close();
    }
  });
});

describe('a start without a folder for workspaces', () => {
  const start = async (allowed: string, workspaceFolder: string | null = null): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-packs-'));
    const configFile = join(folder, 'sluice.yaml');
    writeFileSync(configFile, configuration.replace('"*"', allowed));
    // As on Kafka, where there is none unless SLUICE_WORKSPACES names one.
    const environment = { ...readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' }), workspaceFolder };
    try {
      await (await startEmbedded({ environment, configFile })).close();
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(existsSync(folder)).toBe(false);
  };

  it('is refused with a sentence if the policy allows a tool that needs it', async () => {
    await expect(start('list_files, add_todo')).rejects.toThrow(
      /SLUICE_WORKSPACES is not set.*core__list_files.*folder that all executors share/,
    );
  });

  it('is refused with a sentence if the folder cannot be written', async () => {
    await expect(start('list_files', join(import.meta.filename, 'workspaces'))).rejects.toThrow(
      /^The folder of the workspaces \S+\/workspaces cannot be written: .* Set SLUICE_WORKSPACES to one that can\.$/,
    );
  });

  it('is as any other if the policy allows none', async () => {
    await expect(start('add_todo')).resolves.toBeUndefined();
  });

  it('has no default on Kafka', () => {
    const kafka = { SLUICE_BUS: 'kafka', KAFKA_BROKERS: 'a:9092', SCHEMA_REGISTRY_URL: 'http://localhost:8081' };
    expect(readEnvironment(kafka).workspaceFolder).toBeNull();
    expect(readEnvironment({ ...kafka, SLUICE_WORKSPACES: '/shared' }).workspaceFolder).toBe('/shared');
    expect(readEnvironment({ SLUICE_DATA: '/data' }).workspaceFolder).toBe('/data/workspaces');
  });
});
