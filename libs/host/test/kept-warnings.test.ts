import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { keptWarnings } from '../src/kept-warnings.js';
import { readEnvironment } from '../src/environment.js';

describe('what is said of a log that keeps everything', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const warnings = (variables: Readonly<Record<string, string>> = {}) =>
    keptWarnings(readEnvironment({ SLUICE_DATA: folder, ...variables }));
  const grow = (file: string, gigabytes: number): void => {
    writeFileSync(join(folder, file), '');
    // Without blocks on the disk.
    truncateSync(join(folder, file), gigabytes * 1024 ** 3);
  };

  it('is nothing while it is small, or where it is said how long to keep it', () => {
    expect(warnings()).toEqual([]);
    grow('log.sqlite', 4);
    expect(warnings()).toEqual([]);
    grow('projection.sqlite', 2);
    expect(warnings({ SLUICE_RETENTION_HOURS: '720' })).toEqual([]);
    expect(warnings({ SLUICE_RETENTION: 'agent.toolsets=30d' })).toEqual([]);
  });

  it('is how much there is, and what to set', () => {
    expect(warnings()).toEqual([expect.stringMatching(/hold 6\.0 GB, .*Set SLUICE_RETENTION_HOURS/)]);
  });
});
