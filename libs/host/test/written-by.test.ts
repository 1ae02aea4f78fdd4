import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { programVersion } from '@sluice/core';
import { createLog, dataFiles, openLedger, openLogFile, readEnvironment } from '@sluice/host';

const silent = createLog('silent');

describe('the version that a data folder names', () => {
  let dataFolder: string;
  const environment = () => readEnvironment({ SLUICE_DATA: dataFolder, SLUICE_PORT: '0' });
  const named = (): unknown => JSON.parse(readFileSync(dataFiles({ dataFolder }).writtenBy, 'utf8'));
  const makeNewer = (file: string, version: string): void => {
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    writeFileSync(dataFiles({ dataFolder }).writtenBy, JSON.stringify({ version }));
  };
  beforeEach(async () => {
    dataFolder = mkdtempSync(join(tmpdir(), 'sluice-version-'));
    await (await openLogFile(environment(), silent)).close();
    await (await openLedger(environment(), silent)).ledger.close();
  });
  afterEach(() => rmSync(dataFolder, { recursive: true }));

  it('is the program’s own, and its owner’s alone to read', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    expect([programVersion, named()]).toEqual([version, { version }]);
    expect(statSync(dataFiles({ dataFolder }).writtenBy).mode & 0o777).toBe(0o600);
  });

  it('is the newest, also after an older one opened it', async () => {
    writeFileSync(dataFiles({ dataFolder }).writtenBy, '{"version":"12.0.1"}');
    await (await openLogFile(environment(), silent)).close();
    expect(named()).toEqual({ version: '12.0.1' });
    writeFileSync(dataFiles({ dataFolder }).writtenBy, '{"version":"0.0.9"}');
    await (await openLogFile(environment(), silent)).close();
    expect(named()).toEqual({ version: programVersion });
    writeFileSync(dataFiles({ dataFolder }).writtenBy, 'no json');
    await (await openLogFile(environment(), silent)).close();
    expect(named()).toEqual({ version: programVersion });
  });

  it('is what an older program says that the folder needs', async () => {
    const needs = `The data folder needs Sluice 9.10.0; this is ${programVersion}.`;
    makeNewer(dataFiles({ dataFolder }).ledger, '9.10.0');
    await expect(openLedger(environment(), silent)).rejects.toThrow(needs);
    makeNewer(dataFiles({ dataFolder }).log, '9.10.0');
    await expect(openLogFile(environment(), silent)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringMatching(/^The log .* was written by a newer version .* needs Sluice 9\.10\.0;/),
    });
  });
});
