import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Configuration } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Source } from '@sluice/audit';
import { createLog, openRuntime } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { ToolDirectory } from '../../apps/audit/src/tool-directory.js';
import { applyTo, versioned } from '../harness/applied.js';
import { environmentIn } from '../harness/with-tools.js';
import { until } from './auditing.js';

const fixture = readFileSync(join(import.meta.dirname, '../fixtures/configurations/1.json'), 'utf8');
const saying = (instructions: string): Configuration =>
  versioned({ ...(JSON.parse(fixture) as Configuration), instructions });
const [late, madeUp] = [saying('Late.'), saying('Made up.')];
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

  const publish = (configuration: Configuration) => applyTo(open.runtime, configuration);
  const clockIn = async (version: string, authentic: boolean, at = Date.now()) =>
    (await directory.lookup(naming(version, at), authentic))(version, 'clock')?.id;
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };

  it('is the result for a version that the audit had waited for in vain', async () => {
    expect(await timed(async () => expect(await clockIn(late.version, true)).toBeUndefined())).toBeGreaterThan(4_000);
    // It is waited for once, and with it whatever other records named until then.
    expect(await timed(() => clockIn(late.version, true))).toBeLessThan(1_000);
    const before = Date.now() - 10_000;
    expect(await timed(() => clockIn('c-of-a-copy', true, before))).toBeLessThan(1_000);
    await publish(late);
    const found = await until(
      'it is followed',
      () => clockIn(late.version, true),
      (id) => id !== undefined,
    );
    expect(found).toBe('core__clock');
  });

  it('is not waited for where no service wrote the record', async () => {
    expect(await timed(async () => expect(await clockIn(madeUp.version, false)).toBeUndefined())).toBeLessThan(1_000);
    // Nor is it remembered as one that nobody has.
    const wanted = clockIn(madeUp.version, true);
    await publish(madeUp);
    expect(await wanted).toBe('core__clock');
    expect(await clockIn(madeUp.version, false)).toBe('core__clock');
  });
});
