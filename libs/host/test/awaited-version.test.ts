import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Configuration } from '@sluice/core';
import { createLog, openRuntime, readEnvironment } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { applyTo, versioned } from '../../../test/harness/applied.js';

const fixture = readFileSync(join(import.meta.dirname, '../../../test/fixtures/configurations/1.json'), 'utf8');

const saying = (instructions: string): Configuration =>
  versioned({ ...(JSON.parse(fixture) as Configuration), instructions });
const next = saying('Next.');

describe('a version that a record names and that is not on agent.config yet', () => {
  let folder: string;
  let open: OpenRuntime;
  const publish = (configuration: Configuration): Promise<void> => applyTo(open.runtime, configuration);
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-awaited-'));
    open = await openRuntime(readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' }), createLog('silent'));
    await publish(saying('First.'));
    await open.runtime.configurations.start();
  });
  afterEach(async () => {
    await open.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is waited for, and is what the record is judged by once it comes', async () => {
    const awaited = open.runtime.configurations.version(next.version);
    await delay(300);
    expect(open.runtime.configurations.versionOrNull(next.version)).toBeNull();
    await publish(next);
    expect((await awaited).configuration.version).toBe(next.version);
  });

  it('is tried again later if it does not come within five seconds', async () => {
    await expect(open.runtime.configurations.version('c-3')).rejects.toMatchObject({
      code: 'unknown_configuration',
      retryable: true,
      message: expect.stringContaining('c-3, which is not on agent.config'),
    });
  });
});
