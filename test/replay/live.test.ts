import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive, selectRecords, writeArchive } from '@sluice/archive';
import { readKeySet, rotate } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { begun } from '../harness/approving.js';
import type { TestSystem } from '../harness/system.js';
import { recordRuns } from './recorded.js';
import { replayed } from './replaying.js';

describe('what was recorded now', () => {
  let system: TestSystem;
  let keys: KeySet;
  let folder: string;
  beforeAll(async () => {
    system = await recordRuns();
    keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
    folder = await mkdtemp(join(tmpdir(), 'sluice-replay-'));
  });
  afterAll(async () => {
    await system.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('comes out to the byte, from the log and from an export, and runs nothing (G-107)', async () => {
    const before = await begun(system);
    const fromLog = await replayed(system.bus, keys);
    expect(fromLog.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(fromLog).toHaveLength(25 + 15 + 15 + 14 + 3 + 9);

    const selection = { from: null, to: null, session: null, tenant: null, topics: null };
    const file = join(folder, 'all.sluice');
    const records = selectRecords(system.bus, selection, () => undefined, new AbortController().signal);
    await writeArchive(file, { selection, createdAt: Date.now(), records, undecodable: () => 0 });
    expect(await replayed(await openArchive(file), keys)).toEqual(fromLog);
    expect(await begun(system)).toEqual(before);
  });

  it('comes out to the byte where runs went side by side and share their signatures', async () => {
    const many = Array.from({ length: 40 }, (_, n) => `budget-${n}`);
    await Promise.all(
      many.map((id) => system.ask({ group: ['text'], question: 'budget', requestId: id, sessionId: id })),
    );
    const grants = (await system.all('agent.toolsets')).map(({ record }) => record.grant ?? '');
    expect(grants.some((grant) => grant.includes('~'))).toBe(true);
    for (const known of [keys, null]) {
      const decisions = await replayed(system.bus, known);
      expect(decisions.length).toBeGreaterThan(81 + 40 * 5);
      expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    }
  });

  it('is verified with keys that are retired since', async () => {
    const retired = rotate(rotate(rotate(keys, 1), 2), 3);
    const decisions = await replayed(system.bus, retired);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('names the configuration in force where only that could refuse', async () => {
    for (const { record } of await system.all('agent.steps')) expect(record.inForceVersion).toMatch(/^c-[0-9a-f]{16}$/);
    for (const { record } of await system.all('agent.approvals'))
      if (record.outcome !== null) expect(record.outcome.configVersion).toMatch(/^c-/);
  });
});
