import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { createLog, openRuntime, readEnvironment } from '@sluice/service';
import type { OpenRuntime } from '@sluice/service';

const fixture = readFileSync(join(import.meta.dirname, '../../../test/fixtures/configurations/1.json'), 'utf8');

describe('a version that a record names and that is not on agent.config yet', () => {
  let folder: string;
  let open: OpenRuntime;
  const publish = (version: string): Promise<void> => {
    const configuration = JSON.stringify({ ...(JSON.parse(fixture) as object), version });
    const record = { version, configuration, source: 'test', compiledAt: 0 };
    return open.runtime.bus.publish([{ topic: topics.config, key: 'config', record }]);
  };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-awaited-'));
    open = await openRuntime(readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' }), createLog('silent'));
    await publish('c-1');
    await open.runtime.configurations.start();
  });
  afterEach(async () => {
    await open.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is waited for, and is what the record is judged by once it comes', async () => {
    const awaited = open.runtime.configurations.version('c-2');
    await delay(300);
    expect(open.runtime.configurations.versionOrNull('c-2')).toBeNull();
    await publish('c-2');
    expect((await awaited).configuration.version).toBe('c-2');
  });

  it('is tried again later if it does not come within five seconds', async () => {
    await expect(open.runtime.configurations.version('c-3')).rejects.toMatchObject({
      code: 'unknown_configuration',
      retryable: true,
      message: expect.stringContaining('c-3, which is not on agent.config'),
    });
  });
});
