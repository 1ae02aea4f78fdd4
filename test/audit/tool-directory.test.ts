import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { Source } from '@sluice/audit';
import { createLog, openRuntime } from '@sluice/service';
import type { OpenRuntime } from '@sluice/service';
import { ToolDirectory } from '../../apps/audit/src/tool-directory.js';
import { environmentIn } from '../harness/with-tools.js';
import { until } from './auditing.js';

const fixture = readFileSync(join(import.meta.dirname, '../fixtures/configurations/1.json'), 'utf8');
const naming = (configVersion: string, timestamp: number) =>
  ({ topic: topics.steps, record: { configVersion }, timestamp }) as Source;

describe('what the audit knows of tools', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-directory-'));
  let open: OpenRuntime;
  let directory: ToolDirectory;
  beforeAll(async () => {
    open = await openRuntime(environmentIn(folder), createLog('silent'));
    await open.runtime.configurations.start();
    directory = new ToolDirectory(open.runtime.configurations, open.runtime.clock);
  });
  afterAll(async () => {
    await open.close();
    rmSync(folder, { recursive: true });
  });

  const publish = (version: string) => {
    const configuration = JSON.stringify({ ...(JSON.parse(fixture) as object), version });
    const record = { version, configuration, source: 'test', compiledAt: 0 };
    return open.runtime.bus.publish([{ topic: topics.config, key: 'config', record }]);
  };
  const clockIn = async (version: string, authentic: boolean, at = Date.now()) =>
    (await directory.lookup(naming(version, at), authentic))(version, 'clock')?.id;
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };

  it('is what came of a version after the audit had waited for it in vain', async () => {
    expect(await timed(async () => expect(await clockIn('c-late', true)).toBeUndefined())).toBeGreaterThan(4_000);
    // It is waited for once, and with it whatever other records named until then.
    expect(await timed(() => clockIn('c-late', true))).toBeLessThan(1_000);
    const before = Date.now() - 10_000;
    expect(await timed(() => clockIn('c-of-a-copy', true, before))).toBeLessThan(1_000);
    await publish('c-late');
    const late = await until(
      'it is followed',
      () => clockIn('c-late', true),
      (id) => id !== undefined,
    );
    expect(late).toBe('core__clock');
  });

  it('is not waited for where somebody else wrote the record', async () => {
    expect(await timed(async () => expect(await clockIn('c-made-up', false)).toBeUndefined())).toBeLessThan(1_000);
    // Nor is it remembered as one that nobody has.
    const wanted = clockIn('c-made-up', true);
    await publish('c-made-up');
    expect(await wanted).toBe('core__clock');
    expect(await clockIn('c-made-up', false)).toBe('core__clock');
  });
});
