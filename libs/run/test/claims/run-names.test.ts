import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSqliteLedger } from '@sluice/ledger';
import type { SqliteLedger } from '@sluice/ledger';
import { claimedName, claimEnd, hasEnded, requestOwner, claimRequest, claimTurn } from '@sluice/run';
import type { Incoming } from '@sluice/bus';

const weekMs = 7 * 24 * 3_600_000;
let folder: string;
let ledger: SqliteLedger;
let now = 1_000;
const clock = { now: () => now };
const run = (tenant: string | null, requestId = 'r-1') => ({ requestId, tenant });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-names-'));
  ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite'), log: () => undefined });
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('what a run is called where it is claimed', () => {
  it('keeps the runs of tenants apart, and those of unknown senders', async () => {
    const runtime = { ledger, clock };
    for (const tenant of ['acme', 'other', null, 'local']) {
      expect(await requestOwner(run(tenant), runtime)).toBeNull();
      expect((await claimRequest(run(tenant), `of ${tenant}`, runtime)).owner).toBe(`of ${tenant}`);
      expect(await claimEnd({ ...run(tenant), attempt: null }, `of ${tenant}`, runtime)).toMatchObject({ isOwn: true });
    }
    expect((await claimRequest(run('acme'), 'another', runtime)).owner).toBe('of acme');
    expect(await hasEnded({ ...run('acme'), attempt: '0/1' }, runtime)).toBe(false);
  });

  it('is what a former version called a run that it had begun, until that is forgotten', async () => {
    const runtime = { ledger, clock };
    const former = { owner: 'agent.requests/0/7', now, ttlMs: weekMs };
    await ledger.claim({ key: 'request/r-1', ...former });
    await ledger.claim({ key: 'turn/agent.steps/r-1/1', ...former, owner: 'agent.steps/0/7' });
    expect(await claimedName(run('acme'), runtime)).toBe('r-1');
    expect(await requestOwner(run('acme'), runtime)).toBe('agent.requests/0/7');
    const copy = {
      ...{ topic: 'agent.steps', partition: 0, offset: 8 },
      record: { requestId: 'r-1', iteration: 1, run: { redrive: null, principal: { tenantId: 'acme' } } },
    } as unknown as Incoming<'agent.steps'>;
    await expect(claimTurn(copy, runtime)).rejects.toMatchObject({ code: 'replayed' });
    now += weekMs;
    expect(await claimedName(run('acme'), runtime)).toBe('@["acme","r-1"]');
  });

  it('is asked for once: what has its own name keeps it', async () => {
    let asked = 0;
    const counting = { ...ledger, find: (key: string) => (asked++, ledger.find(key)) };
    const names = [1, 2, 3].map(() => claimedName(run('acme', 'r-2'), { ledger: counting, clock }));
    expect(await names[0]).toBe('@["acme","r-2"]');
    await Promise.all(names);
    const before = asked;
    await claimedName(run('acme', 'r-2'), { ledger: counting, clock });
    expect(asked).toBe(before);
  });
});
