import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formsIn } from '../apps/sluice/src/command-forms.js';
import { commands, usages } from '../apps/sluice/src/commands/all.js';
import { command } from './harness/command.js';
import { sluice } from './harness/program.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';

/** Commands that print nothing for a program to read, each with why. */
const withoutJson: Readonly<Record<string, string>> = {
  init: 'writes files, and says what to type next',
  start: 'serves until it is stopped',
  serve: 'serves until it is stopped; its lines are JSON',
  'mcp serve': 'its standard output is the protocol',
  'mcp operator': 'its standard output is the protocol',
  console: 'prints a link, alone on standard output',
  'completion bash': 'prints a script',
  'completion zsh': 'prints a script',
};

it('every command has --json, or a reason not to', async () => {
  const forms = [...(await usages()).values()].flatMap(formsIn);
  const names = (has: boolean): ReadonlySet<string> =>
    new Set(
      forms.flatMap(({ path, flags }) => (flags.some(({ name }) => name === '--json') === has ? [path.join(' ')] : [])),
    );
  expect([...names(false)].filter((name) => !(name in withoutJson))).toEqual([]);
  expect(new Set(forms.map(({ path }) => path[0]))).toEqual(new Set(Object.keys(commands)));
  expect(names(true).size).toBeGreaterThan(40);
});

it('an error is one line of JSON on standard error, and the exit code is the same', async () => {
  const ended = await sluice(['config', 'apply', '--json'], { SLUICE_DATA: join(tmpdir(), 'sluice-no-such') }).ended;
  expect([ended.code, ended.output]).toEqual([1, '']);
  expect(JSON.parse(ended.errors)).toEqual({ error: { code: 'failed', message: 'Give one FILE.' } });
  const unknown = await sluice(['runs', '--jsn', '--json']).ended;
  expect(JSON.parse(unknown.errors)).toEqual({
    error: { code: 'invalid_options', message: expect.stringContaining('Did you mean --json?') },
  });
});

describe('with --json standard output has JSON alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-json-'));
  const file = join(folder, 'other.yaml');
  let system: TestSystem;
  beforeAll(async () => {
    const text = 'tool: { clock: { type: get_current_time } }\npolicy: { allowed_tools: [clock] }\n';
    writeFileSync(file, text.replaceAll('clock', 'watch'));
    system = await startSystem(text, new ScriptedModel(inOrder()));
    await system.ask({ requestId: 'one', sessionId: 'session-one' });
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['check FILE', { file: expect.any(String), ok: true, problems: [], version: expect.stringMatching(/^c-/) }],
    ['config list', { in_force: true, refused: null, source: expect.any(String) }],
    ['config show', { tools: expect.any(Array) }],
    ['config schema', { title: 'Sluice configuration' }],
    ['config apply FILE', { status: 'applied', replaced: expect.stringMatching(/^c-/) }],
    ['keys list', { keys: expect.arrayContaining([expect.objectContaining({ status: 'signing', private: true })]) }],
    ['keys export auditor', { keys: expect.any(Array) }],
    ['keys api list', { keys: [] }],
    ['keys api new bot --tenant acme --groups a', { name: 'bot', token: expect.any(String) }],
    ['token --tenant acme --groups a', { token: expect.any(String), expires_at: expect.any(String) }],
    ['topics', { topics: expect.arrayContaining([expect.objectContaining({ topic: 'agent.requests' })]) }],
    ['topics --acls', { commands: expect.any(Array) }],
    ['topics --check', { topics: [], findings: [] }],
    ['runs', { request_id: 'one', outcome: 'answer' }],
    ['cancel one', { request_id: 'one', status: 'refused', reason: expect.any(String) }],
    ['export FOLDER/all.sluice', { records: expect.any(Number), sha256: expect.any(String), undecodable: 0 }],
  ] as const)('%s', async (words, shape) => {
    const args = words.replace('FILE', file).replace('FOLDER', folder).split(' ');
    const { output, errors } = await command([...args, '--json'], { SLUICE_DATA: system.folder, SLUICE_CONFIG: '' });
    expect(errors).toBe('');
    const lines = output.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      expect.arrayContaining([expect.objectContaining(shape)]),
    );
    if (!/^(config list|runs)/.test(words)) expect(lines).toHaveLength(1);
  });

  it('of the difference of two versions, a line for each change', async () => {
    const { output: listed } = await command(['config', 'list', '--json'], { SLUICE_DATA: system.folder });
    const [first] = listed.split('\n').map((line) => (JSON.parse(line || '{}') as { version: string }).version);
    const { output } = await command(['config', 'diff', first ?? '', '--json'], { SLUICE_DATA: system.folder });
    const changes = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(changes).toContainEqual(expect.objectContaining({ path: expect.any(String), was: expect.anything() }));
  });

  it.each([
    [['ledger', 'check'], { status: 'belongs' }],
    [['project', 'rebuild'], { records: expect.any(Number) }],
  ])('%j', async (words, shape) => {
    const { code, output } = await sluice([...words, '--json'], { SLUICE_DATA: system.folder }).ended;
    expect([code, JSON.parse(output)]).toEqual([0, shape]);
  });
});
