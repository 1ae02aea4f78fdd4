import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { programVersion } from '@sluice/core';
import { createLog, dataFiles, openRuntime, readEnvironment } from '@sluice/host';
import * as config from '../../apps/sluice/src/commands/config.js';
import * as upgrade from '../../apps/sluice/src/commands/upgrade.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
  file = join(folder, 'sluice.yaml');
  writeFileSync(file, workflowConfiguration());
  await (await openRuntime(environment(), createLog('silent'))).close();
  await inProcess(config.run, environment(), 'apply', file);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const environment = () => readEnvironment({ SLUICE_DATA: join(folder, 'data'), SLUICE_PORT: '1' });
const files = () => dataFiles(environment());

type Report = { readonly check: string; readonly outcome: string; readonly detail: string };
async function check(...more: readonly string[]) {
  const { code, output } = await inProcess(upgrade.run, environment(), '--check', '--json', ...more);
  const { checks, ...about } = JSON.parse(output) as { readonly checks: readonly Report[] };
  return { code, about, of: (name: string) => checks.find((one) => one.check === name) };
}

/** As a former version left it: a format of its own, and its name. */
function makeFormer(): void {
  const database = new DatabaseSync(files().log);
  database.exec('DROP TABLE identity; PRAGMA user_version = 3');
  database.close();
  writeFileSync(files().writtenBy, '{"version":"0.0.9"}');
}

const digest = (): string => createHash('sha256').update(readFileSync(files().log)).digest('hex');

it('says that nothing has to be done where nothing has changed', async () => {
  const { code, about, of } = await check();
  expect([code, about]).toEqual([0, { version: programVersion, written_by: programVersion, may_upgrade: true }]);
  expect(of('records')).toMatchObject({ outcome: 'ok', detail: expect.stringContaining('understood, both ways') });
  expect(of('configuration')).toMatchObject({
    outcome: 'ok',
    detail: expect.stringContaining(`${file} compiles to c-`),
  });
  expect(of('keys')).toMatchObject({ outcome: 'ok' });
  expect(of('services')).toMatchObject({ outcome: 'skipped', detail: expect.stringMatching(/^No gateway answers/) });
});

it('reads a folder of a former version, says what a start would change, and changes nothing itself', async () => {
  makeFormer();
  const before = digest();
  writeFileSync(file, workflowConfiguration({ allowed: 'text-completion' }));
  const { code, about, of } = await check();
  expect([code, about]).toMatchObject([0, { written_by: '0.0.9', may_upgrade: true }]);
  expect(of('log')).toMatchObject({ outcome: 'warning', detail: expect.stringContaining('is of a former version') });
  expect(of('configuration')).toMatchObject({
    outcome: 'warning',
    detail: expect.stringContaining('which this version reads'),
  });
  expect(digest()).toBe(before);
  expect(readFileSync(files().writtenBy, 'utf8')).toBe('{"version":"0.0.9"}');
  const { output } = await inProcess(upgrade.run, environment(), '--check');
  expect(output).toContain('Back the folder up first: sluice backup FOLDER.');
});

it('says what stands in the way: a newer file, schemas that do not fit, a file with mistakes', async () => {
  writeFileSync(file, 'tool: 1');
  const refused = await check();
  expect([refused.code, refused.of('configuration')]).toMatchObject([1, { outcome: 'failed', detail: expect.stringContaining('is refused by this version') }]); // prettier-ignore

  const database = new DatabaseSync(files().log);
  const other = JSON.stringify({ type: 'record', name: 'Other', fields: [{ name: 'a', type: 'int' }] });
  database.prepare('INSERT INTO schemas VALUES (?, ?, ?)').run('agent.steps-value', 99, other);
  database.exec('PRAGMA user_version = 99');
  database.close();
  const { code, about, of } = await check('--config', file);
  expect([code, about]).toMatchObject([1, { may_upgrade: false }]);
  expect(of('log')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('newer version') });
  expect(of('records')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('agent.steps-value') });
  await expect(inProcess(upgrade.run, environment())).rejects.toThrow('An upgrade is a start of the new version.');
});
