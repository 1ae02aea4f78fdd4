import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { takeBackup } from '@sluice/backup';
import { topics } from '@sluice/contracts';
import { createLog, openRuntime, readEnvironment } from '@sluice/host';
import * as backup from '../../apps/sluice/src/commands/backup.js';
import * as restore from '../../apps/sluice/src/commands/restore.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { caughtUp } from '../audit/auditing.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const environmentIn = (folder: string) => readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' });

describe('a backup that is taken while runs go on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
  const taken = join(folder, 'backup');
  const elsewhere = join(folder, 'elsewhere');
  /** The orders that came, and those that wait for an answer. */
  const orders: string[] = [];
  const waiting: ServerResponse[] = [];
  let server: Server;
  let original: TestSystem;
  let configuration: string;

  const model = new ScriptedModel(({ question, history }) => {
    if (question !== 'Pay' || history.length > 0) return { answer: 'done' };
    return {
      calls: [
        ['core__pay', '{"amount":1}'],
        ['core__pay', '{"amount":2}'],
      ],
    };
  });

  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      orders.push(url);
      waiting.push(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    writeFileSync(
      join(folder, 'pay.mjs'),
      `export default ({ defineTool, z }) => defineTool({
  type: 'pay', description: 'Pays.', input: z.object({ amount: z.number() }), output: z.object({ paid: z.number() }),
  effect: 'external_side_effect', redaction: { whole: true }, capabilities: [], repeatable: false, requiresConnection: false, network: 'open',
  execute: async ({ amount }) => {
    await fetch('http://127.0.0.1:${(server.address() as AddressInfo).port}/' + amount);
    return { paid: amount };
  } });`,
    );
    configuration = `tool_folders: [${folder}]
tool: { pay: { type: pay } }
policy: { allowed_tools: [pay], approval: { none: 'this is a test' } }
limits: { tool_seconds: 4 }
`;
    original = await startSystem(configuration, model);
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await original.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (requestId: string, question: string): Promise<void> => {
    const record = { ...newRequest(question, { requestId, sessionId: requestId }), group: ['*'] };
    await original.bus.publish([{ topic: topics.requests, key: requestId, record }]);
  };

  it('restores elsewhere: runs go on, no payment is made twice, and the audit holds', async () => {
    await ask('pays', 'Pay');
    await eventually(
      () => Promise.resolve(orders.length),
      (count) => count === 1,
    );
    const load = Array.from({ length: 30 }, (_, index) => ask(`quick-${index}`, 'Hello'));
    const { code, output } = await inProcess(backup.run, environmentIn(original.folder), taken, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ format: 1, hasKeys: true, hasLedger: true });
    expect(statSync(taken).mode & 0o777).toBe(0o700);
    expect(statSync(join(taken, 'data/keys.json')).mode & 0o777).toBe(0o600);
    await Promise.all(load);
    await expect(inProcess(restore.run, environmentIn(original.folder), taken, '--replace')).rejects.toThrow(
      /is in use: .*filter.* of it run/,
    );

    // The original goes on, and its second payment is one that the backup cannot know.
    waiting.shift()?.end('true');
    await eventually(
      () => Promise.resolve(orders.length),
      (count) => count === 2,
    );
    waiting.shift()?.end('true');
    expect((await original.responseOf('pays')).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);

    const restored = await inProcess(restore.run, environmentIn(elsewhere), taken, '--json');
    const about = JSON.parse(restored.output) as {
      open_runs: { request_id: string }[];
      calls_in_doubt: { request_id: string }[];
    };
    expect(about.open_runs.map((one) => one.request_id)).toContain('pays');
    // The first payment had its claim; the second gets one.
    expect(about.calls_in_doubt).toEqual([{ request_id: 'pays', tool: expect.stringContaining('pay') }]);
    expect(statSync(elsewhere).mode & 0o777).toBe(0o700);

    writeFileSync(join(elsewhere, 'sluice.yaml'), configuration);
    const second = await startSystem(configuration, model, elsewhere);
    try {
      const { history, kind } = await second.responseOf('pays');
      expect(kind).toBe('answer');
      expect(history.map(({ reason }) => reason)).toEqual(['outcome_unknown', 'outcome_unknown']);
      expect(orders).toEqual(['/1', '/2']);
      const requests = (await second.all('agent.requests')).map(({ record }) => record.requestId ?? '');
      for (const requestId of requests) expect((await second.responseOf(requestId)).error).toBeNull();
      const { findings } = await caughtUp(second.bus, second.embedded.runtime.signatures);
      expect(findings).toEqual([]);
    } finally {
      await second.embedded.close();
    }
  }, 120_000);
});

describe('a backup', () => {
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
    const { runtime, ...open } = await openRuntime(environmentIn(join(folder, 'data')), createLog('silent'));
    await runtime.bus.publish([
      { topic: topics.requests, key: 's', record: newRequest('q', { requestId: 'r', sessionId: 's' }) },
    ]);
    await open.close();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const at = (name: string): string => join(folder, name);
  const take = (...args: readonly string[]) => inProcess(backup.run, environmentIn(at('data')), ...args);
  const put = (to: string, ...args: readonly string[]) => inProcess(restore.run, environmentIn(to), ...args);

  it('has the files of tools and no keys where these are not wanted, and says what is missing', async () => {
    mkdirSync(at('data/workspaces/s'), { recursive: true });
    writeFileSync(at('data/workspaces/s/notes.txt'), 'notes', { mode: 0o640 });
    // Of a tool, whatever they are called.
    for (const name of ['own.sqlite', 'own.sqlite-wal', 'draft.new'])
      writeFileSync(at(`data/workspaces/s/${name}`), name);
    const { output } = await take(at('b'), '--without-keys');
    expect(output).toContain('It holds no keys.');
    expect(readdirSync(at('b/data')).sort()).toEqual(['ledger.sqlite', 'log.sqlite', 'workspaces', 'written-by.json']);
    const { output: said } = await put(at('r'), at('b'));
    expect(said).toContain('The backup has no keys.');
    expect(said).toContain('No run was open.');
    expect(readFileSync(at('r/workspaces/s/notes.txt'), 'utf8')).toBe('notes');
    expect(readdirSync(at('r/workspaces/s')).sort()).toEqual([
      'draft.new',
      'notes.txt',
      'own.sqlite',
      'own.sqlite-wal',
    ]);
    expect(statSync(at('r/workspaces/s/notes.txt')).mode & 0o777).toBe(0o640);
  });

  it('takes the place of nothing', async () => {
    await take(at('b'));
    await expect(take(at('b'))).rejects.toThrow('is there already');
    await expect(put(at('data'), at('b'))).rejects.toThrow('is not empty');
    expect((await put(at('data'), at('b'), '--replace')).output).toContain('What was there is in');
    expect(readdirSync(at('data')).filter((name) => name.startsWith('replaced-'))).toHaveLength(1);
    await expect(put(at('data'), at('nothing'))).rejects.toThrow('is no backup');
  });

  it.each([
    ['a byte of the log', 'data/log.sqlite', flipped, 'log.sqlite is not as it was written'],
    [
      'the end of the ledger',
      'data/ledger.sqlite',
      (file: string) => truncateSync(file, 8_192),
      /has 8192 of \d+ bytes/,
    ],
    ['the keys', 'data/keys.json', (file: string) => rmSync(file), 'keys.json is missing'],
    ['the manifest', 'manifest.json', replaced('"bytes": ', '"bytes": 1'), 'manifest.json is not as it was written'],
    ['its version', 'manifest.json', replaced('"version": "0.', '"version": "9.'), 'made by Sluice 9.'],
    [
      'its form',
      'manifest.json',
      replaced('"format": 1', '"format": 2'),
      'Restore it with that version or a later one',
    ],
  ] as const)('without %s, or with another one, restores nothing', async (_, file, damage, sentence) => {
    await take(at('b'));
    damage(join(at('b'), file));
    await expect(put(at('r'), at('b'))).rejects.toThrow(sentence);
    expect(existsSync(at('r'))).toBe(false);
  });

  it('that is stopped, or for which there is no room, leaves nothing', async () => {
    const stop = new AbortController();
    const options = { dataFolder: at('data'), to: at('b'), withKeys: true, now: 0, signal: stop.signal };
    await expect(takeBackup({ ...options, onProgress: () => stop.abort() })).rejects.toThrow(
      'Stopped, so there is no backup.',
    );
    await expect(
      takeBackup({
        ...options,
        signal: new AbortController().signal,
        onProgress: () => {
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
        },
      }),
    ).rejects.toThrow('the disk is full');
    expect(readdirSync(folder)).toEqual(['data']);
  });
});

function flipped(file: string): void {
  const bytes = readFileSync(file);
  bytes[5_000] = 255 - (bytes[5_000] ?? 0);
  writeFileSync(file, bytes);
}

function replaced(text: string, by: string): (file: string) => void {
  return (file) => writeFileSync(file, readFileSync(file, 'utf8').replace(text, by));
}
