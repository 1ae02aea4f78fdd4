import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Ledger } from '@sluice/core';
import { openSqliteLedger } from '@sluice/ledger';
import type { SqliteLedger } from '@sluice/ledger';
import { OwnCalls } from '@sluice/run';
import type { KeptDecision } from '@sluice/run';

const clock = { now: () => 1_000 };
const run = { requestId: 'r-1', tenant: 'acme' };

function decidedAt(at: number): KeptDecision {
  return { at, configVersion: 'c-1' } as KeptDecision;
}

describe('what an executor keeps of a call that its request makes itself', () => {
  let folder: string;
  let ledger: SqliteLedger;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'));
    ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
  });
  afterEach(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The ledger, with each of these in place of its own. */
  const but = (own: Partial<Ledger>) => new OwnCalls({ ledger: Object.assign(Object.create(ledger), own), clock });

  it('is written with its claim, in one request to the ledger; the first one stays', async () => {
    const own = but({ settle: () => Promise.reject(new Error('A second request.')) });
    expect(await own.decision(run)).toBeNull();
    await own.keepDecision(run, decidedAt(1));
    await own.keepDecision(run, decidedAt(2));
    expect(await own.decision(run)).toEqual(decidedAt(1));
  });

  it('is completed where an instance of a former version was cut off behind its claim', async () => {
    const former = but({
      claim: ({ value: _, ...claim }) => ledger.claim(claim),
      settle: () => Promise.reject(new Error('It is cut off.')),
    });
    await expect(former.keepDecision(run, decidedAt(1))).rejects.toThrow('It is cut off.');
    expect(await former.decision(run)).toBeNull();
    const own = but({});
    await own.keepDecision(run, decidedAt(2));
    expect(await own.decision(run)).toEqual(decidedAt(2));
  });
});
